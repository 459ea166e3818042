"""HTML and JSX tags: where they end, which belong together, which are really text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from askbook.book.js import literal

_NAME: Final = re.compile(r"<(/?)([A-Za-z][\w.:$-]*+|(?=>))")
_ATTRIBUTE: Final = re.compile(
    r"\s*+([A-Za-z_$@:][\w$:.@-]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`{]++)|(?=\{)))?+"
)
_BRACE: Final = re.compile(r"\s*+(?:=\s*+)?\{")
_END: Final = re.compile(r"\s*+(/?)>")

_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_INLINE: Final = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_BLOCK: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "audio",
        "blockquote",
        "body",
        "button",
        "canvas",
        "caption",
        "center",
        "colgroup",
        "datalist",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frame",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "html",
        "iframe",
        "legend",
        "li",
        "main",
        "map",
        "math",
        "menu",
        "meter",
        "nav",
        "noscript",
        "object",
        "ol",
        "optgroup",
        "option",
        "output",
        "p",
        "path",
        "picture",
        "pre",
        "progress",
        "rect",
        "script",
        "search",
        "section",
        "select",
        "slot",
        "style",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "template",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
        "video",
        "g",
        "circle",
        "line",
        "polygon",
    ]
)
_OFTEN_ALONE: Final = frozenset(  # other names alone, such as <path> or <title>, are placeholders
    [
        "a",
        "b",
        "blockquote",
        "br",
        "center",
        "dd",
        "details",
        "div",
        "dt",
        "em",
        "font",
        "hr",
        "i",
        "img",
        "li",
        "ol",
        "p",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
        "wbr",
    ]
)
HTML_NAMES: Final = _VOID | _INLINE | _BLOCK
SILENT: Final = frozenset({"script", "style"})  # their content is not for readers
WHOLE: Final = frozenset({"table", "blockquote", "pre", "figure"})  # stay in one chunk if they fit
_READABLE: Final = frozenset({"label", "title", "summary", "alt"})  # attributes of components

_TABS: Final = frozenset({"Tab", "TabItem"})
_ALT: Final = frozenset({"alt"})
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(slots=True)
class Tag:
    """One tag in the text; `readable` is the span of an attribute readers see."""

    start: int
    end: int
    name: str
    closes: bool
    is_empty: bool
    readable: tuple[int, int] | None = None
    partner: Tag | None = None

    @property
    def is_html(self) -> bool:
        """Tell an HTML element from a component: `Details` is not `details` nor `DETAILS`."""
        has_case = not (self.name.islower() or self.name.isupper())
        return not has_case and self.name.lower() in HTML_NAMES

    @property
    def has_attributes(self) -> bool:
        """Tell whether there is more in the tag than its name."""
        return self.end - self.start > len(self.name) + len("</>")

    @property
    def gap(self) -> str:
        """What may take the tag's place: nothing, a space, or (marked 0) a space between tags."""
        if self.name.lower() in _INLINE:
            return ""
        return " " if self.is_html else "\0"


def read_tag(text: str, start: int, brace_end: Callable[[int], int]) -> Tag | None:
    """Read the tag that starts at `start`; None when it is not well-formed."""
    opening = _NAME.match(text, start)
    if not opening:
        return None
    name, at = opening[2], opening.end()
    wanted, readable, is_wanted = _readable_attributes(name), None, False
    while not (end := _END.match(text, at)):
        if braces := _BRACE.match(text, at):
            start_of_value, at = braces.end(), brace_end(braces.end() - 1)
            if at < 0:
                return None
            words = literal(text[start_of_value : at - 1]) if is_wanted else None
            if words:
                readable = start_of_value + words[0], start_of_value + words[1]
            is_wanted = False
            continue
        found = _ATTRIBUTE.match(text, at)
        if not found or (not text[at].isspace() and text[at - 1] not in "\"'}"):
            return None
        is_wanted = found[1] in wanted and readable is None
        if is_wanted and found.lastindex and found.lastindex > 1:
            readable = found.span(found.lastindex)
        at = found.end()
    is_empty = bool(end[1])
    if readable and not is_empty and name not in _TABS and not _starts_line(text, start):
        readable = None  # a tooltip inside a sentence
    return Tag(start, end.end(), name, bool(opening[1]), is_empty, readable)


def _starts_line(text: str, start: int) -> bool:
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    return start == 0 or text[start - 1] == "\n"


def _readable_attributes(name: str) -> frozenset[str]:
    if name == "img":
        return _ALT
    return _READABLE if name[:1].isupper() else _NONE


def pair(tags: Iterable[Tag]) -> None:
    """Make opening and closing tags partners, in one pass."""
    stack: list[Tag] = []
    waiting: dict[str, int] = {}
    for tag in tags:
        if tag.is_empty or tag.name in _VOID:
            continue
        if not tag.closes:
            stack.append(tag)
            waiting[tag.name] = waiting.get(tag.name, 0) + 1
        elif waiting.get(tag.name):
            while True:
                opening = stack.pop()
                waiting[opening.name] -= 1
                if opening.name == tag.name:
                    break
            opening.partner, tag.partner = tag, opening


def is_markup(tag: Tag, *, in_mdx: bool) -> bool:
    """Tell a tag from text that looks like one, such as `vector<int>` or `<your-name>`."""
    is_closed = tag.partner is not None or (tag.is_empty and tag.name != "")
    if tag.is_html:
        return is_closed or tag.has_attributes or tag.name.lower() in _OFTEN_ALONE
    return is_closed and (in_mdx or tag.name[:1].isupper() or "-" in tag.name)
