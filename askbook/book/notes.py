"""Footnotes: their text goes with the chunk that refers to them.

A definition that a chunk carries away is not repeated where it stands (the span of the chunk
around it still covers it), unless it stands under a heading of its own, as in "## Notes".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from askbook.book.parse import Block, Kind, Page
from askbook.book.tokens import count_tokens

_REFERENCE: Final = re.compile(r"\[\^([^\]\s]+)\]")


@dataclass(frozen=True, slots=True)
class Note:
    """One definition; `tokens` include the blank line before it."""

    text: str
    start: int
    tokens: int
    refs: tuple[str, ...]
    moves: bool  # away from where it stands


@dataclass(slots=True)
class Notes:
    """The definitions of a page, by label."""

    by_label: dict[str, Note] = field(default_factory=dict)

    @classmethod
    def of(cls, page: Page, longest: int) -> Notes:
        """Collect the definitions that are short enough to go with a chunk."""
        notes: dict[str, Note] = {}
        before: Kind | None = None
        for block in page.blocks:
            if block.kind is not Kind.FOOTNOTE:
                before = block.kind
                continue
            text = page.text[block.start : block.end].rstrip()
            tokens = count_tokens(text) + 2
            if tokens <= longest:
                moves = before is not Kind.HEADING
                notes.setdefault(
                    block.label, Note(text, block.start, tokens, tuple(block.refs), moves)
                )
        return cls(notes)

    def carried(self, refs: Iterable[str]) -> list[str]:
        """Return the labels that come with these references, those of notes in notes too."""
        labels: dict[str, None] = {}
        todo = list(refs)[::-1]
        while todo:
            label = todo.pop()
            if label in self.by_label and label not in labels:
                labels[label] = None
                todo.extend(reversed(self.by_label[label].refs))
        return list(labels)

    def cost(self, refs: Sequence[str]) -> int:
        """Return the tokens of all that comes with these references."""
        return sum(self.by_label[label].tokens for label in self.carried(refs)) if refs else 0

    def moves(self, block: Block) -> bool:
        """Tell whether this definition may leave its place."""
        note = self.by_label.get(block.label)
        return note is not None and note.start == block.start and note.moves


def references(text: str) -> tuple[str, ...]:
    """Return the labels referred to in a part of a block."""
    return tuple(_REFERENCE.findall(text))
