"""What a sentence and the passages it cites have in common, and where they disagree.

Pure functions on text. Words are compared by light English stems; scripts without spaces
between words are compared by pairs of characters, so that every language gets a recall.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from math import isclose
from typing import Final

_UNSPACED: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:'[^\W\d_]+)?")
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
_STOP: Final = frozenset(_STOP_WORDS.split())
_NEGATORS: Final = (
    "not no never without none neither nor cannot nothing nobody nowhere hardly unless"
)
_NEGATIONS: Final = frozenset(_NEGATORS.split())
_OPPOSITE_WORDS: Final = (
    "increase/decrease before/after above/below more/less faster/slower higher/lower high/low"
    " always/never minimum/maximum left/right open/close enable/disable first/last inside/outside"
    " start/stop rise/fall larger/smaller longer/shorter best/worst same/different with/without"
    " accept/reject allow/forbid true/false early/late synchronous/asynchronous safe/unsafe"
    " reliable/unreliable stable/unstable forward/backward input/output all/none most/least"
    " easy/hard cheap/expensive static/dynamic local/global possible/impossible hot/cold"
)


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its words, prepared once: most is compared more than once."""

    raw: str
    words: tuple[str, ...]  # stems, in order, stop words included
    content: frozenset[str]  # stems without stop words


@dataclass(frozen=True, slots=True)
class Missing:
    """What a sentence says and its passages do not, as written."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Features:
    """How far passages carry a sentence; all from 0 to 1, and 1 is good except where said."""

    word_recall: float  # share of content words that occur anywhere in the passages
    local_recall: float  # the same in the best sentence, or pair of sentences, of a passage
    bigram_recall: float
    trigram_recall: float
    longest_run: float  # longest run of words in common, as a share of the sentence
    names_missing: float  # share of capitalised names that do not occur (0 is good)
    numbers_missing: float  # share of numbers, in digits or words, that do not occur (0 is good)
    numbers_far: float  # share of numbers that do not occur in the best place (0 is good)
    opposed: float  # 1 where the best place negates what the sentence says, or the reverse
    missing: Missing


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
    for word in _WORD.findall(normal(text).casefold()):
        if re.match(f"[{_UNSPACED}]", word):
            words += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
        else:
            words.append(stem(word))
    return Text(text, tuple(words), frozenset(words) - _STOP)


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its English ending: publishes, published, publishing -> publish."""
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isascii() or word in _STOP or _negates(word):  # noqa: PLR2004 - short words
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


def features(sentence: Text, passages: Sequence[Text], best: Text | None) -> Features:
    """Compare a sentence with its passages as a whole, and with the best place in them."""
    shared = frozenset[str]().union(*(passage.content for passage in passages))
    names = names_in(sentence.raw)
    numbers = [q for q in quantities(sentence.raw) if not q.glued]
    known = [q for passage in passages for q in quantities(passage.raw)]
    near = quantities(best.raw) if best else ()
    missing = Missing(
        tuple(word for word in written(sentence.raw) if stem(word.casefold()) not in shared),
        tuple(name for name in names if not _has_name(name, passages)),
        tuple(q.text for q in numbers if not any(map(q.agrees, known))),
    )
    return Features(
        word_recall=_share(word in shared for word in sentence.content),
        local_recall=recall(sentence, best) if best else 0.0,
        bigram_recall=_gram_recall(sentence, passages, 2),
        trigram_recall=_gram_recall(sentence, passages, 3),
        longest_run=max((_longest_run(sentence, passage) for passage in passages), default=0.0),
        names_missing=len(missing.names) / max(len(names), 1),
        numbers_missing=len(missing.numbers) / max(len(numbers), 1),
        numbers_far=1 - _share(any(map(q.agrees, near)) for q in numbers),
        opposed=float(best is not None and opposed(sentence, best)),
        missing=missing,
    )


def rank(sentence: Text, places: Sequence[Text]) -> list[Text]:
    """Places by how many of the sentence's words they hold; of two that are equal, the shorter."""
    return sorted(places, key=lambda p: (-recall(sentence, p), len(p.words)))


def written(text: str) -> list[str]:
    """Content words of a spaced script as they are written."""
    return [w for w in _WORD.findall(normal(text)) if stem(w.casefold()) not in _STOP]


def recall(sentence: Text, other: Text) -> float:
    """Share of the sentence's content words that `other` holds; 1 where it has none."""
    if not sentence.content:
        return 1.0
    return len(sentence.content & other.content) / len(sentence.content)


def _share(hits: Iterable[bool]) -> float:
    """Share of hits; 1 where there is nothing to hit."""
    found = list(hits)
    return sum(found) / len(found) if found else 1.0


def _gram_recall(sentence: Text, passages: Sequence[Text], size: int) -> float:
    known = {gram for passage in passages for gram in _grams(passage, size)}
    return _share(gram in known for gram in _grams(sentence, size))


def _grams(text: Text, size: int) -> Iterator[tuple[str, ...]]:
    """Runs of words; a text shorter than a run is one run."""
    words = text.words
    return (words[at : at + size] for at in range(max(len(words) - size + 1, 1 if words else 0)))


def _longest_run(sentence: Text, passage: Text) -> float:
    matcher = SequenceMatcher(None, sentence.words, passage.words, autojunk=False)
    return matcher.find_longest_match().size / max(len(sentence.words), 1)


_NAME: Final = re.compile(r"(?<![\w.])[^\W\d_a-z][\w'-]*")


def names_in(sentence: str) -> list[str]:
    """Words with a capital that no sentence start explains."""
    text = EMPHASIS.sub("", normal(sentence)).lstrip()
    return [
        found[0].removesuffix("'s")
        for found in _NAME.finditer(text)
        if found[0][0].isupper()
        and found[0].casefold() not in _STOP
        and (text[: found.start()].strip(CLOSERS + "([{") or not found[0][1:].islower())
        and len(found[0]) > 1
    ]


def _has_name(name: str, passages: Sequence[Text]) -> bool:
    """Whether all words of a name occur; American counts for America."""
    return all(
        word in _STOP or any(_has_word(word, passage) for passage in passages)
        for word in prepare(name).words
    )


def _has_word(word: str, text: Text) -> bool:
    start = word[:5]
    return word in text.content or (
        len(start) == 5 and any(other.startswith(start) for other in text.content)  # noqa: PLR2004
    )


_NEAR_COPY: Final = 0.9  # at 0.8, all five alarms on real answers were false; at 0.9 there are none
_FLIPPED: Final = {
    a: b
    for pair in _OPPOSITE_WORDS.split()
    for one, two in [pair.split("/")]
    for a, b in ((stem(one), stem(two)), (stem(two), stem(one)))
}
_SIGNS: Final = _NEGATIONS | _FLIPPED.keys()


def contradicted(sentence: Text, places: Sequence[Text]) -> Text | None:
    """A place that says nearly the same with the opposite sign, where none says the same.

    Only near copies are judged: in freer wording, negations moved about without changing the
    meaning far more often than they changed it.
    """
    near = [place for place in places if _alike(sentence, place) >= _NEAR_COPY]
    if near and all(opposed(sentence, place) for place in near):
        return max(near, key=lambda place: _alike(sentence, place))
    return None


def _alike(sentence: Text, place: Text) -> float:
    """Dice overlap of the content words, signs left out."""
    mine, theirs = sentence.content - _SIGNS, place.content - _SIGNS
    return 2 * len(mine & theirs) / max(len(mine) + len(theirs), 1)


def opposed(sentence: Text, place: Text) -> bool:
    """Whether one negates a word that the other asserts, or has its opposite in its place."""
    here, there = _negated(sentence), _negated(place)
    odd = (sum(map(_negates, sentence.words)) + sum(map(_negates, place.words))) % 2
    if odd and (here & (place.content - there) or there & (sentence.content - here)):
        return True
    mine, theirs = frozenset(sentence.words), frozenset(place.words)
    return any(
        _FLIPPED[word] in theirs - mine and word not in theirs for word in mine & _FLIPPED.keys()
    )


@lru_cache(maxsize=1024)
def _negated(text: Text) -> frozenset[str]:
    """The first content words behind each negation: what it most likely negates."""
    found: set[str] = set()
    for at, word in enumerate(text.words):
        if _negates(word):
            behind = text.words[at + 1 : at + 6]
            if behind[:1] not in {("only",), ("just",)} and text.words[max(at - 1, 0)] != "if":
                found.update([w for w in behind if w in text.content - _NEGATIONS][:2])
    return frozenset(found)


_QUOTED: Final = re.compile(r"\"([^\"\n]{2,}?)\"|(?<!`)`([^`\n]+)`(?!`)")
_CODE: Final = re.compile(
    r"(?<![\w-])--[^\W\d_][\w-]+|\b\w*[^\W\d_]\w*(?:_|::)\w[\w:]*|\bv?\d+(?:\.\d+){2,}"
)


def unfaithful_quote(sentence: str, passages: Sequence[str]) -> str | None:
    """The first quotation, code span or identifier that is not so in any passage."""
    text = normal(sentence)
    bare = [" ".join(normal(passage).replace("`", "").casefold().split()) for passage in passages]
    spoken = [" ".join(_WORD.findall(passage)) for passage in bare]
    for found in chain(_QUOTED.finditer(text), _CODE.finditer(EMPHASIS.sub("", text))):
        quote = found[1] if found.re is _QUOTED else None
        if quote is not None:
            parts = [
                " ".join(_WORD.findall(p)) for p in re.split(r"\.{3}|\[.*?\]", quote.casefold())
            ]
            ok = all(any(_bounded(part, other) for other in spoken) for part in parts if part)
        else:
            code = (found[2] if found.re is _QUOTED else found[0]).strip().removesuffix("()")
            ok = any(_bounded(" ".join(code.casefold().split()), other) for other in bare)
        if not ok:
            return found[0]
    return None


def _bounded(part: str, text: str) -> bool:
    """Whether a text holds a part that is not the middle of a longer word."""
    left = r"(?<!\w)" if part[:1].isalnum() else ""
    right = r"(?!\w)" if part[-1:].isalnum() else ""
    return re.search(left + re.escape(part) + right, text) is not None


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
        noun=stem(noun.casefold()) if noun and noun.casefold() not in _STOP else None,
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
