"""What a chunker gets wrong, judged by words so that every way of cleaning is fair."""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar, Final

import pyromark

from askbook.book.frontmatter import body_start
from askbook.book.tokens import count_tokens

_PARSER: Final = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)
_WORD: Final = re.compile(r"[^\W_]+")
_TAG: Final = re.compile(r"<[^<>]*>|\{/\*.*?\*/\}|\{[^{}\n]*\}")
_FENCE: Final = re.compile(
    r"^[ \t>]*(?:[-*+] +|\d+\. +)?(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_INLINE: Final = re.compile(r"</?(?:b|i|em|strong|a|code|span|sub|sup)(?:\s[^<>]*)?>")
_UNSEEN: Final = re.compile(
    r"\{/\*.*?\*/\}|<!--.*?-->|^import\s[^\n]*|^export\s.*?(?=\n\n|\Z)|^[ \t>]*:{3,}[ \t]*[\w-]*"
    r"|</?[A-Za-z](?:[^<>{}\"']|\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*>"
    r"|\{[^{}\n]*\}",
    re.DOTALL | re.MULTILINE,
)
_LONGEST_WORD: Final = 30  # longer ones are keys and hashes, which may have to be cut


class Faults:
    """Counts faults over many pages."""

    columns: ClassVar = ("fences cut", "tables cut", "headings last", "words lost", "over max")

    def __init__(self, size: int) -> None:
        self.size = size
        self.found: Counter[str] = Counter()
        self.tokens: list[int] = []

    def look(self, text: str, chunks: list[str]) -> None:
        """Count what is wrong with the chunks of one page."""
        body = text[body_start(text) :].replace("\r\n", "\n")
        chunks = [chunk.replace("\r\n", "\n") for chunk in chunks]
        counts = [count_tokens(chunk) for chunk in chunks]
        self.tokens += counts
        self.found["over max"] += sum(count > self.size for count in counts)
        self._look_at_structures(body, chunks)
        lost = Counter(_words(_seen(body))) - Counter(_words(_INLINE.sub("", "\n".join(chunks))))
        self.found["words lost"] += sum(n for word, n in lost.items() if len(word) < _LONGEST_WORD)

    def row(self) -> str:
        """Return number of chunks, their mean, and the counters, as cells."""
        mean = sum(self.tokens) / max(1, len(self.tokens))
        cells = [str(len(self.tokens)), f"{mean:.0f}", *(str(self.found[c]) for c in self.columns)]
        return " | ".join(cells)

    def _look_at_structures(self, body: str, chunks: list[str]) -> None:
        plain = [f" {' '.join(_words(chunk))} " for chunk in chunks]
        bare = [f" {' '.join(_words(_TAG.sub(' ', chunk)))} " for chunk in chunks]
        titles: set[str] = set()
        for kind, written in [*_fences(body), *_structures(body)]:
            if kind == "heading":
                titles.add(" ".join(_words(_TAG.sub(" ", written))))
            elif count_tokens(written) <= self.size:
                words = _words(written if kind == "fences cut" else _TAG.sub(" ", written))
                where = plain if kind == "fences cut" else bare
                self.found[kind] += not any(f" {' '.join(words)} " in chunk for chunk in where)
        for chunk in chunks[:-1]:
            last = chunk.rstrip().rpartition("\n")[2].lstrip()
            is_title = last.startswith("#") and " ".join(_words(_TAG.sub(" ", last))) in titles
            self.found["headings last"] += is_title


def _structures(body: str) -> list[tuple[str, str]]:
    raw = body.encode()
    found, depth = [], 0
    for event, span in _PARSER.events_with_range(body):
        if isinstance(event, str):
            continue
        if "Start" in event:
            kind = _kind(event["Start"])
            if depth == 0 and kind:
                found.append((kind, raw[span["start"] : span["end"]].decode()))
            depth += 1
        elif "End" in event:
            depth -= 1
    return found


def _kind(opening: object) -> str | None:
    if not isinstance(opening, dict):
        return None
    if "Table" in opening:
        return "tables cut"
    if "Heading" in opening:
        return "heading"
    return None


def _fences(body: str) -> list[tuple[str, str]]:
    """Return fences by their lines: in MDX, a CommonMark parser does not see all of them."""
    return [("fences cut", found[0]) for found in _FENCE.finditer(body) if _words(found[0])]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _seen(body: str) -> str:
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(body):
        parts += _prose(body[at : fence.start()]), _INLINE.sub("", fence[0].partition("\n")[2])
        at = fence.end()
    return "\n".join([*parts, _prose(body[at:])])


def _prose(text: str) -> str:
    return _UNSEEN.sub(" ", _INLINE.sub("", text))
