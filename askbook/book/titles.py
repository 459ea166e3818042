"""The page's own title, found without parsing the page: its first level-one heading."""

from __future__ import annotations

import re
from typing import Final

from askbook.book.headings import plain_text

_LINES: Final = re.compile(
    r"^[ ]{0,3}(?:(?P<fence>`{3,}|~{3,})[^\n]*$"
    r"|\#[ \t]+(?P<atx>[^\r\n]+)"
    r"|(?P<setext>[^\s#>|=\-][^\r\n]*)\r?\n[ ]{0,3}=+[ \t]*\r?$)"
    r"|(?P<comment><!--|\{/\*)",
    re.MULTILINE,
)
_HEADING_ID: Final = re.compile(r"\s*(?:\{#[^{}]*\}|\{/\*[^{}]*\*/\}|<!--[^<>]*-->)[\s#]*$")
_LONGEST_TITLE: Final = 1000


def page_heading(text: str, body_start: int) -> str | None:
    """Return the plain text of the first level-one heading outside fences and comments."""
    at = body_start
    while at >= 0 and (found := _LINES.search(text, at)):
        written = found["atx"] or found["setext"]
        title = _title(written[:_LONGEST_TITLE]) if written else None
        if title:
            return title
        at = found.end() if written else _after(text, found)
    return None


def _title(written: str) -> str:
    return plain_text(_HEADING_ID.sub("", written).rstrip("# \t"))


def _after(text: str, found: re.Match[str]) -> int:
    """Return where the fence or comment ends; -1 where it does not."""
    if mark := found["fence"]:
        closing = re.compile(rf"^[ ]{{0,3}}{mark}{mark[0]}*[ \t]*\r?$", re.MULTILINE)
        end = closing.search(text, found.end())
        return end.end() if end else -1
    mark = "-->" if found["comment"] == "<!--" else "*/}"
    return text.find(mark, found.end())
