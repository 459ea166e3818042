"""Books made from templates, as large as a measurement wants them; no page is like another."""

from __future__ import annotations

import random
from pathlib import Path

_SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "ki", "lo", "ma", "ne", "or", "pi", "qua", "zen")
_SENTENCES = (
    "A {0} keeps its {1} apart from the {2} unless the {3} is told to wait {n} milliseconds.",
    "When the {0} of a {1} falls below {n}, the {2} answers with a {3} instead.",
    "Measure the {0} first: a {1} without a {2} costs {n} times as much as its {3}.",
    "The {0} was built for the {1}, and the {2} still shows it wherever a {3} is missing.",
    "Neither the {0} nor the {1} may change while {n} readers hold the {2} of the {3}.",
)
_SENTENCES_A_PARAGRAPH = 4
_PARAGRAPHS_A_SECTION = 3
_SECTIONS_A_PAGE = 4
_PAGES_A_CHAPTER = 12


def write_book(folder: Path, pages: int, seed: int = 0) -> Path:
    """A book of so many pages, in chapters; the same seed makes the same book."""
    words = random.Random(seed)  # noqa: S311 - words, not secrets
    for number in range(pages):
        chapter, lesson = divmod(number, _PAGES_A_CHAPTER)
        path = folder / f"module-1-made/chapter-{chapter + 1}-part/{lesson + 1:02}-page.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_page(words, number), encoding="utf-8")
    return folder


def first_page(folder: Path) -> Path:
    """A page to edit."""
    return folder / "module-1-made/chapter-1-part/01-page.md"


def _page(words: random.Random, number: int) -> str:
    lines = ["---", f"title: {_word(words).title()} {number}", "---", ""]
    for _ in range(_SECTIONS_A_PAGE):
        lines += [f"## The {_word(words)} of the {_word(words)}", ""]
        for _ in range(_PARAGRAPHS_A_SECTION):
            said = (_sentence(words) for _ in range(_SENTENCES_A_PARAGRAPH))
            lines += [" ".join(said), ""]
    return "\n".join(lines)


def _sentence(words: random.Random) -> str:
    names = [_word(words) for _ in range(4)]
    return words.choice(_SENTENCES).format(*names, n=words.randrange(2, 900))


def _word(words: random.Random) -> str:
    return "".join(words.choices(_SYLLABLES, k=words.randrange(2, 4)))
