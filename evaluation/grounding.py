"""How well unsupported sentences are told from supported ones, on files with human labels.

    python -m evaluation.grounding FILE.jsonl [...] [--fit]

Prints AUROC, F1, accuracy and balanced accuracy (positive: unsupported) with 95 % bootstrap
intervals over questions, and what each feature is worth alone. `--fit` fits the weights of
`askbook.asking.support` anew: figures are out of fold (all answers to a question in one fold), or
from one file to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import anyio
import click
import numpy as np
from numpy.typing import NDArray

from askbook.asking.support import LEXICAL, MODELS, Case, Model, examine, similarities
from askbook.providers.minilm import MiniLM
from evaluation import logistic
from evaluation.datasets import load_grounding
from evaluation.logistic import Logistic
from evaluation.metrics import auroc, best_f1, f1

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LEXICAL_FEATURES = (
    "word_recall",
    "local_recall",
    "bigram_recall",
    "longest_run",
    "names_missing",
    "numbers_missing",
)
LEFT_OUT = ("trigram_recall", "numbers_far", "opposed")  # measured, not in the model
LOSSES = ("names_missing", "numbers_missing", "numbers_far", "opposed")  # more is worse
FOLDS = 10
L2 = 3.0


@dataclass(frozen=True)
class Labelled:
    """Sentences of one file, measured. Rows are sentences."""

    name: str
    cases: list[Case]
    cosines: Floats
    unsupported: Bools
    groups: NDArray[np.str_]  # the question: answers to one question share passages
    has_unseen: bool = False  # whether some answers were written without the passages

    def matrix(self, names: Sequence[str]) -> Floats:
        """One column per feature."""
        columns = [
            self.cosines if n == "cosine" else [getattr(c.features, n) for c in self.cases]
            for n in names
        ]
        return np.array(columns, dtype=np.float64).T

    def overridden(self, scores: Floats) -> Floats:
        """Scores of support with what is decided before any score."""
        passed = np.array([case.passed for case in self.cases])
        faulty = np.array([case.fault is not None for case in self.cases])
        return np.where(passed, 1.0, np.where(faulty, 0.0, scores))

    def only(self, rows: Bools, name: str) -> Labelled:
        """Some of the sentences."""
        cases = [case for case, kept in zip(self.cases, rows, strict=True) if kept]
        return Labelled(name, cases, self.cosines[rows], self.unsupported[rows], self.groups[rows])


def load(path: Path) -> list[Labelled]:
    """The file, before it, where it marks them, the answers whose writer saw the passages."""
    answers = load_grounding(path)
    pairs = [(answer, sentence) for answer in answers for sentence in answer.sentences]
    cases = [examine(sentence.text, answer.passages) for answer, sentence in pairs]
    seen = np.array([answer.saw_passages is not False for answer, _ in pairs])
    everything = Labelled(
        path.stem,
        cases,
        np.array(anyio.run(similarities, cases, MiniLM()), dtype=np.float64),
        np.array([not sentence.is_supported for _, sentence in pairs]),
        np.array([answer.question for answer, _ in pairs]),
        has_unseen=not seen.all(),
    )
    if not everything.has_unseen:
        return [everything]
    return [everything.only(seen, f"{path.stem}, passages seen"), everything]


def judged(unsupported: Bools, withheld: Bools) -> tuple[float, float, float]:
    """F1 of unsupported, accuracy, balanced accuracy."""
    right = unsupported == withheld
    balanced = (right[unsupported].mean() + right[~unsupported].mean()) / 2
    return f1(unsupported, withheld), float(right.mean()), float(balanced)


def best_threshold(unsupported: Bools, support: Floats) -> float:
    """The score below which withholding gives the best F1."""
    return 1 - best_f1(unsupported, 1 - support)[1] + 1e-9


def interval(groups: NDArray[np.str_], measure: Callable[[NDArray[np.intp]], float]) -> str:
    """95 % of `measure` over questions drawn with replacement."""
    _, inverse = np.unique(groups, return_inverse=True)
    rows = [np.flatnonzero(inverse == group) for group in range(inverse.max() + 1)]
    draw = np.random.default_rng(1)
    drawn = (
        np.concatenate([rows[at] for at in draw.integers(len(rows), size=len(rows))])
        for _ in range(1000)
    )
    low, high = np.nanquantile([measure(sample) for sample in drawn], [0.025, 0.975])
    return f"{low:.3f}–{high:.3f}"


def row(title: str, data: Labelled, support: Floats, withheld: Bools) -> str:
    """A line of the table of figures."""
    truth = data.unsupported
    score, accuracy, balanced = judged(truth, withheld)
    area = interval(data.groups, lambda s: auroc(truth[s], -support[s]))
    spread = interval(data.groups, lambda s: f1(truth[s], withheld[s]))
    kept = float(withheld[~truth].mean())
    return (
        f"| {title} | {len(truth)} | {truth.mean():.2f} | {auroc(truth, -support):.3f} ({area}) "
        f"| {score:.3f} ({spread}) | {accuracy:.3f} | {balanced:.3f} | {kept:.3f} |"
    )


HEADER = (
    "| | sentences | unsupported | AUROC | F1 | accuracy | balanced | wrongly withheld |\n"
    "|---|---|---|---|---|---|---|---|"
)


def as_shipped(data: Labelled, model: Model) -> tuple[Floats, Bools]:
    """Scores and verdicts of the weights in the product."""
    pairs = zip(data.cases, data.cosines, strict=True)
    scores = np.array([model.score(case.features, float(cosine)) for case, cosine in pairs])
    support = data.overridden(scores)
    return support, support < model.threshold


def fit(data: Sequence[Labelled], names: Sequence[str]) -> Logistic:
    """A logistic model of support."""
    columns = np.concatenate([each.matrix(names) for each in data])
    supported = np.concatenate([~each.unsupported for each in data]).astype(np.float64)
    return logistic.fit(columns, supported, l2=L2)


def apply(model: Logistic, data: Labelled, names: Sequence[str]) -> Floats:
    """Scores of support, as the product would give them."""
    return data.overridden(model.probability(data.matrix(names)))


def out_of_fold(data: Labelled, names: Sequence[str]) -> tuple[Floats, Bools]:
    """Scores and verdicts by models that never saw the question; thresholds likewise."""
    _, question = np.unique(data.groups, return_inverse=True)
    folds = np.random.default_rng(0).permutation(question.max() + 1)[question] % FOLDS
    support, withheld = np.zeros(len(folds)), np.zeros(len(folds), dtype=bool)
    for fold in range(FOLDS):
        held = folds == fold
        scores = apply(fit([data.only(~held, "")], names), data, names)
        support[held] = scores[held]
        withheld[held] = scores[held] < best_threshold(data.unsupported[~held], scores[~held])
    return support, withheld


def transferred(source: Labelled, target: Labelled, names: Sequence[str]) -> tuple[Floats, Bools]:
    """Scores and verdicts on one file by weights and a threshold of another."""
    model = fit([source], names)
    support = apply(model, target, names)
    return support, support < best_threshold(source.unsupported, apply(model, source, names))


def report_features(files: Sequence[Labelled]) -> None:
    """What each feature is worth alone."""
    click.echo("\n| AUROC of one feature | " + " | ".join(f.name for f in files) + " |")
    click.echo("|---|" + "---|" * len(files))
    for name in (*LEXICAL_FEATURES, "cosine", *LEFT_OUT):
        sign = 1 if name in LOSSES else -1
        areas = (auroc(f.unsupported, sign * f.matrix([name])[:, 0]) for f in files)
        click.echo(f"| {name} | " + " | ".join(f"{area:.3f}" for area in areas) + " |")


def report_fit(files: Sequence[Labelled]) -> None:
    """Out of fold, across files; then the weights of all files together."""
    sets = {"words": LEXICAL_FEATURES, "words and cosine": (*LEXICAL_FEATURES, "cosine")}
    more = {"all features": (*LEXICAL_FEATURES, "cosine", *LEFT_OUT)}
    click.echo("\n" + HEADER)
    for title, names in (sets | more).items():
        for data in files:
            click.echo(row(f"{title}, out of fold: {data.name}", data, *out_of_fold(data, names)))
    for title, names in sets.items():
        for source, target in permutations(files, 2):
            if not set(source.groups) & set(target.groups):  # else they share answers
                label = f"{title}, {source.name} → {target.name}"
                click.echo(row(label, target, *transferred(source, target, names)))
    for names in sets.values():
        click.echo("\n" + literal([data for data in files if not data.has_unseen], names))


def literal(files: Sequence[Labelled], names: Sequence[str]) -> str:
    """What to put into `askbook/asking/support.py`; the threshold is that of the first file."""
    model = fit(files, names)
    threshold = best_threshold(files[0].unsupported, apply(model, files[0], names))
    weights = {name: round(float(w), 3) for name, w in zip(names, model.weights, strict=True)}
    return f"Model({weights}, bias={model.bias:.3f}, threshold={threshold:.3f})"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--fit", "refit", is_flag=True, help="Fit the weights anew.")
def main(files: tuple[Path, ...], *, refit: bool) -> None:
    """Score labelled FILES with the weights that are in the product."""
    loaded = [part for path in files for part in load(path)]
    click.echo(HEADER)
    for data in loaded:
        for title, model in (("words", LEXICAL), ("MiniLM", MODELS[MiniLM.model])):
            click.echo(row(f"as shipped, {title}: {data.name}", data, *as_shipped(data, model)))
    report_features(loaded)
    if refit:
        report_fit(loaded)


if __name__ == "__main__":
    main()
