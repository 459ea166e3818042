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
_IN_BRACES = (
    r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"  # four deep: nobody goes deeper
)
_GOES = re.compile(
    r"\{/\*.*?\*/\}|<!--.*?-->|^import\s[^\n]*|^export\s.*?(?=\n\n|\Z)|\{#[^{}\n]*\}[ \t]*$"
    rf"|</?[A-Za-z](?:[^<>{{}}\"']|\"[^\"]*\"|'[^']*'|{_IN_BRACES})*>"
    r"|^[ \t>]*:{3,}[ \t]*[\w-]*|\{[^{}\n]*\}",
    re.DOTALL | re.MULTILINE,
)
_INLINE_TAG = re.compile(r"</?(?:a|b|code|em|i|span|strong|sub|sup)(?:\s[^<>{}]*)?>")
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
    text = _GOES.sub(" ", _INLINE_TAG.sub("", text))  # `H<sub>2</sub>O` is one word
    text = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
    return "\n".join(_shown(token) for token in _PARSER.parse(text))


def _shown(token) -> str:
    if token.type != "inline":
        return token.content
    return "".join(_shown_inline(child) for child in token.children)


def _shown_inline(token) -> str:
    """Return words as a chunk has them: where Markdown's marks stand, `a`s are two words."""
    if token.type in ("text", "text_special", "html_inline"):
        return token.content
    return f" {token.content} " if token.type in ("code_inline", "image") else " "
