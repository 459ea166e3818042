"""Headings as readers see them, and the anchors Docusaurus gives them."""

from __future__ import annotations

import unicodedata
from typing import Final

import pyromark

_KEPT: Final = ("L", "M", "Nd", "Nl", "Pc")  # Unicode categories github-slugger keeps
_CIRCLED_LETTERS: Final = range(0x24B6, 0x24EA)  # symbols by category, alphabetic by property
_ASCII: Final[dict[int, str | None]] = {
    code: None for code in range(128) if not (chr(code).isalnum() or chr(code) in "-_")
}
_ASCII[ord(" ")] = "-"


def plain_text(markdown: str) -> str:
    """Return one line of Markdown without its markup."""
    return "".join(
        str(event.get("Text") or event.get("Code") or event.get("InlineMath") or "")
        for event in pyromark.events(markdown, options=pyromark.Options.ENABLE_MATH)
        if isinstance(event, dict)
    ).strip()


class Anchors:
    """Hands out anchors for the headings of one page, in order, none twice."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def add(self, title: str, custom_id: str | None = None) -> str:
        """Return the anchor of the next heading. A custom id is kept and not counted."""
        if custom_id:
            return custom_id
        base = anchor = _slug(title)
        while anchor in self._seen:
            self._seen[base] += 1
            anchor = f"{base}-{self._seen[base]}"
        self._seen[anchor] = 0
        return anchor


def _slug(title: str) -> str:
    lowered = title.lower()
    if not lowered.isascii():
        return "".join(_slug_char(char) for char in lowered)
    return lowered.translate(_ASCII)


def _slug_char(char: str) -> str:
    if char == " ":
        return "-"
    kept = unicodedata.category(char).startswith(_KEPT) or ord(char) in _CIRCLED_LETTERS
    return char if kept or char == "-" else ""
