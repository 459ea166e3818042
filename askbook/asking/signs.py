"""Does a place say the opposite? Negations, and words like before and after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from askbook.asking.words import NEGATIONS, Text, negates, stem

_OPPOSITE_WORDS: Final = (
    "increase/decrease before/after above/below more/less faster/slower higher/lower high/low"
    " always/never minimum/maximum left/right open/close enable/disable first/last inside/outside"
    " start/stop rise/fall larger/smaller longer/shorter best/worst same/different with/without"
    " accept/reject allow/forbid true/false early/late synchronous/asynchronous safe/unsafe"
    " reliable/unreliable stable/unstable forward/backward input/output all/none most/least"
    " easy/hard cheap/expensive static/dynamic local/global possible/impossible hot/cold"
)


_NEAR_COPY: Final = 0.9  # at 0.8, all five alarms on real answers were false; at 0.9 there are none
_FLIPPED: Final = {
    a: b
    for pair in _OPPOSITE_WORDS.split()
    for one, two in [pair.split("/")]
    for a, b in ((stem(one), stem(two)), (stem(two), stem(one)))
}
_SIGNS: Final = NEGATIONS | _FLIPPED.keys()


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
    odd = (sum(map(negates, sentence.words)) + sum(map(negates, place.words))) % 2
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
        if negates(word):
            behind = text.words[at + 1 : at + 6]
            if behind[:1] not in {("only",), ("just",)} and text.words[max(at - 1, 0)] != "if":
                found.update([w for w in behind if w in text.content - NEGATIONS][:2])
    return frozenset(found)
