"""Answering from what a reader selected, and finding where in the book it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from askbook.models import Hit, Source

_WORD: Final = re.compile(r"\w+")
_LONGEST_SEARCH: Final = 600  # characters of a selection that are searched for
_RUN: Final = 8  # words in a row that a passage must share with the selection
_SHARE: Final = 0.6  # of a shorter selection's words
EXPLAIN: Final = "What does this passage say?"


def search_text(selected_text: str) -> str:
    """What to search for to find a selection in the book."""
    return selected_text.strip()[:_LONGEST_SEARCH]


def locate(selected_text: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that hold the selection or a part of it, best first; none where it is foreign."""
    wanted = _words(selected_text)
    runs = [(_longest_run(wanted, _words(str(hit.payload["text"]))), hit) for hit in hits]
    needed = min(_RUN, max(1, round(_SHARE * len(wanted))))
    found = [(run, hit) for run, hit in runs if run >= needed]
    return [hit for _, hit in sorted(found, key=lambda pair: -pair[0])]


def sources_of(selected_text: str, hits: Sequence[Hit]) -> tuple[Source, ...]:
    """One source: the selection, at the place in the book that holds most of it."""
    return (Source(1, hits[0] if hits else None, passage=selected_text.strip()),)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _longest_run(wanted: list[str], words: list[str]) -> int:
    matcher = SequenceMatcher(None, words, wanted, autojunk=False)
    return matcher.find_longest_match().size
