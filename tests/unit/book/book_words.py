"""What readers see of a page, by a second parser: the judge of "no readable text lost"."""

from __future__ import annotations

import re
from collections import Counter

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark").enable("table")
_FENCE = re.compile(
    r"^([ \t>]*(?:[-*+] +|\d+\. +)?)(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*\2[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_GOES = re.compile(
    r"\{/\*.*?\*/\}|<!--.*?-->|^import\s[^\n]*|^export\s.*?(?=\n\n|\Z)|\{#[^{}\n]*\}[ \t]*$"
    r"|</?[A-Za-z](?:[^<>{}\"']|\"[^\"]*\"|'[^']*'|\{[^{}]*\}|\{\{[^{}]*\}\}|\{\[.*?\]\})*>"
    r"|^[ \t>]*:{3,}[ \t]*[\w-]*|\{[^{}\n]*\}",
    re.DOTALL | re.MULTILINE,
)
_INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def readable_words(body: str) -> Counter[str]:
    """Return the words of a page's body that readers see; a cautious lower bound."""
    body = body.replace("\r\n", "\n")
    shown, at = [], 0
    for fence in _FENCE.finditer(body):
        shown += _prose(body[at : fence.start()]), fence[0].partition("\n")[2]
        at = fence.end()
    return words("\n".join([*shown, _prose(body[at:])]))


def _prose(text: str) -> str:
    text = _INLINE_CODE.sub(lambda code: re.sub(r"[<>{}]", " ", code[0]), text)
    text = re.sub(r"^[ \t]+", "", _GOES.sub(" ", text), flags=re.MULTILINE)
    return "\n".join(_shown(token) for token in _PARSER.parse(text))


def _shown(token) -> str:
    if token.type != "inline":
        return token.content
    kept = ("text", "code_inline", "image", "html_inline")
    return "".join(
        c.content if c.type in kept else " " * (c.type.endswith("break")) for c in token.children
    )
