"""Data sets that answers and retrieval are measured with, read whole and checked.

load_beir       folder: corpus.jsonl, queries.jsonl, qrels/*.tsv    retrieval
load_spans      folder: corpora/*.md, questions.jsonl               chunking, exact spans
load_grounding  file: answers whose sentences people have labelled  grounding
load_golden     file: questions about a book, with quotes           everything (golden.py)

Whatever is broken raises DatasetError naming file:line, the field, and what to do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from askbook.errors import DatasetError
from askbook.golden.questions import Golden, load_golden, locate_labels
from askbook.golden.records import Record, by_id, read_bytes, read_records, read_text

__all__ = [
    "Beir",
    "BeirDocument",
    "Golden",
    "GroundedAnswer",
    "GroundedSentence",
    "SpanQuestion",
    "SpanReference",
    "SpanSet",
    "dataset_hash",
    "load_beir",
    "load_golden",
    "load_grounding",
    "load_spans",
    "locate_labels",
]

_QRELS_HEADER: Final = ["query-id", "corpus-id", "score"]
_TEST: Final = "test"  # the split that the field reports


@dataclass(frozen=True, slots=True)
class BeirDocument:
    """One document of a retrieval corpus. The title may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Beir:
    """A retrieval data set; `queries` are those that have judgements."""

    documents: Mapping[str, BeirDocument]
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]  # query id → document id → grade


@dataclass(frozen=True, slots=True)
class SpanReference:
    """A passage that answers a question: code points [start, end) of its corpus."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question and all the passages of one corpus that answer it together."""

    id: str
    question: str
    corpus_id: str
    references: tuple[SpanReference, ...]


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Texts, and questions whose answers are exact spans of them."""

    corpora: Mapping[str, str]
    questions: tuple[SpanQuestion, ...]


@dataclass(frozen=True, slots=True)
class GroundedSentence:
    """A sentence of an answer: code points [start, end), and what people said of it."""

    text: str
    start: int
    end: int
    is_supported: bool


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer, the passages it should rest on, and its labelled sentences.

    `saw_passages` is False where the model wrote without them, None where nobody noted it.
    """

    id: str
    question: str
    passages: tuple[str, ...]
    answer: str
    sentences: tuple[GroundedSentence, ...]
    model: str
    saw_passages: bool | None


def load_beir(folder: Path, split: str | None = None) -> Beir:
    """Read a data set in BEIR's layout: one split's judgements.

    Without a name: those of `test`, or where there is no such split, those of all. Titles may
    be missing, fields that nobody reads are passed over.
    """
    documents = {
        key: _document(key, record)
        for key, record in by_id(read_records(folder / "corpus.jsonl"), "_id").items()
    }
    records = by_id(read_records(folder / "queries.jsonl"), "_id")
    queries = {key: record.text("text") for key, record in records.items()}
    judgements: dict[str, dict[str, int]] = {}
    for path in _qrels(folder, split):
        _judge(path, documents, queries, judgements)
    judged = {key: text for key, text in queries.items() if key in judgements}
    return Beir(documents, judged, judgements)


def load_spans(folder: Path) -> SpanSet:
    """Read texts and the exact spans of them that answer questions."""
    texts = (*(folder / "corpora").glob("*.md"), *(folder / "corpora").glob("*.txt"))
    paths = sorted(texts)
    if not paths:
        raise DatasetError(
            f"{folder / 'corpora'}: holds no *.md files (or *.txt); put the texts there"
        )
    corpora = {path.stem: read_text(path) for path in paths}
    records = by_id(read_records(folder / "questions.jsonl"), "_id")
    return SpanSet(corpora, tuple(_span_question(each, corpora) for each in records.values()))


def load_grounding(file: Path) -> tuple[GroundedAnswer, ...]:
    """Read answers whose every sentence was labelled as supported or unsupported."""
    return tuple(_grounded(record) for record in by_id(read_records(file), "id").values())


def dataset_hash(*paths: Path) -> str:
    """SHA-256, hex, over the names and bytes of files and of all files in folders.

    Folders are walked in the order of their names, hidden files left out; where the data set
    lies makes no difference.
    """
    digest = hashlib.sha256()
    for path in paths:
        for name, file in _files(path):
            content = read_bytes(file)
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _document(key: str, record: Record) -> BeirDocument:
    title = record.words("title") if record.has("title") else ""
    text = record.words("text") if title.strip() else record.text("text")
    return BeirDocument(key, title, text)


def _qrels(dataset: Path, split: str | None) -> list[Path]:
    folder = dataset / "qrels"
    places = (*folder.glob("*.tsv"), *dataset.glob("qrels*.tsv"))
    present = {path.stem: path for path in sorted(places)}
    if not present:
        raise DatasetError(f"{folder}: holds no *.tsv files; put the judgements there")
    if split is None:
        return [present[_TEST]] if _TEST in present else list(present.values())
    if split not in present:
        raise DatasetError(
            f"{folder / split}.tsv: there is no such split; use one of: {', '.join(present)}"
        )
    return [present[split]]


def _judge(
    path: Path,
    documents: Mapping[str, BeirDocument],
    queries: Mapping[str, str],
    judgements: dict[str, dict[str, int]],
) -> None:
    """Add the judgements of one file."""
    rows = list(_rows(path))
    if not rows:
        raise DatasetError(f"{path}: holds no judgements; add rows below the header")
    for row in rows:
        query, document = row.text("query-id"), row.text("corpus-id")
        if query not in queries:
            raise row.fault("query-id", f'is "{query}"', "use an id of queries.jsonl")
        if document not in documents:
            raise row.fault("corpus-id", f'is "{document}"', "use an id of corpus.jsonl")
        grades = judgements.setdefault(query, {})
        if grades.get(document, _grade(row)) != _grade(row):
            raise row.fault("corpus-id", f'judges "{document}" again', "keep one of the two rows")
        grades[document] = _grade(row)


def _rows(path: Path) -> Iterator[Record]:
    """Judgements of BEIR (three columns, a header or none) or of TREC (four, the second unused)."""
    for number, line in enumerate(read_text(path).removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if len(cells) == len(_QRELS_HEADER) + 1:
            del cells[1]
        if len(cells) != len(_QRELS_HEADER):
            raise DatasetError(
                f"{path}:{number}: the row has {len(cells)} columns; "
                f"write {', '.join(_QRELS_HEADER)}, with tabs between"
            )
        if number == 1 and not _is_number(cells[2]):
            continue
        yield Record(f"{path}:{number}", dict(zip(_QRELS_HEADER, cells, strict=True)))


def _grade(row: Record) -> int:
    score = row.text("score")
    if not _is_number(score) or not float(score).is_integer():
        raise row.fault("score", f'is "{score}"', "make it an integer")
    return int(float(score))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _span_question(record: Record, corpora: Mapping[str, str]) -> SpanQuestion:
    corpus_id = record.choice("corpus_id", corpora)
    references = tuple(
        _span_reference(each, corpora[corpus_id]) for each in record.records("references")
    )
    if not references:
        raise record.fault("references", "is empty", "name a passage or remove the record")
    return SpanQuestion(record.key("_id"), record.text("question"), corpus_id, references)


def _span_reference(record: Record, corpus: str) -> SpanReference:
    start, end = record.span("start_index", "end_index", corpus)
    _check_slice(record, "content", corpus[start:end])
    return SpanReference(corpus[start:end], start, end)


def _grounded(record: Record) -> GroundedAnswer:
    answer = record.text("answer")
    sentences = tuple(_grounded_sentence(each, answer) for each in record.records("sentences"))
    if not sentences:
        raise record.fault("sentences", "is empty", "label a sentence or remove the record")
    seen = "answer_saw_passages"
    return GroundedAnswer(
        id=record.key("id"),
        question=record.text("question") if record.has("question") else record.key("id"),
        passages=record.texts("passages"),
        answer=answer,
        sentences=sentences,
        model=record.text("model") if record.has("model") else "",
        saw_passages=record.flag(seen) if record.has(seen) else None,
    )


def _grounded_sentence(record: Record, answer: str) -> GroundedSentence:
    start, end = record.span("start", "end", answer)
    _check_slice(record, "text", answer[start:end])
    label = record.choice("label", ("supported", "unsupported"))
    return GroundedSentence(answer[start:end], start, end, is_supported=label == "supported")


def _check_slice(record: Record, name: str, stands_there: str) -> None:
    if record.text(name) != stands_there:
        raise record.fault(
            name, f"differs from what stands there, {stands_there[:40]!r}", "correct the offsets"
        )


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if not path.is_dir():
        yield path.name, path
        return
    files = {each.relative_to(path).as_posix(): each for each in path.rglob("*") if each.is_file()}
    names = sorted(name for name in files if not any(p.startswith(".") for p in name.split("/")))
    if not names:
        raise DatasetError(f"{path}: the folder holds no files; check the path")
    for name in names:
        yield name, files[name]
