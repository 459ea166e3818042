"""Questions about a book, and the exact words of the book that answer them.

A label is a verbatim quote of a source file, or offsets into it: it says the same whatever the
chunks look like, and an edit of the book that removes it is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from askbook.book.source import decode
from askbook.errors import DatasetError, UnreadableFile
from askbook.golden.records import Record, by_id, read_records
from askbook.models import ChunkFilter, Message

KINDS: Final = ("plain", "two-lessons", "filtered", "selection", "follow-up", "unanswerable")
SPLITS: Final = ("dev", "test")

_FIELDS: Final = (
    "id",
    "question",
    "kind",
    "split",
    "answers",
    "needs",
    "filters",
    "history",
    "selected_text",
    "selection",
    "near_miss",
)
_FILTER_FIELDS: Final = (
    "module",
    "max_hardware_tier",
    "chapter_min",
    "chapter_max",
    "lesson",
    "proficiency_levels",
    "layer",
    "difficulty",
    "tags",
    "source_file",
    "chapter_id",
)
_QUOTE_START: Final = 60


@dataclass(frozen=True, slots=True)
class Label:
    """Words of a source file that answer a question: a quote, or code points [start, end)."""

    file: str
    quote: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What a reader has marked: code points [start, end) of a source file."""

    source_file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question as a reader asks it.

    Any one of `answers` answers it, or with `needs_all` only all of them together. A question
    without answers is one that the book does not answer; `is_near_miss` then tells whether it
    is about the book's subject.
    """

    id: str
    question: str
    kind: str
    split: str
    answers: tuple[Label, ...]
    needs_all: bool = False
    filters: ChunkFilter | None = None
    history: tuple[Message, ...] = ()
    selected_text: str | None = None
    selection: Selection | None = None
    is_near_miss: bool = False


@dataclass(frozen=True, slots=True)
class Golden:
    """A golden set: the file it was read from, and its questions."""

    file: Path
    questions: tuple[Question, ...]

    def of_split(self, split: str) -> tuple[Question, ...]:
        """The questions of "dev", to tune with, or of "test", to report."""
        return tuple(each for each in self.questions if each.split == split)


@dataclass(frozen=True, slots=True)
class LabelSpan:
    """Where a label stands: code points [start, end) of the decoded source file."""

    file: str
    start: int
    end: int
    text: str = field(default="", compare=False)
    file_hash: str = field(default="", compare=False)  # of the file's bytes, as chunks carry it


@dataclass(frozen=True, slots=True)
class LabelProblem:
    """A label or selection that does not fit the book any more."""

    question_id: str
    file: str
    quote_start: str
    reason: str

    def __str__(self) -> str:
        return f"{self.question_id}: {self.file}: {self.quote_start!r}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Located:
    """The spans of each question's labels, and every label that has none."""

    spans: Mapping[str, tuple[LabelSpan, ...]]
    problems: tuple[LabelProblem, ...]


def load_golden(file: Path) -> Golden:
    """Read a golden set; a record that contradicts its own kind is refused."""
    records = by_id(read_records(file), "id")
    return Golden(file, tuple(_question(record) for record in records.values()))


def locate_labels(golden: Golden, book_dir: Path) -> Located:
    """Find every quote in the book; what is missing or stands twice becomes a problem."""
    book = _Book(book_dir)
    spans: dict[str, tuple[LabelSpan, ...]] = {}
    problems: list[LabelProblem] = []
    for question in golden.questions:
        found = [_find(book, question.id, label) for label in question.answers]
        spans[question.id] = tuple(each for each in found if isinstance(each, LabelSpan))
        problems += [each for each in found if isinstance(each, LabelProblem)]
        if question.selection and (problem := _misfit(book, question.id, question.selection)):
            problems.append(problem)
    return Located(spans, tuple(problems))


class _Book:
    """The decoded files of a book, each read once."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise DatasetError(f"{folder}: there is no such folder; give the book's folder")
        self._folder = folder
        self._known: dict[str, tuple[str | None, str]] = {}

    def text(self, file: str) -> str | None:
        """A file's text; None where there is no such file or it cannot be read."""
        return self._page(file)[0]

    def span(self, file: str, start: int, end: int) -> LabelSpan:
        """A place in a file that has a text."""
        text, file_hash = self._page(file)
        return LabelSpan(file, start, end, (text or "")[start:end], file_hash)

    def _page(self, file: str) -> tuple[str | None, str]:
        if file not in self._known:
            self._known[file] = self._read(file)
        return self._known[file]

    def _read(self, file: str) -> tuple[str | None, str]:
        try:
            raw = (self._folder / file).read_bytes()
            return decode(raw, file), sha256(raw).hexdigest()
        except (OSError, UnreadableFile):
            return None, ""


def _find(book: _Book, question_id: str, label: Label) -> LabelSpan | LabelProblem:
    def problem(reason: str) -> LabelProblem:
        return LabelProblem(question_id, label.file, label.quote[:_QUOTE_START], reason)

    text = book.text(label.file)
    if text is None:
        return problem("the file is not in the book or cannot be read")
    start = text.find(label.quote)
    if label.span is not None:
        reason = _misplaced(label.quote, label.span, text)
        return problem(reason) if reason else book.span(label.file, *label.span)
    if start < 0:
        return problem("the quote is no longer in the file")
    if text.find(label.quote, start + 1) >= 0:
        return problem("the quote stands in the file more than once; make it longer, or add start")
    return book.span(label.file, start, start + len(label.quote))


def _misplaced(quote: str, span: tuple[int, int], text: str) -> str | None:
    start, end = span
    if end > len(text):
        return f"the label ends at {end}, the file at {len(text)}"
    is_other = bool(quote) and text[start:end] != quote
    return "other words than the quote stand at these offsets" if is_other else None


def _misfit(book: _Book, question_id: str, selection: Selection) -> LabelProblem | None:
    text = book.text(selection.source_file)
    if text is None:
        reason = "the selection's file is not in the book or cannot be read"
    elif selection.end > len(text):
        reason = f"the selection ends at {selection.end}, the file at {len(text)}"
    else:
        return None
    return LabelProblem(question_id, selection.source_file, "", reason)


def _question(record: Record) -> Question:
    record.only(_FIELDS)
    question = Question(
        id=record.text("id"),
        question=record.text("question"),
        kind=record.choice("kind", KINDS),
        split=record.choice("split", SPLITS),
        answers=tuple(_label(each) for each in record.records("answers")),
        needs_all=record.has("needs") and record.choice("needs", ("all",)) == "all",
        filters=_filters(record.record("filters")) if record.has("filters") else None,
        history=_history(record),
        selected_text=record.text("selected_text") if record.has("selected_text") else None,
        selection=_selection(record.record("selection")) if record.has("selection") else None,
        is_near_miss=record.has("near_miss") and record.flag("near_miss"),
    )
    _check_kind(record, question)
    return question


def _label(record: Record) -> Label:
    record.only(("file", "quote", "start", "end"))
    quote = record.text("quote") if record.has("quote") or not record.has("start") else ""
    if not record.has("start"):
        return Label(record.text("file"), quote)
    start = record.number("start")
    end = record.number("end") if record.has("end") or not quote else start + len(quote)
    if not 0 <= start < end:
        raise record.fault("end", f"is {end} after a start of {start}", "give 0 <= start < end")
    return Label(record.text("file"), quote, (start, end))


def _selection(record: Record) -> Selection:
    record.only(("source_file", "start", "end"))
    start, end = record.number("start"), record.number("end")
    if not 0 <= start < end:
        raise record.fault("end", f"is {end} after a start of {start}", "give 0 <= start < end")
    return Selection(record.text("source_file"), start, end)


def _history(record: Record) -> tuple[Message, ...]:
    if not record.has("history"):
        return ()
    return tuple(Message(_role(turn), turn.text("content")) for turn in record.records("history"))


def _role(turn: Record) -> Literal["user", "assistant"]:
    role = turn.choice("role", ("user", "assistant"))
    return "user" if role == "user" else "assistant"


def _filters(record: Record) -> ChunkFilter:
    record.only(_FILTER_FIELDS)

    def text(name: str) -> str | None:
        return record.text(name) if record.has(name) else None

    def number(name: str) -> int | None:
        return record.number(name) if record.has(name) else None

    def texts(name: str) -> tuple[str, ...]:
        return record.texts(name) if record.has(name) else ()

    return ChunkFilter(
        module=text("module"),
        max_hardware_tier=number("max_hardware_tier"),
        chapter_min=number("chapter_min"),
        chapter_max=number("chapter_max"),
        lesson=number("lesson"),
        proficiency_levels=texts("proficiency_levels"),
        layer=text("layer"),
        difficulty=text("difficulty"),
        tags=texts("tags"),
        source_file=text("source_file"),
        chapter_id=text("chapter_id"),
    )


def _check_kind(record: Record, question: Question) -> None:
    """Refuse a record that lacks what its kind is about, or has what belongs to another."""
    kind = question.kind
    lessons = {label.file for label in question.answers}
    selections = (question.selected_text is not None) + (question.selection is not None)
    rules = {
        "answers": bool(question.answers) == (kind != "unanswerable"),
        "needs": question.needs_all == (kind == "two-lessons" and len(lessons) > 1),
        "filters": (question.filters is not None) == (kind == "filtered"),
        "history": bool(question.history) == (kind == "follow-up"),
        "selection": selections == (kind == "selection"),
        "near_miss": record.has("near_miss") == (kind == "unanswerable"),
    }
    for name, holds in rules.items():
        if not holds:
            raise record.fault(
                name, f'does not fit the kind "{kind}"', "change the kind, or add or remove it"
            )
