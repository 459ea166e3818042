"""Words as they are compared: one form for characters, light English stems.

Scripts without spaces between words are compared by pairs of characters, so that every language
gets a recall.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_UNSPACED: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD: Final = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:'[^\W\d_]+)?")
EMPHASIS: Final = re.compile(r"(?<!\w)[*_]{1,3}(?=\w)|(?<=[\w.,:;!?)])[*_]{1,3}(?!\w)")
_LINK: Final = re.compile(r"(?<!!)\[([^\]\n]+)\]\([^)\n]*\)")
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]+\]")
CLOSERS: Final = "\"')]}*_` "
_SAME: Final = str.maketrans("‘’‚“”„«»–—−\u00a0\u202f\u2009", '\'\'\'"""""---   ')
_STOP_WORDS: Final = (
    "a about above after again all also although am an and any are as at be because been before"
    " being below between both but by can could did do does doing down during each either few for"
    " from further had has have having he her here hers him his how however i if in into is it its"
    " itself just may me might more most must my of off on once only or other our out over own per"
    " same she should since so some such than that the their them then there therefore these they"
    " this those through thus to too under until up upon us very was we were what when where which"
    " while who whom whose why will with would yes you your"
)
STOP: Final = frozenset(_STOP_WORDS.split())
_NEGATORS: Final = (
    "not no never without none neither nor cannot nothing nobody nowhere hardly unless"
)
NEGATIONS: Final = frozenset(_NEGATORS.split())


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its words, prepared once: most is compared more than once."""

    raw: str
    words: tuple[str, ...]  # stems, in order, stop words included
    content: frozenset[str]  # stems without stop words


def normal(text: str) -> str:
    """One form for characters that look or mean the same: quotes, dashes, widths, spaces."""
    return unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME)


def unlinked(text: str) -> str:
    """Text without footnote marks, and links as their words: they lead nowhere in an answer."""
    return _FOOTNOTE.sub("", _LINK.sub(r"\1", text))


@lru_cache(maxsize=4096)
def prepare(text: str) -> Text:
    """A text with its stems."""
    words: list[str] = []
    for word in WORD.findall(normal(text).casefold()):
        if re.match(f"[{_UNSPACED}]", word):
            words += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
        else:
            words.append(stem(word))
    return Text(text, tuple(words), frozenset(words) - STOP)


def negates(word: str) -> bool:
    """Whether a word turns what it stands by into its opposite."""
    return word in NEGATIONS or word.endswith("n't")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its English ending: publishes, published, publishing -> publish."""
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isascii() or word in STOP or negates(word):  # noqa: PLR2004 - short words
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - a stem is left
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sle":  # noqa: PLR2004
        word = word[:-1]  # stopped, planning
    return word.removesuffix("e") if len(word) > 4 else word  # noqa: PLR2004


_ENDINGS: Final = (
    ("izations", "iz"), ("ization", "iz"), ("isation", "iz"), ("ations", "at"), ("ation", "at"),
    ("ising", "iz"), ("ised", "iz"), ("ises", "iz"), ("ise", "iz"), ("izing", "iz"),
    ("ingly", ""), ("edly", ""), ("ments", "ment"), ("ness", ""), ("ies", "y"), ("ied", "y"),
    ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ers", ""), ("ings", ""),
    ("ing", ""), ("er", ""), ("ed", ""), ("ly", ""), ("ss", "ss"), ("us", "us"), ("is", "is"),
    ("s", ""),
)  # fmt: skip


def written(text: str) -> list[str]:
    """Content words of a spaced script as they are written."""
    return [w for w in WORD.findall(normal(text)) if stem(w.casefold()) not in STOP]


def recall(sentence: Text, other: Text) -> float:
    """Share of the sentence's content words that `other` holds; 1 where it has none."""
    if not sentence.content:
        return 1.0
    return len(sentence.content & other.content) / len(sentence.content)
