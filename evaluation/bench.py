"""Which benchmark a path asks for, and running it: the one entry for the command line.

folder with corpus.jsonl           BEIR: documents ranked           evaluation/retrieval.py
folder with corpora/               Chroma: exact spans in chunks    evaluation/chunking.py
folder or file questions.jsonl     a book's golden set              evaluation/answering.py
file of labelled answers           grounding, sentence by sentence  evaluation/judging.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from askbook.errors import DatasetError
from askbook.golden.records import read_records
from askbook.providers.registry import make_reranker
from askbook.settings import Settings
from evaluation.answering import Book, live, measure_book, temporary
from evaluation.chunking import measure_spans
from evaluation.conditions import Condition
from evaluation.datasets import dataset_hash, load_beir, load_spans
from evaluation.judging import measure_grounding
from evaluation.outcome import Outcome
from evaluation.retrieval import measure_ranking
from evaluation.runs import Dataset, Run, RunFolder, code_version, key_of, make_run, plain_settings
from evaluation.vectors import CachedVectors

BEIR, SPANS, GOLDEN, GROUNDING = "beir", "spans", "golden", "grounding"


def layout_of(path: Path) -> str:
    """Tell what kind of data set lies there; what is missing is named."""
    if not path.exists():
        raise DatasetError(f"{path}: there is no such file or folder; check the path")
    if path.is_file():
        is_grounding = path.suffix == ".jsonl" and read_records(path)[0].has("sentences")
        return GROUNDING if is_grounding else GOLDEN if path.suffix == ".jsonl" else _unknown(path)
    if (path / "corpora").is_dir():
        return SPANS
    if (path / "corpus.jsonl").is_file() or (path / "queries.jsonl").is_file():
        return BEIR
    if (path / "questions.jsonl").is_file():
        return GOLDEN
    return _unknown(path)


def _unknown(path: Path) -> str:
    raise DatasetError(
        f"{path}: is no data set that is known; a folder holds corpus.jsonl, queries.jsonl and "
        "qrels/ (BEIR), or corpora/ and questions.jsonl (spans), or questions.jsonl (golden set)"
    )


@dataclass(frozen=True, slots=True)
class Task:
    """One data set, and how it is to be asked."""

    path: Path
    layout: str
    split: str | None = None
    book_dir: Path | None = None  # of a golden set
    book: Callable[[Path], Book] | None = None  # reads the folder; only the command line may
    is_live: bool = False  # ask the index that readers use
    answers: bool = True  # also let the chain answer, not only search

    @property
    def questions(self) -> Path:
        """The file of a golden set."""
        return self.path if self.path.is_file() else self.path / "questions.jsonl"

    @property
    def name(self) -> str:
        """What the data set is called in reports."""
        path = self.path.resolve()
        is_named_by_folder = path.is_file() and path.name == "questions.jsonl"
        return (
            path.parent.name if is_named_by_folder else path.stem if path.is_file() else path.name
        )

    def dataset(self) -> Dataset:
        """What is written down about it; a golden set's book belongs to it."""
        more = [self.book_dir] if self.layout == GOLDEN and self.book_dir else []
        sha256 = dataset_hash(self.path, *more)
        return Dataset(self.name, self.layout, str(self.path), sha256, self.split)


class Bench:
    """Measures tasks under conditions, keeps the runs, and reuses what it has."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.runs = RunFolder(settings.home)
        self._vectors: dict[str, CachedVectors] = {}

    def run(self, task: Task, condition: Condition, *, resume: bool = False) -> tuple[Run, bool]:
        """The run, and whether it was there already."""
        dataset, shown = task.dataset(), self._shown(task, condition)
        if resume and (known := self.runs.done(self._key(dataset, shown))) is not None:
            return known, True
        started = time.perf_counter()
        outcome = self._measure(task, condition)
        seconds = time.perf_counter() - started
        run = make_run(
            dataset,
            outcome,
            condition=shown,
            label=condition.told(Condition.of(self.settings)),
            settings=self.settings,
            seconds=seconds,
        )
        self.runs.save(run)
        return run, False

    def _shown(self, task: Task, condition: Condition) -> Mapping[str, object]:
        flags = {"live": task.is_live, "answers": task.answers} if task.layout == GOLDEN else {}
        return {**asdict(condition), **flags}

    def _key(self, dataset: Dataset, shown: Mapping[str, object]) -> str:
        code, settings = code_version()["sha256"], plain_settings(self.settings)
        return key_of(dataset, shown, settings=settings, code=code)

    def _measure(self, task: Task, condition: Condition) -> Outcome:
        if task.layout == GROUNDING:
            return measure_grounding(task.path, self._cached(condition).embedder)
        if task.layout == GOLDEN:
            return self._measure_book(task, condition)
        reranker = make_reranker(condition.settings(self.settings))
        vectors = self._cached(condition)
        if task.layout == SPANS:
            return measure_spans(load_spans(task.path), vectors, condition, reranker)
        return measure_ranking(load_beir(task.path, task.split), vectors, condition, reranker)

    def _measure_book(self, task: Task, condition: Condition) -> Outcome:
        folder = task.book_dir or self.settings.book_dir
        if task.is_live:
            shelf = nullcontext(live(self.settings, self.settings.book_id))
        elif task.book is None:
            raise DatasetError(f"{task.path}: a golden set needs its book; give it with --book")
        else:
            shelf = temporary(task.book(folder), self._cached(condition), condition, self.settings)  # type: ignore[assignment]
        with shelf as ready:
            return measure_book(
                task.questions, folder, ready, split=task.split, answers=task.answers
            )

    def _cached(self, condition: Condition) -> CachedVectors:
        if condition.embedder not in self._vectors:
            embedder = condition.make_embedder(self.settings)
            file = self.runs.folder / "vectors.sqlite"
            self._vectors[condition.embedder] = CachedVectors(embedder, file)
        return self._vectors[condition.embedder]
