"""Just enough JavaScript to know where an MDX expression or statement ends.

Every function is linear over a page: what was once found unclosed is not looked for again.
"""

from __future__ import annotations

import re
from typing import Final

_IN_BRACES: Final = re.compile(r"[{}\"'`]|/\*|(?<=[\s;,({])//|(?<=[(,=:\[!&|?{;])\s*+/(?![/*])")
_IN_STATEMENT: Final = re.compile(r"[{}()\[\]\"'`\n]|/\*|//")
_STRINGS: Final = {
    '"': re.compile(r'"(?:[^"\\\n]|\\.)*+"'),
    "'": re.compile(r"'(?:[^'\\\n]|\\.)*+'"),
    "`": re.compile(r"`(?:[^`\\]|\\.)*+`", re.DOTALL),
}
_IMPORT: Final = re.compile(
    r"import\s+(?:type\s+)?(?:(?:[\w$*{}, \t]|\n(?!\n)){1,2000}?\bfrom\s*)?"
    r"(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*;?[ \t]*(?://[^\n]*)?(?=\n|\Z)"
)
_EXPORT: Final = re.compile(
    r"export\s+(?:(?:const|let|var|class|type|interface|enum|async\s+function|function)\b"
    r"\*?\s*[\w$\[{]"
    r"|\{|\*|default\s+(?:async\b|function\b|class\b|[({\[`\"']|[\w$.]+[ \t]*(?:;|\(|=>|$)))",
    re.MULTILINE,
)
_GOES_ON: Final = tuple("=,([{+-*/&|?:<>.")
_WORDS_ONLY: Final = re.compile(r"[\w\s,;!?'’\-–%]*")
_NOT_CODE: Final = re.compile(r"^[ \t]*(?:`{3,}|~{3,}|#{1,6}[ \t])", re.MULTILINE)
_REGEX: Final = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/")
_LITERAL: Final = re.compile(
    r"\s*(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'|`((?:[^`\\]|\\.)*+)`)\s*", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\.")


class Script:
    """Finds the ends of expressions and statements in one page."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pairs: dict[int, int] = {}  # of "{" that an unclosed one was scanned over
        self._scanned = -1  # every "{" before this offset is in `_pairs` or has no partner
        self._hopeless = {'"': -1, "'": -1, "`": -1, "/*": -1}  # none is closed before this
        self._has_open_export = False

    def brace_end(self, start: int) -> int:
        """Return the offset after the "}" that closes the "{" at `start`; -1 without one."""
        if start < self._scanned:
            return self._pairs.get(start, -1)
        stack: list[int] = []
        at = start
        while found := _IN_BRACES.search(self._text, at):
            mark, at = found[0], found.end()
            if mark == "{":
                stack.append(found.start())
            elif mark == "}":
                opening = stack.pop()
                if not stack:
                    return at
                self._pairs[opening] = at
            elif mark == "//":
                at = self._line_end(at)
            elif mark[-1] == "/":
                regex = _REGEX.match(self._text, at - 1)
                at = regex.end() if regex else at
            else:
                at = self._skip(mark, found.start())
        self._scanned = len(self._text)
        return -1

    def statement_end(self, start: int) -> int:
        """Return where the import or export that starts at `start` ends; -1 if it is prose."""
        if found := _IMPORT.match(self._text, start):
            return found.end()
        if self._has_open_export or not _EXPORT.match(self._text, start):
            return -1
        end = self._code_end(start)
        self._has_open_export = end < 0
        return end

    def _code_end(self, start: int) -> int:
        depth, at = 0, start
        while found := _IN_STATEMENT.search(self._text, at):
            mark, at = found[0], found.end()
            if mark in "{([":
                depth += 1
            elif mark in "})]":
                depth -= 1
            elif mark == "\n":
                before = self._text[max(start, at - 80) : at - 1].rstrip()
                if depth <= 0 and not before.endswith(_GOES_ON):
                    return at - 1
            elif mark == "//":
                at = self._line_end(at)
            else:
                at = self._skip(mark, found.start())
        return len(self._text) if depth <= 0 else -1

    def _skip(self, mark: str, start: int) -> int:
        """Return the end of a string or comment; just after its mark if it has no end."""
        if start < self._hopeless[mark]:
            return start + len(mark)
        if mark == "/*":
            end = self._text.find("*/", start)
            self._hopeless[mark] = len(self._text) if end < 0 else -1
            return end + 2 if end >= 0 else start + 2
        if found := _STRINGS[mark].match(self._text, start):
            return found.end()
        self._hopeless[mark] = len(self._text) if mark == "`" else self._line_end(start)
        return start + 1

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)


def literal(content: str) -> tuple[int, int] | None:
    """Return where the words stand in an expression that is one string and says something."""
    found = _LITERAL.fullmatch(content)
    if not found or ("\n" in found[0] and _NOT_CODE.search(found[0])):
        return None
    words = found[found.lastindex or 0]
    if "\\" in words and not _ESCAPE.sub("", words).strip():
        return None  # a line break, as in {'\n'}
    return found.span(found.lastindex or 0)


def is_expression(content: str, *, starts_line: bool) -> bool:
    """Tell JavaScript from words that somebody put in braces; in doubt, words."""
    if "\n" in content and _NOT_CODE.search(content):
        return False
    if not starts_line and "\n\n" in content:
        return False
    words = content.strip()
    return (len(words.split()) <= 1 and "," not in words) or not _WORDS_ONLY.fullmatch(words)
