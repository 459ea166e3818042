"""What readers do not see in MDX: imports, exports, comments, expressions and JSX tags.

No MDX parser is on PyPI. This scanner reads a page once from left to right, steps over code
and math untouched, and takes for markup only what is well-formed: the rest stays text.
"""

from __future__ import annotations

import bisect
import re
from typing import Final

from askbook.book.dedent import mark_indents, starts_line
from askbook.book.directives import Marks, mark_admonitions, mark_custom_ids
from askbook.book.html import Inside, mark_tags, note_id
from askbook.book.js import Script, is_expression, literal
from askbook.book.tags import Tag, read_tag

_MARK: Final = re.compile(r"[`<{$\\~]")  # one set of characters: the fastest way to the next mark
_STATEMENT: Final = re.compile(r"^(?:import|export)\b", re.MULTILINE)
_FENCE: Final = re.compile(r"(?:`{3,}+(?=[^`\n]*$)|~{3,}+)", re.MULTILINE)
_LEAD: Final = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+")
_LONGEST_LEAD: Final = 200
_BLANK_LINE: Final = re.compile(r"\n[ \t>]*\n")
_TICKS: Final = re.compile(r"`++")
_FENCE_ENDS: Final[dict[tuple[str, int], re.Pattern[str]]] = {}


class _Scan:
    """One pass over a page; `code` collects what was stepped over."""

    def __init__(self, text: str, start: int, *, drops_expressions: bool) -> None:
        self.text = text
        self.start = start
        self.drops_expressions = drops_expressions
        self.script = Script(text)
        self.marks = Marks()
        self.tags: list[Tag] = []
        self.code: list[tuple[int, int]] = []
        self.fences: list[tuple[int, int]] = []
        self.paragraph_end = start
        self.ticks: dict[int, list[int]] = {}  # runs of backticks in a paragraph, by length
        self.ticks_end = start
        self.has_comments = True
        self.esm_end = start

    def run(self) -> None:
        """Read the page: from one mark to the next, each by its own rule."""
        rules = {"`": self._ticks, "~": self._tilde, "<": self._angle, "{": self._brace,
                 "$": self._math, "\\": self._escape}  # fmt: skip
        statements = [found.start() for found in _STATEMENT.finditer(self.text, self.start)]
        statements.reverse()
        at = self.start
        while found := _MARK.search(self.text, at):
            start = found.start()
            while statements and statements[-1] < at:
                statements.pop()
            if statements and statements[-1] < start:
                at = self._statement(statements.pop())
            else:
                at = rules[found[0]](start)
        for start in reversed(statements):
            if start >= at:
                at = self._statement(start)

    def _fence(self, start: int) -> int:
        """Step over a fence that opens at `start`; -1 when none does."""
        found = _FENCE.match(self.text, start)
        line = self.text.rfind("\n", max(0, start - _LONGEST_LEAD), start) + 1
        lead = _LEAD.fullmatch(self.text, line, start) if found else None
        if not found or not lead:
            return -1
        line_end = self._line_end(found.end())
        closing = _fence_end(found[0]).search(self.text, line_end)
        end = closing.end() if closing else len(self.text)
        if ">" in lead[0]:
            end = min(end, self._quote_end(line_end))
        self.fences.append((start, end))
        self.code.append((start, end))
        return end

    def _tilde(self, start: int) -> int:
        end = self._fence(start) if self.text.startswith("~~~", start) else -1
        return end if end > 0 else start + 1

    def _angle(self, start: int) -> int:
        return self._comment(start) if self.text.startswith("<!--", start) else self._tag(start)

    def _quote_end(self, at: int) -> int:
        while at < len(self.text) and self.text.startswith(">", at + 1):
            at = self._line_end(at + 1)
        return at

    def _ticks(self, start: int) -> int:
        """Step over code: a fence, or to the next run of as many backticks in this paragraph."""
        if self.text.startswith("```", start) and (end := self._fence(start)) > 0:
            return end
        at = start
        while self.text.startswith("`", at):
            at += 1
        if at > self.ticks_end:
            self._index_ticks(at)
        runs = self.ticks.get(at - start, [])
        closing = bisect.bisect_left(runs, at)
        if closing == len(runs):
            return at
        end = runs[closing] + at - start
        self.code.append((start, end))
        return end

    def _index_ticks(self, at: int) -> None:
        self.ticks_end = self._paragraph_end(at)
        self.ticks = {}
        for run in _TICKS.finditer(self.text, at, self.ticks_end):
            self.ticks.setdefault(len(run[0]), []).append(run.start())

    def _comment(self, start: int) -> int:
        end = self.text.find("-->", start) if self.has_comments else -1
        self.has_comments = end >= 0
        if end < 0:
            return start + 1
        self.marks.cut(start, end + 3)
        note_id(self.text[start + 4 : end], start, self.marks)
        return end + 3

    def _tag(self, start: int) -> int:
        tag = read_tag(self.text, start, self.script.brace_end)
        if not tag:
            return start + 1
        self.tags.append(tag)
        return tag.end

    def _brace(self, start: int) -> int:
        end = self.script.brace_end(start)
        if end < 0:
            return start + 1
        content = self.text[start + 1 : end - 1]
        if content.startswith("/*") and content.endswith("*/"):
            self.marks.cut(start, end)
            note_id(content[2:-2], start, self.marks)
            return end
        if not self.drops_expressions or content.startswith("#"):
            return start + 1
        if words := literal(content):
            self.marks.keep((start + 1 + words[0], start + 1 + words[1]), (start, end))
            return end
        if not is_expression(content, starts_line=starts_line(self.text, start)):
            return start + 1
        is_between = self.text[start - 1 : start].isalnum() and self.text[end : end + 1].isalnum()
        self.marks.cut(start, end, " " if is_between else "")
        return end

    def _math(self, start: int) -> int:
        """Step over math, in which braces are not expressions."""
        mark = "$$" if self.text.startswith("$$", start) else "$"
        at = start + len(mark)
        end = self.text.find(mark, at, self._paragraph_end(at))
        if end < 0:
            return at
        if mark == "$" and (self.text[at].isspace() or self.text[end - 1].isspace()):
            return at
        self.code.append((start, end + len(mark)))
        return end + len(mark)

    def _statement(self, start: int) -> int:
        """Cut an import or export that starts a block; elsewhere it is a word of a sentence."""
        before = self.text[max(self.start, start - 2) : start]
        starts_block = start in (self.start, self.esm_end + 1) or before == "\n\n"
        end = self.script.statement_end(start) if starts_block else -1
        if end < 0:
            return start + 1
        self.marks.cut(start, end)
        self.esm_end = end
        return end

    def _escape(self, start: int) -> int:
        return start + 2

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return end if end >= 0 else len(self.text)

    def _paragraph_end(self, at: int) -> int:
        if at > self.paragraph_end:
            found = _BLANK_LINE.search(self.text, at)
            self.paragraph_end = found.start() if found else len(self.text)
        return self.paragraph_end


def mark_mdx(text: str, start: int, *, drops_expressions: bool) -> Marks:
    """Mark what goes from an MDX page. `drops_expressions` is for .mdx files only."""
    scan = _Scan(text, start, drops_expressions=drops_expressions)
    scan.run()
    cuts_before = len(scan.marks.cuts)
    mark_tags(scan.tags, scan.marks, in_mdx=True)
    if len(scan.marks.cuts) > cuts_before:
        mark_indents(text, scan.tags, scan.fences, scan.marks)
    is_code = Inside(scan.code)
    mark_admonitions(text, start, scan.marks, is_code)
    mark_custom_ids(text, start, scan.marks, is_code)
    return scan.marks


def _fence_end(mark: str) -> re.Pattern[str]:
    key = (mark[0], len(mark))
    if key not in _FENCE_ENDS:
        pattern = rf"^[ \t>]*+{re.escape(mark[0])}{{{len(mark)},}}+[ \t]*$"
        if len(_FENCE_ENDS) > 64:  # noqa: PLR2004 - real books use two or three
            _FENCE_ENDS.clear()
        _FENCE_ENDS[key] = re.compile(pattern, re.MULTILINE)
    return _FENCE_ENDS[key]
