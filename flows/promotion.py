"""Before readers are sent to an index built anew: the golden set compares it with the live one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from askbook.errors import RunRefused
from askbook.golden.verdict import Trial, Verdict, load_trial, notes_on, score
from askbook.models import ChunkFilter
from askbook.ports import Embedder, IndexDraft, Searchable
from askbook.providers.registry import embedder_of_model
from flows.run import RunSpec


class NotPromoted(RunRefused):
    """The new index finds significantly less than the live one, which stays."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(
            f"The new index is significantly worse than the live one, which stays: {verdict.told}. "
            "Look at the artifact `promotion` for the questions that lost; to send readers to the "
            "new index all the same, run again with force."
        )


def golden_set(spec: RunSpec) -> Path | None:
    """The book's golden set, if it has one."""
    file = spec.settings.golden_dir / spec.book_id / "questions.jsonl"
    return file if file.is_file() else None


def judge(spec: RunSpec, draft: IndexDraft) -> Verdict | None:
    """What the golden set says of the draft; None where the book has no golden set."""
    file = golden_set(spec)
    if file is None:
        return None
    trial = load_trial(file, spec.book_dir)
    notes = list(notes_on(trial))
    new = _score(spec, trial, spec.parts.embedder, draft)
    live = _live_scores(spec, trial, notes)
    return Verdict(new, live, tuple(notes))


def require(verdict: Verdict, *, force: bool) -> None:
    """Stop the run unless the new index may replace the live one."""
    if verdict.is_worse and not force:
        raise NotPromoted(verdict)


def _live_scores(spec: RunSpec, trial: Trial, notes: list[str]) -> dict[str, float] | None:
    index = spec.parts.index
    if not index.count(ChunkFilter(book_id=spec.book_id)):
        return None
    model = next(version.embedding_model for version in index.versions() if version.current)
    embedder: Embedder | None = spec.parts.embedder
    if spec.parts.embedder.model != model:
        embedder = embedder_of_model(spec.settings, model)
    if embedder is None:
        notes.append(f"the live index was not asked: its model {model} cannot be loaded here")
        return None
    return _score(spec, trial, embedder, index)


def _score(spec: RunSpec, trial: Trial, embedder: Embedder, index: Searchable) -> dict[str, float]:
    ask = partial(score, trial, spec.book_id, embedder, index, spec.settings.prefetch)
    found: dict[str, float] = spec.parts.portal.call(ask)
    return found
