"""What holds for every page and all settings."""

from __future__ import annotations

import re

import pyromark
from book_words import readable_words, words

from askbook.book.frontmatter import body_start
from askbook.book.identify import chunk_id, content_hash, parent_id
from askbook.book.tokens import count_tokens
from askbook.models import Chunk, ChunkSettings

_PARSER = pyromark.Markdown(
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
)
_DELIMITERS = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_TAG = re.compile(r"<[^<>]*>|\{/\*.*?\*/\}|\{[^{}\n]*\}")
_MARKUP = re.compile(r"[<{}]|:::|\[\^|&|`{3}|~{3}|\|")


def check(text: str, chunks: list[Chunk], settings: ChunkSettings) -> None:
    """Assert all invariants at once."""
    check_counts(chunks, settings)
    check_spans(text, chunks)
    check_ids(chunks)
    check_chain(chunks)
    check_headings(chunks)


def check_counts(chunks, settings) -> None:
    for chunk in chunks:
        assert chunk.token_count == count_tokens(chunk.text) <= settings.max_tokens
        assert chunk.char_count == len(chunk.text)
        assert chunk.word_count == len(chunk.text.split()) >= 1
        assert chunk.text == chunk.text.strip("\n")
        assert "\r" not in chunk.text


def check_spans(text, chunks) -> None:
    at = body_start(text)
    for chunk in chunks:
        start, end = chunk.start_char_offset, chunk.end_char_offset
        assert at <= start < end <= len(text)
        at = start + 1
        source = text[start:end].replace("\r\n", "\n")
        if not _MARKUP.search(source):
            assert chunk.text in (source, source.strip()) or source in chunk.text


def check_ids(chunks) -> None:
    seen: dict[str, int] = {}
    for chunk in chunks:
        digest = content_hash(chunk.text)
        assert chunk.content_hash == digest
        seen[digest] = seen.get(digest, 0) + 1
        lesson = chunk.lesson
        assert chunk.id == chunk_id(lesson.book_id, lesson.location, digest, seen[digest])
        assert chunk.parent_doc_id == parent_id(lesson.book_id, lesson.location)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def check_chain(chunks) -> None:
    ids = [None, *(chunk.id for chunk in chunks), None]
    for index, chunk in enumerate(chunks):
        assert chunk.chunk_index == index
        assert chunk.total_chunks == len(chunks)
        assert (chunk.prev_chunk_id, chunk.next_chunk_id) == (ids[index], ids[index + 2])


def check_headings(chunks) -> None:
    for chunk in chunks[:-1]:
        assert not ends_with_heading(chunk.text), chunk.text[-200:]
    for chunk in chunks:
        assert chunk.section_title == (chunk.heading_path[-1] if chunk.heading_path else None)


def ends_with_heading(text: str) -> bool:
    last = None
    for event, span in _PARSER.events_with_range(text):
        opening = event.get("Start") if isinstance(event, dict) else None
        if isinstance(opening, dict) and "Heading" in opening:
            last = span["end"]
    return last is not None and not text.encode()[last:].strip()


def lost_words(text: str, chunks: list[Chunk]):
    """Return the readable words that are in no chunk."""
    return readable_words(text[body_start(text) :]) - words("\n".join(c.text for c in chunks))


def uncovered(text: str, chunks: list[Chunk]) -> str:
    """Return what no chunk's span covers."""
    parts, at = [], body_start(text)
    for chunk in chunks:
        parts.append(text[at : max(at, chunk.start_char_offset)])
        at = max(at, chunk.end_char_offset)
    return "\n".join([*parts, text[at:]])


def structures(body: str) -> list[str]:
    """Return the fences and tables, found line by line: no parser sees them all in MDX."""
    found, lines, at = [], body.split("\n"), 0
    while at < len(lines):
        end = _fence_end(lines, at) or _table_end(lines, at)
        if end:
            found.append("\n".join(lines[at:end]))
        at = end or at + 1
    return found


def _fence_end(lines: list[str], at: int) -> int | None:
    opening = re.match(r"[ \t>]*(?:[-*+] +|\d+[.)] +)*(`{3,}(?=[^`]*$)|~{3,})", lines[at])
    if not opening:
        return None
    closing = re.compile(rf"[ \t>]*{opening[1]}{opening[1][0]}*[ \t]*$")
    return (
        next((n for n in range(at + 1, len(lines)) if closing.match(lines[n])), len(lines) - 1) + 1
    )


def _table_end(lines: list[str], at: int) -> int | None:
    is_table = "|" in lines[at] and at + 1 < len(lines) and _DELIMITERS.fullmatch(lines[at + 1])
    if not is_table:
        return None
    return next((n for n in range(at, len(lines)) if "|" not in lines[n]), len(lines))


def cut_structures(body: str, chunks: list[Chunk], settings: ChunkSettings) -> list[str]:
    """Return the fences and tables that fit the maximum but whose words are not in one chunk.

    Words, as layout and tags around them go; those of tags go here too, for tables.
    """
    texts = [f" {' '.join(_said(chunk.text))} " for chunk in chunks]
    bare = [f" {' '.join(_said(_TAG.sub('', chunk.text)))} " for chunk in chunks]
    return [
        written
        for written in structures(body)
        if _said(written)
        and count_tokens(written) <= settings.max_tokens
        and not any(f" {' '.join(_said(written))} " in text for text in texts)
        and not any(f" {' '.join(_said(_TAG.sub('', written)))} " in text for text in bare)
    ]


def _said(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)
