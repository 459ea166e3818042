"""What a question asks for: the names in it, its focus, and what an answer must hold.

Pure functions on text. They know English question words; in any other language a question has
no focus and no kind, and is judged by the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from askbook.asking.quantities import dimension_of, quantities
from askbook.asking.words import prepare, stem, written

_NAME: Final = re.compile(r"[^\W_]+(?:[-_./][^\W_]+)*")
_IS_NAMED: Final = re.compile(r"[A-Z0-9_]")
_ASKS: Final = re.compile(
    r"\b(?:how (?:do|can|should|would|could) (?:i|we|you)"
    r"|how (?:many|much|long|fast|big|hard|near|high|far|fine|does|do|is|are|to)"
    r"|what (?:kind of|is|are|was|does|do|happens|should)|until when"
    r"|what|which|who|whose|when|where|why|is|are|does|do|can|could|may|will|should)\b",
    re.IGNORECASE,
)
_FOCUS: Final = 3  # words behind the question word: "encrypt ROS traffic", "licence Isaac Sim"
_COST: Final = re.compile(r"\bhow (?:much|expensive)\b.*\b(?:costs?|price|pay)\b", re.IGNORECASE)
_MONEY: Final = re.compile(
    r"[$€£¥]\s?\d|\d\s?(?:usd|eur|gbp|dollars?|euros?|pounds?|cents?)\b", re.IGNORECASE
)
_MANY: Final = re.compile(r"\bhow many\s+((?:[\w-]+\s+)?[\w-]+)", re.IGNORECASE)
_ANYTHING: Final = frozenset({"different", "more", "one", "ones", "thing", "things"})
_LONG: Final = re.compile(r"\b(?:how long|until when|since when)\b", re.IGNORECASE)
_BEHIND: Final = 40  # characters behind a number in which the thing it counts is named
_YEARS: Final = range(1900, 2100)


def names_in(question: str) -> list[str]:
    """Names, numbers and identifiers: PX4, tf2_ros, MoveIt, Jetson; not a sentence's first word."""
    return [
        found[0]
        for found in _NAME.finditer(question)
        if _IS_NAMED.search(found[0][1:])
        or (found[0][0].isupper() and found[0] != "I" and not _opens(question, found))
    ]


def _opens(question: str, found: re.Match[str]) -> bool:
    before = question[: found.start()].rstrip()
    return not before or before[-1] in ".?!:"


def focus_of(question: str) -> frozenset[str]:
    """Stems of the first words behind the question word; none where nothing is asked outright."""
    last = question.rsplit("\n", 1)[-1]  # a follow-up comes after what it refers to
    asks = _ASKS.search(last)
    words = written(last[asks.end() :]) if asks else []
    return frozenset(stem(word.casefold()) for word in words[:_FOCUS])


def answer_test(question: str) -> Callable[[str], bool] | None:
    """Tells of a text whether it can hold the answer: a price, a count, a length of time.

    None where the question does not ask for one of these.
    """
    last = question.rsplit("\n", 1)[-1]
    if _COST.search(last):
        return lambda text: _MONEY.search(text) is not None
    if many := _MANY.search(last):
        things = prepare(many[1]).content - _ANYTHING
        units = {dimension_of(word) for word in many[1].split()} - {None}
        return lambda text: _counts(text, things, units)
    return _lasts if _LONG.search(last) else None


def _counts(text: str, things: frozenset[str], units: set[str | None]) -> bool:
    """Whether a number of these things stands in a text; of any, where none are named."""
    for quantity in quantities(text):
        if quantity.glued:
            continue
        at = text.find(quantity.text) + len(quantity.text)
        behind = prepare(text[at : at + _BEHIND]).content
        if not things or things & behind or quantity.dimension in units:
            return True
    return False


def _lasts(text: str) -> bool:
    """Whether a duration, a distance or a year stands in a text."""
    return any(
        quantity.dimension in {"time", "length"} or int(quantity.value) in _YEARS
        for quantity in quantities(text)
    )
