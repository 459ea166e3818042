"""Numbers and their units: 0.5 s is 500 ms, and 5 s is not 5 ms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isclose
from typing import Final

from askbook.asking.words import STOP, normal, stem

_DIMENSIONS: Final[dict[str, dict[str, float]]] = {
    "time": {
        "ns": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "μs": 1e-6, "microsecond": 1e-6, "ms": 1e-3,
        "millisecond": 1e-3, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600,
        "hour": 3600, "day": 86400, "week": 604800, "month": 2629800, "year": 31557600,
    },
    "rate": {"Hz": 1, "hertz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "fps": 1},
    "length": {
        "nm": 1e-9, "μm": 1e-6, "mm": 1e-3, "millimetre": 1e-3, "millimeter": 1e-3, "cm": 1e-2,
        "centimetre": 1e-2, "centimeter": 1e-2, "m": 1, "metre": 1, "meter": 1, "km": 1e3,
        "kilometre": 1e3, "kilometer": 1e3, "inch": 0.0254, "inches": 0.0254, "mile": 1609.344,
    },
    "mass": {"mg": 1e-6, "g": 1e-3, "gram": 1e-3, "kg": 1, "kilogram": 1, "tonne": 1e3},
    "data": {"byte": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "bit": 0.125},
    "voltage": {"mV": 1e-3, "V": 1, "volt": 1, "kV": 1e3},
    "current": {"mA": 1e-3, "A": 1, "amp": 1, "ampere": 1},
    "power": {"mW": 1e-3, "W": 1, "watt": 1, "kW": 1e3},
    "force": {"N": 1, "newton": 1, "kN": 1e3},
    "torque": {"Nm": 1, "N·m": 1},
    "speed": {"m/s": 1, "km/h": 1 / 3.6},
    "angle": {"°": 1, "degree": 1, "deg": 1, "rad": 57.29578, "radian": 57.29578},
    "temperature": {"°C": 1},
    "share": {"%": 1, "percent": 1, "per cent": 1},
    "turning": {"rpm": 1, "rad/s": 9.549297},
}  # fmt: skip
_UNITS: Final = {
    unit + plural: (dimension, factor)
    for dimension, units in _DIMENSIONS.items()
    for unit, factor in units.items()
    for plural in (("", "s") if len(unit) > 2 and unit.isalpha() else ("",))  # noqa: PLR2004
}
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_VALUES: Final = {
    word: float(at if at <= 20 else (at - 18) * 10)  # noqa: PLR2004 - thirty is the 21st
    for at, word in enumerate(_NUMBER_WORDS.split())
}
_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}
_QUANTITY: Final = re.compile(
    r"(?<![\d.,])(?P<digits>(?:(?<![\w)])-)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![.,]?\d)"
    rf"|\b(?P<words>(?i:{'|'.join(_VALUES)}))(?:-(?P<ones>(?i:{'|'.join([*_VALUES][1:10])})))?\b",
)
_AFTER: Final = re.compile(
    rf"(?P<order>st|nd|rd|th)?(?:[\s-]?(?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"(?:[\s-]?(?P<unit>{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})"
    r"(?![\w/]))?(?:[\s-]+(?P<noun>[^\W\d_]+))?"
)
_ENUMERATED: Final = re.compile(r"^\W*\d+[.)](?:\s|$)|\n\s*\d+[.)]\s*$")


def dimension_of(word: str) -> str | None:
    """What a word measures where it is a unit: seconds -> time."""
    return _UNITS[word][0] if word in _UNITS else None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, its unit if it has a known one, and the word behind it."""

    text: str
    value: float
    unit: str | None
    noun: str | None
    spelled: bool  # as a word: often a count that the writer made, so less is asked of it
    glued: bool  # inside a name like ROS2

    @property
    def dimension(self) -> str | None:
        """What its unit measures: time, length, share, ..."""
        return _UNITS[self.unit][0] if self.unit else None

    def same_value(self, other: Quantity) -> bool:
        """Whether the bare numbers are equal."""
        return isclose(self.value, other.value, rel_tol=1e-6)

    def agrees(self, other: Quantity) -> bool:
        """Whether both may mean the same: 0.5 s is 500 ms, and 5 may be 5 ms."""
        if self.unit is None or other.unit is None:
            return self.same_value(other)
        (mine, factor), (theirs, other_factor) = _UNITS[self.unit], _UNITS[other.unit]
        return mine == theirs and isclose(
            self.value * factor, other.value * other_factor, rel_tol=1e-4
        )


@lru_cache(maxsize=1024)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All numbers of a text, in digits and in words."""
    text = _ENUMERATED.sub("", normal(text))
    return tuple(_quantity(text, found) for found in _QUANTITY.finditer(text))


def _quantity(text: str, found: re.Match[str]) -> Quantity:
    digits, word, ones = found["digits"], found["words"], found["ones"]
    value = float(digits.replace(",", "")) if digits else _VALUES[word.casefold()]
    value += _VALUES[ones.casefold()] if ones else 0
    after = _AFTER.match(text, found.end())
    scale, unit, noun = after.group("scale", "unit", "noun") if after else (None, None, None)
    end = after.end("unit") if after and unit else found.end()
    decade = unit == "s" and len(found[0]) == 4 and end == found.end() + 1  # noqa: PLR2004
    behind = text[after.end("order") if after and after["order"] else found.end() :][:1]
    before = text[: found.start()][-1:]
    short_year = re.search(r"\d{4}-$", text[: found.start()]) is not None  # 2018-19
    return Quantity(
        text=text[found.start() : end],
        value=value * _SCALES.get(scale or "", 1.0),
        unit=None if decade else unit,
        noun=stem(noun.casefold()) if noun and noun.casefold() not in STOP else None,
        spelled=digits is None,
        glued=before.isalpha()
        or before == "_"
        or short_year
        or (not unit and not decade and behind.isalpha()),
    )


def wrong_number(sentence: str, passages: Sequence[str]) -> str | None:
    """What is wrong with the first number that no passage bears out, as a clause."""
    known = [quantity for passage in passages for quantity in quantities(passage)]
    for mine in quantities(sentence):
        if mine.glued or any(map(mine.agrees, known)) or mine.text.casefold() == "one":
            continue
        other = next((q for q in known if mine.same_value(q)), None)
        if other is not None:
            return f"the source it names says {other.text}, not {mine.text}"
        counted = [q for q in known if mine.noun and q.noun == mine.noun]
        if counted:
            return f"the source it names says {counted[0].text}, not {mine.text}"
        if not mine.spelled:
            return f"the number {mine.text} is not in the source it names"
    return None
