"""Documents of a data set as passages, cut by the product's own chunker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from askbook.book.chunk import chunk_lesson
from askbook.models import Chunk, ChunkSettings, Lesson
from evaluation.conditions import WHOLE, chunk_settings


@dataclass(frozen=True, slots=True)
class Text:
    """A document to be found: its title may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document as it is indexed: code points [start, end) of the document."""

    document: str
    embedded_text: str
    start: int
    end: int


def cut(texts: Iterable[Text], size: str) -> list[Passage]:
    """Return the passages of all texts: a preset's, those of N tokens (a number), or whole."""
    settings = None if size == WHOLE else chunk_settings(size)
    return [passage for text in texts for passage in _passages(text, settings)]


def _passages(text: Text, settings: ChunkSettings | None) -> list[Passage]:
    chunks = chunk_lesson(text.text, _lesson(text), settings) if settings else []
    if not chunks:
        titled = f"{text.title}\n\n{text.text}" if text.title else text.text
        return [Passage(text.id, titled, 0, len(text.text))]
    return [_passage(text, chunk) for chunk in chunks]


def _passage(text: Text, chunk: Chunk) -> Passage:
    return Passage(text.id, chunk.embedded_text, chunk.start_char_offset, chunk.end_char_offset)


def _lesson(text: Text) -> Lesson:
    return Lesson(
        book_id="benchmark",
        source_file=text.id,
        source_file_hash="",
        module="",
        chapter=0,
        lesson=0,
        chapter_id=text.id,
        chapter_title=text.title,
        title_is_written=bool(text.title),
        location=text.id,
    )
