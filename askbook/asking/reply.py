"""Turn checked sentences into the answer a reader gets."""

from __future__ import annotations

from typing import Final

from askbook.asking.excerpt import find_excerpt
from askbook.asking.ground import Checked
from askbook.models import Citation, Hit, Source, Withheld

NOTHING_FOUND: Final = "The book does not contain information about this topic."
NOTHING_SUPPORTED: Final = "Unable to provide a reliable answer from the book content."
CLOSEST: Final = "The book may not answer this: these are the passages that come closest."
_AFTER_BLOCK: Final = "\n\n"


class Reply:
    """Collects the sentences that passed; numbers their citations as they first appear."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self.withheld: list[Withheld] = []
        self.supports: list[float] = []
        self._numbers: dict[int, int] = {}
        self._pieces: list[str] = []
        self._gap = ""

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._pieces)

    def add(self, checked: Checked) -> str:
        """Take one sentence; returns what a reader may see of it, with [1] for its citation."""
        if checked.reason is not None:
            self.withheld.append(Withheld(checked.text, checked.reason))
            return ""
        numbers = [
            self._number(source, hit, checked) for source in checked.sources if (hit := source.hit)
        ]
        piece = self._gap + _marked(checked.text, "".join(f"[{number}]" for number in numbers))
        self._gap = checked.gap
        self._pieces.append(piece)
        self.supports.append(checked.support)
        return piece

    def _number(self, source: Source, hit: Hit, checked: Checked) -> int:
        if source.number not in self._numbers:
            self._numbers[source.number] = len(self._numbers) + 1
            self.citations.append(cite(hit, checked.evidence or checked.text))
        return self._numbers[source.number]


def _marked(text: str, marks: str) -> str:
    """A sentence with its citations; behind a block, where they cannot become part of it."""
    is_block = text.endswith(("```", "~~~", "|"))
    return f"{text}{_AFTER_BLOCK if is_block else ' '}{marks}" if marks else text


def cite(hit: Hit, words: str) -> Citation:
    """The place of these words in the book; their exact span where nothing had to be cleaned."""
    payload = hit.payload
    text = str(payload["text"])
    begin, stop = find_excerpt(text, words)
    start, end = int(str(payload["start_char_offset"])), int(str(payload["end_char_offset"]))
    if end - start == len(text):
        start, end = start + begin, start + stop
    return Citation(
        chapter_title=str(payload["chapter_title"]),
        section=_text(payload["section_title"]),
        source_file=str(payload["source_file"]),
        anchor=_text(payload["section_id"]),
        start_char_offset=start,
        end_char_offset=end,
        excerpt=text[begin:stop],
        score=round(hit.score, 4),
        chunk_id=hit.id,
        chapter_id=str(payload["chapter_id"]),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
