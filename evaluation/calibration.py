"""Fit confidence and refusal on a golden set, and tell how far to trust them.

    python -m evaluation.calibration [GOLDEN.jsonl BOOK_DIR]

Asks every question of the set that needs retrieval, against the published index and with the
current settings, refusing none. Fits on the `dev` questions which signals go with a right
answer (one whose citations hold a labelled passage), chooses the threshold there, and reports
on `test`. Prints the line for `askbook/asking/calibrations.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import anyio
import numpy as np

from askbook.asking.chain import Asking
from askbook.asking.relevance import NOTHING, Calibration, Signals
from askbook.errors import WrongUse
from askbook.golden import questions as golden
from askbook.models import Answer, ChunkFilter, Question
from askbook.providers.extractive import ExtractiveWriter
from askbook.providers.remembering import RememberingEmbedder
from askbook.settings import Settings, load_settings
from askbook.wiring import Parts
from evaluation.logistic import Array, fit
from evaluation.metrics import auroc

_GOLDEN = Path("data/benchmarks/physical-ai-robotics/questions.jsonl")
_NEVER = Calibration(0.0, NOTHING, threshold=0.0)
_ALL = tuple(field.name for field in fields(Signals))
_BY_WORDS = (
    "reach",
    "known",
    "focus",
    "fits",
)  # no cosines: for embedding models that nobody calibrated
_REFUSED_AT_MOST = 0.05  # of the answerable questions
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class Case:
    """One question, what was known of it, and what became of it."""

    question: golden.Question
    signals: Signals
    answer: Answer
    is_right: bool  # a citation holds a labelled passage

    @property
    def is_answerable(self) -> bool:
        """Whether the book holds an answer."""
        return bool(self.question.answers)


async def ask_all(file: Path, book_dir: Path, settings: Settings) -> list[Case]:
    """Every question that needs retrieval, answered by the default writer; none refused."""
    parts = Parts(settings)
    embedder = RememberingEmbedder(parts.embedder)
    quoter = ExtractiveWriter(embedder)
    asking = Asking(
        embedder=embedder,
        index=parts.index,
        writer=quoter,
        quoter=quoter,
        reranker=None,
        settings=settings,
        calibration=_NEVER,
    )
    if not parts.index.count(ChunkFilter(book_id=settings.book_id)):
        raise WrongUse(f"{settings.book_id} is not indexed. Run `askbook ingest` first.")
    questions = golden.load_golden(file)
    labels = golden.locate_labels(questions, book_dir)
    for problem in labels.problems:
        print(f"left out: {problem}")
    cases = []
    for question in questions.questions:
        if question.selected_text or question.selection:
            continue
        where = replace(question.filters or ChunkFilter(), book_id=settings.book_id)
        asked = Question(question.question, where, history=question.history)
        answer = await asking.ask(asked)
        chunks = parts.index.retrieve([citation.chunk_id for citation in answer.citations])
        spans = labels.spans.get(question.id, ())
        is_right = any(_holds(chunk.payload, span) for chunk in chunks for span in spans) or any(
            label.quote and label.quote in str(chunk.payload["text"])
            for chunk in chunks
            for label in question.answers
        )
        cases.append(Case(question, await asking.signals(asked), answer, is_right))
    return cases


def _holds(payload: dict[str, object], span: golden.LabelSpan) -> bool:
    start, end = int(str(payload["start_char_offset"])), int(str(payload["end_char_offset"]))
    return payload["source_file"] == span.file and start < span.end and span.start < end


def fitted(cases: Sequence[Case], used: Sequence[str] = _ALL) -> Calibration:
    """The calibration that these cases give, by the signals in `used` alone."""
    columns, right = _table(cases)
    columns = columns * [name in used for name in _ALL]
    model = fit(columns, right, l2=2.0)
    chances = model.probability(columns)
    answerable = np.array([case.is_answerable for case in cases])
    threshold = float(np.quantile(chances[answerable], _REFUSED_AT_MOST))
    weights = Signals(*(round(float(weight), 2) for weight in model.weights))
    return Calibration(round(model.bias, 2), weights, round(threshold, 3))


def _table(cases: Sequence[Case]) -> tuple[Array, Array]:
    columns = np.array([astuple(case.signals) for case in cases], dtype=np.float64)
    return columns, np.array([case.is_right for case in cases], dtype=np.float64)


def report(name: str, cases: Sequence[Case], calibration: Calibration) -> None:
    """Print how well refusals and confidence hold on these cases."""
    chances = np.array([calibration.probability(case.signals) for case in cases])
    answerable = np.array([case.is_answerable for case in cases])
    right = np.array([case.is_right for case in cases])
    near = np.array([case.question.is_near_miss for case in cases])
    refused = chances < calibration.threshold
    print(f"\n{name}: {len(cases)} questions, {answerable.sum()} answerable")
    print(f"  answerable refused      {refused[answerable].mean():6.1%}")
    print(f"  unanswerable refused    {refused[~answerable].mean():6.1%}")
    print(f"    of the near misses    {refused[near].mean():6.1%}")
    print(f"    of the foreign ones   {refused[~answerable & ~near].mean():6.1%}")
    print(f"  right, of those answered{right[answerable & ~refused].mean():7.1%}")
    print(f"  AUROC answerable        {auroc(answerable, chances):6.3f}")
    print(f"  AUROC right             {auroc(right, chances):6.3f}\n")
    print("| refused below | answerable refused | unanswerable refused |\n|---|---|---|")
    for share in _SHARES:
        below = float(np.quantile(chances[answerable], share))
        kept, foreign = chances[answerable] < below, chances[~answerable] < below
        print(f"| {below:.2f} | {kept.mean():.0%} | {foreign.mean():.0%} |")
    print("\n| confidence | questions | mean | right |\n|---|---|---|---|")
    for low, high in pairwise(_BINS):
        inside = ~refused & (chances >= low) & (chances < high + (high == 1.0))
        if inside.any():
            cells = f"{inside.sum()} | {chances[inside].mean():.2f} | {right[inside].mean():.2f}"
            print(f"| {low:.1f}–{high:.1f} | {cells} |")


def main() -> None:
    """Ask, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    settings = load_settings()
    parser.add_argument("golden", type=Path, nargs="?", default=_GOLDEN)
    parser.add_argument("book_dir", type=Path, nargs="?", default=settings.book_dir)
    options = parser.parse_args()
    cases = anyio.run(ask_all, options.golden, options.book_dir, settings)
    halves = {name: [c for c in cases if c.question.split == name] for name in ("dev", "test")}
    for name in _ALL:
        values = np.array([getattr(case.signals, name) for case in cases])
        answerable = np.array([case.is_answerable for case in cases])
        print(f"AUROC of {name:<12}{auroc(answerable, values):.3f}")
    model = Parts(settings).embedder.model
    for label, used in ((model, _ALL), ("by words alone", _BY_WORDS)):
        calibration = fitted(halves["dev"], used)
        for name, half in halves.items():
            report(f"{label}, {name}", half, calibration)
        print(f"\n{label}: {calibration}")


if __name__ == "__main__":
    main()
