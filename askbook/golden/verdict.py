"""A new index against the live one, on the book's golden set: may readers be sent to it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from askbook.asking.follow_up import standalone
from askbook.asking.retrieve import retrieve
from askbook.golden.comparing import Comparison, compare
from askbook.golden.questions import Located, Question, load_golden, locate_labels
from askbook.golden.scoring import DEPTH, ndcg, needs_of, ranking, where_of
from askbook.models import Usage
from askbook.ports import Embedder, Searchable

SIGNIFICANT: Final = 0.05  # chance of a difference this large where there is none
_PROVES: Final = 6  # questions; fewer cannot differ significantly, whatever happens (2 / 2**5)


@dataclass(frozen=True, slots=True)
class Trial:
    """The questions of a golden set that search alone can answer, with what they need."""

    questions: tuple[Question, ...]
    located: Located

    @property
    def problems(self) -> tuple[str, ...]:
        """Labels that the book no longer has; their questions are left out."""
        return tuple(str(problem) for problem in self.located.problems)


def load_trial(file: Path, book_dir: Path) -> Trial:
    """The answerable questions of a set; those about a pasted text need no search."""
    golden = load_golden(file)
    located = locate_labels(golden, book_dir)
    searched = (q for q in golden.questions if q.answers and q.selected_text is None)
    return Trial(tuple(q for q in searched if needs_of(q, located)), located)


async def score(
    trial: Trial, book_id: str, embedder: Embedder, index: Searchable, prefetch: int
) -> dict[str, float]:
    """nDCG@10 of every question, searched as readers' questions are."""
    scores: dict[str, float] = {}
    for question in trial.questions:
        query = await standalone(question.question, question.history, None, Usage())
        hits = await retrieve(
            query,
            where_of(question, book_id),
            embedder=embedder,
            index=index,
            limit=DEPTH,
            prefetch=prefetch,
        )
        needs = needs_of(question, trial.located)
        scores[question.id] = ndcg(ranking((hit.payload for hit in hits), needs), needs)
    return scores


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the golden set says of a new index, next to the live one where there is one."""

    new: Mapping[str, float]
    live: Mapping[str, float] | None
    notes: Sequence[str] = ()

    @property
    def comparison(self) -> Comparison | None:
        """The new index against the live one."""
        return compare(self.live, self.new) if self.live is not None else None

    @property
    def is_worse(self) -> bool:
        """Whether the new index finds significantly less."""
        found = self.comparison
        return found is not None and found.difference < 0 and found.p < SIGNIFICANT

    @property
    def told(self) -> str:
        """The numbers in one sentence."""
        if not self.new:
            return "no question of the golden set can be judged"
        mean = f"nDCG@10 {fmean(self.new.values()):.3f} on {len(self.new)} golden questions"
        found = self.comparison
        if found is None or self.live is None:
            return f"{mean}; there is no live index to compare with"
        return (
            f"{mean}; the live index has {fmean(self.live.values()):.3f} "
            f"(p {found.p:.4f}; {found.wins} won, {found.ties} tied, {found.losses} lost)"
        )

    def worst(self, most: int = 10) -> list[tuple[str, float, float]]:
        """The questions that lost most: id, live score, new score."""
        live = self.live or {}
        lost = [
            (key, live[key], value) for key, value in self.new.items() if live.get(key, 0) > value
        ]
        return sorted(lost, key=lambda each: each[2] - each[1])[:most]


def notes_on(trial: Trial) -> tuple[str, ...]:
    """What whoever reads the verdict should know of the set."""
    few = len(trial.questions) < _PROVES
    warning = f"{len(trial.questions)} questions can prove nothing: write at least {_PROVES}"
    return (*([warning] if few else []), *(f"left out: {each}" for each in trial.problems))
