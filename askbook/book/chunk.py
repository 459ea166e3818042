"""Cut a lesson into chunks that a reader of one of them alone can understand."""

from __future__ import annotations

import bisect
from collections import Counter

from askbook.book.clean import Cleaned, clean
from askbook.book.collector import paused_for
from askbook.book.counts import Counts
from askbook.book.frontmatter import body_start
from askbook.book.identify import chunk_id, content_hash, parent_id
from askbook.book.notes import Notes
from askbook.book.overlap import overlap_start
from askbook.book.pack import Packer
from askbook.book.parse import Heading, Kind, Page, parse
from askbook.book.render import Draft, Renderer
from askbook.book.tokens import count_tokens
from askbook.book.units import Split, Unit, Units
from askbook.models import Chunk, ChunkSettings, Lesson


def chunk_lesson(text: str, lesson: Lesson, settings: ChunkSettings) -> list[Chunk]:
    """Return the chunks of a decoded file, in order; none when nothing in it is readable."""
    return chunk_lesson_with_report(text, lesson, settings)[0]


def chunk_lesson_with_report(
    text: str, lesson: Lesson, settings: ChunkSettings
) -> tuple[list[Chunk], list[Split]]:
    """Return the chunks and the structures that were too long to stay whole."""
    with paused_for(len(text)):
        return _chunk_page(text, lesson, settings)


def _chunk_page(
    text: str, lesson: Lesson, settings: ChunkSettings
) -> tuple[list[Chunk], list[Split]]:
    cleaned = clean(text, body_start(text), lesson.source_file)
    if not cleaned.text.strip():
        return [], []
    page = parse(cleaned)
    drafts, splits = _draft(page, cleaned, settings)
    chunks = _Finisher(cleaned, page, lesson).chunks(drafts)
    return chunks, [
        Split(s.kind, cleaned.source_offset(s.start_char_offset), s.tokens, s.max_tokens)
        for s in splits
    ]


def _draft(
    page: Page, cleaned: Cleaned, settings: ChunkSettings
) -> tuple[list[Draft], list[Split]]:
    counts = Counts(page.text, page.offsets)
    notes = Notes.of(page, settings.max_tokens // 2)
    maker = Units(page, counts, notes, settings.max_tokens)
    units = maker.build(cleaned.whole)
    packer = Packer(page.text, units, settings)
    writer = _Writer(Renderer(page, units, notes, counts), units, settings)
    return writer.write(packer.ranges()), maker.splits


class _Writer:
    """Writes the drafts of one page from ranges of its units."""

    def __init__(self, renderer: Renderer, units: list[Unit], settings: ChunkSettings) -> None:
        self.renderer = renderer
        self.units = units
        self.max = settings.max_tokens
        self.overlap = settings.overlap_tokens

    def write(self, ranges: list[tuple[int, int]]) -> list[Draft]:
        """Return the drafts, none over the maximum."""
        drafts: list[Draft] = []
        before: tuple[int, int] | None = None
        for each in ranges:
            for first, last, draft in self._fitting(*each):
                drafts.append(self._finish(draft, first, last, before))
                before = (first, last)
        return drafts

    def _fitting(self, first: int, last: int) -> list[tuple[int, int, Draft]]:
        """Halve a range whose cost was estimated too low: rare, but the maximum is hard."""
        draft = self.renderer.draft(first, last)
        if draft is None:
            return []
        if draft.tokens <= self.max or last - first == 1:
            return [(first, last, draft)]
        middle = (first + last) // 2
        return self._fitting(first, middle) + self._fitting(middle, last)

    def _finish(self, draft: Draft, first: int, last: int, before: tuple[int, int] | None) -> Draft:
        """Add the lines after a heading that is last, or the overlap with the chunk before."""
        if self.units[last - 1].kind is Kind.HEADING and last < len(self.units):
            return self._with_lead(draft, last)
        budget = min(self.overlap, self.max - draft.tokens)
        if before and budget > 0:
            start = overlap_start(self.renderer, self.units, before, first, budget)
            longer = self.renderer.draft(first, last, start) if start is not None else None
            return longer if longer and longer.tokens <= self.max else draft
        return draft

    def _with_lead(self, draft: Draft, unit: int) -> Draft:
        text, end = self.renderer.lead(unit, self.max - draft.tokens - 2)
        if not text:
            return draft
        whole = f"{draft.text}\n\n{text}"
        return Draft(whole, count_tokens(whole), draft.start, end)


class _Finisher:
    """Gives drafts their ids, neighbours, headings and places in the source."""

    def __init__(self, cleaned: Cleaned, page: Page, lesson: Lesson) -> None:
        self.cleaned = cleaned
        self.lesson = lesson
        self.headings = page.headings
        self.starts = [heading.start for heading in page.headings]
        self.paths = _paths(page.headings)

    def chunks(self, drafts: list[Draft]) -> list[Chunk]:
        """Return the finished chunks, chained."""
        hashes = [content_hash(draft.text) for draft in drafts]
        ids = self._ids(hashes)
        chained = zip([None, *ids[:-1]], ids, [*ids[1:], None], strict=True) if ids else ()
        parent = parent_id(self.lesson.book_id, self.lesson.location)
        return [
            self._chunk(draft, hashes[index], parent, (index, len(ids)), links)
            for index, (draft, links) in enumerate(zip(drafts, chained, strict=True))
        ]

    def _ids(self, hashes: list[str]) -> list[str]:
        seen: Counter[str] = Counter()
        ids = []
        for text_hash in hashes:
            seen[text_hash[:16]] += 1
            count = seen[text_hash[:16]]
            ids.append(chunk_id(self.lesson.book_id, self.lesson.location, text_hash, count))
        return ids

    def _chunk(
        self,
        draft: Draft,
        text_hash: str,
        parent: str,
        place: tuple[int, int],
        links: tuple[str | None, str, str | None],
    ) -> Chunk:
        at = bisect.bisect_right(self.starts, draft.start) - 1
        heading = self.headings[at] if at >= 0 else None
        before, own, after = links
        start, end = self.cleaned.source_span(draft.start, draft.end)
        return Chunk(
            id=own,
            text=draft.text,
            lesson=self.lesson,
            parent_doc_id=parent,
            chunk_index=place[0],
            total_chunks=place[1],
            prev_chunk_id=before,
            next_chunk_id=after,
            section_title=heading.title if heading else None,
            section_id=heading.anchor if heading else None,
            heading_path=self.paths[at] if heading else (),
            start_char_offset=start,
            end_char_offset=end,
            content_hash=text_hash,
            word_count=len(draft.text.split()),
            token_count=draft.tokens,
            char_count=len(draft.text),
        )


def _paths(headings: list[Heading]) -> list[tuple[str, ...]]:
    """Return for each heading the titles from the top of the page down to it."""
    paths: list[tuple[str, ...]] = []
    stack: list[Heading] = []
    for heading in headings:
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        paths.append(tuple(above.title for above in stack))
    return paths
