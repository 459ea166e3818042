"""The text of a chunk from its units: a slice of the page, or one with what was cut restored."""

from __future__ import annotations

from dataclasses import dataclass

from askbook.book.counts import Counts
from askbook.book.notes import Notes
from askbook.book.parse import Kind, Page
from askbook.book.split import split_block
from askbook.book.tokens import count_tokens
from askbook.book.units import Unit


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk before it has an id; offsets are into the readable text."""

    text: str
    tokens: int
    start: int
    end: int


class Renderer:
    """Writes the chunks of one page."""

    def __init__(self, page: Page, units: list[Unit], notes: Notes, counts: Counts) -> None:
        self.text = page.text
        self.units = units
        self.notes = notes
        self.counts = counts

    def draft(self, first: int, last: int, start: int | None = None) -> Draft | None:
        """Return the chunk of units `first` to `last`, from `start` on if it is given."""
        begin = self.units[first].start if start is None else start
        end = self._stop(last)
        opener = self.units[first].opener if start is None else ""
        closer = self.units[last].closer if last < len(self.units) else ""
        begin, end = _strip(self.text, begin, end, keep_indent=bool(opener))
        if begin >= end:
            return None
        body = self._body(first, last, begin, end)
        if not body:
            return None
        text = opener + body + (f"\n{closer}" if closer else "")
        return Draft(text, count_tokens(text), begin, end)

    def _stop(self, unit: int) -> int:
        return self.units[unit].start if unit < len(self.units) else len(self.text)

    def _body(self, first: int, last: int, begin: int, end: int) -> str:
        if not self.notes.by_label:
            return self.text[begin:end]
        inside = self.units[first:last]
        labels = self.notes.carried(ref for unit in inside for ref in unit.refs)
        strangers = [i for i in range(first, last) if self._is_stranger(self.units[i], labels)]
        here = {unit.note for unit in inside if unit.note}
        added = [
            self.notes.by_label[label].text
            for label in labels
            if label not in here and not begin <= self.notes.by_label[label].start < end
        ]
        if not strangers and not added:
            return self.text[begin:end]
        body = self._without(strangers, begin, end)
        return "\n\n".join([body, *added]) if body else "\n\n".join(added)

    def _is_stranger(self, unit: Unit, labels: list[str]) -> bool:
        return bool(unit.note) and unit.note not in labels

    def _without(self, strangers: list[int], begin: int, end: int) -> str:
        parts, at = [], begin
        for index in strangers:
            parts.append(self.text[at : max(at, self.units[index].start)])
            at = max(at, min(end, self._stop(index + 1)))
        parts.append(self.text[at:end])
        return "".join(parts).strip()

    def lead(self, unit: int, room: int) -> tuple[str, int]:
        """Return the first lines of a unit, and where they end: a heading never ends a chunk."""
        start, stop = self.units[unit].start, self._stop(unit + 1)
        kind = self.units[unit].kind
        whole = self.text[start:stop].rstrip()
        if self.counts.about(start, stop) <= room:
            return whole, start + len(whole)
        pieces = split_block(self.text, start, stop, kind, max(16, room // 2), self.counts)
        best = ("", start)
        for piece in pieces:
            closer = f"\n{piece.closer}" if piece.closer else ""
            text = self.text[start : piece.start].rstrip() + closer
            if count_tokens(text) > room:
                break
            best = (text, piece.start)
            if kind is not Kind.FENCE:
                break
        return best


def _strip(text: str, begin: int, end: int, *, keep_indent: bool) -> tuple[int, int]:
    body = text[begin:end]
    kept = body.lstrip("\n") if keep_indent else body.lstrip()
    begin = end - len(kept)
    return begin, begin + len(kept.rstrip())
