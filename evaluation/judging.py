"""How well unsupported sentences are told from supported ones, as the product does it.

The positive class is "unsupported". Where a file marks answers whose writer never saw the
passages, the figures are of the others, and those of all answers end in `_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray

from askbook.asking.support import score_sentences
from askbook.ports import Embedder
from askbook.providers.remembering import RememberingEmbedder
from evaluation.datasets import GroundedAnswer, GroundedSentence, load_grounding
from evaluation.metrics import auroc, best_f1, f1
from evaluation.outcome import Outcome, Row
from evaluation.watching import watched

_RESAMPLES = 1000
_SEED = 1

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A labelled sentence and what the product says of it."""

    answer: GroundedAnswer
    sentence: GroundedSentence
    support: float
    reason: str | None  # why it is withheld; None where readers see it

    @property
    def is_withheld(self) -> bool:
        return self.reason is not None

    @property
    def was_seen(self) -> bool:
        return self.answer.saw_passages is not False


def measure_grounding(file: Path, embedder: Embedder) -> Outcome:
    """Judge every sentence of a file with the product's own weights and threshold."""
    judged = anyio.run(_judge, load_grounding(file), embedder)
    seen = [each for each in judged if each.was_seen] or judged
    overall, intervals = _figures(seen)
    notes: tuple[str, ...] = ()
    if len(seen) < len(judged):
        everything, _ = _figures(judged, with_intervals=False)
        overall |= {f"{name}_all": value for name, value in everything.items()}
        unseen = len(judged) - len(seen)
        notes = (f"{unseen} sentences by writers without the passages count only in _all",)
    rows = tuple(_row(number, each) for number, each in enumerate(seen))
    return Outcome(rows, main="accuracy", overall=overall, intervals=intervals, notes=notes)


async def _judge(answers: Sequence[GroundedAnswer], embedder: Embedder) -> list[_Sentence]:
    remembering = RememberingEmbedder(embedder)  # answers to one question share passages
    judged = []
    for answer in watched(list(answers), "judge"):
        texts = [sentence.text for sentence in answer.sentences]
        supports = await score_sentences(texts, answer.passages, remembering)
        judged += [
            _Sentence(answer, sentence, support.score, support.reason)
            for sentence, support in zip(answer.sentences, supports, strict=True)
        ]
    return judged


def _figures(
    judged: Sequence[_Sentence], *, with_intervals: bool = True
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    truth = np.array([not each.sentence.is_supported for each in judged])
    doubt = np.array([1 - each.support for each in judged])
    withheld = np.array([each.is_withheld for each in judged])
    measures: dict[str, Callable[[NDArray[np.intp]], float]] = {
        "AUROC": lambda at: _auroc(truth[at], doubt[at]),
        "F1": lambda at: f1(truth[at], withheld[at]),
        "precision": lambda at: _share(truth[at][withheld[at]]),
        "recall": lambda at: _share(withheld[at][truth[at]]),
        "balanced_accuracy": lambda at: _balanced(truth[at], withheld[at]),
        "wrongly_withheld": lambda at: _share(withheld[at][~truth[at]]),
    }
    everyone = np.arange(len(judged))
    figures = {name: measure(everyone) for name, measure in measures.items()}
    figures["F1_best"] = best_f1(truth, doubt)[0]  # with the threshold that suits this file
    figures["unsupported"] = float(truth.mean())
    if not with_intervals:
        return figures, {}
    spread = partial(_interval, [each.answer.question for each in judged])
    return figures, {name: spread(measure) for name, measure in measures.items()}


def _interval(
    groups: Sequence[str], measure: Callable[[NDArray[np.intp]], float]
) -> tuple[float, float]:
    """95 % of a measure over questions drawn with replacement: their answers share passages."""
    _, inverse = np.unique(groups, return_inverse=True)
    rows = [np.flatnonzero(inverse == group) for group in range(int(inverse.max()) + 1)]
    draw = np.random.default_rng(_SEED)
    drawn = (
        np.concatenate([rows[at] for at in draw.integers(len(rows), size=len(rows))])
        for _ in range(_RESAMPLES)
    )
    low, high = np.nanquantile([measure(sample) for sample in drawn], [0.025, 0.975])
    return float(low), float(high)


def _row(number: int, each: _Sentence) -> Row:
    verdict = "withheld" if each.is_withheld else "passed"
    return Row(
        id=f"{each.answer.id}#{number}",
        question=f"{each.answer.question} — {each.sentence.text}",
        scores={"accuracy": float(each.sentence.is_supported != each.is_withheld)},
        wanted=("supported" if each.sentence.is_supported else "unsupported",),
        found=(f"{verdict}, support {each.support:.2f} {each.reason or ''}".strip(),),
        kind=each.answer.model,
    )


def _auroc(truth: Bools, doubt: Floats) -> float:
    return auroc(truth, doubt) if 0 < truth.sum() < len(truth) else float("nan")


def _share(values: Bools) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _balanced(truth: Bools, withheld: Bools) -> float:
    return (_share(withheld[truth]) + _share(~withheld[~truth])) / 2
