"""What a sentence and the passages it cites have in common: words, runs, names, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Final

from askbook.asking.quantities import quantities
from askbook.asking.signs import opposed
from askbook.asking.words import (
    CLOSERS,
    EMPHASIS,
    STOP,
    WORD,
    Text,
    normal,
    prepare,
    recall,
    stem,
    written,
)


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
        and found[0].casefold() not in STOP
        and (text[: found.start()].strip(CLOSERS + "([{") or not found[0][1:].islower())
        and len(found[0]) > 1
    ]


def _has_name(name: str, passages: Sequence[Text]) -> bool:
    """Whether all words of a name occur; American counts for America."""
    return all(
        word in STOP or any(_has_word(word, passage) for passage in passages)
        for word in prepare(name).words
    )


def _has_word(word: str, text: Text) -> bool:
    start = word[:5]
    return word in text.content or (
        len(start) == 5 and any(other.startswith(start) for other in text.content)  # noqa: PLR2004
    )


_QUOTED: Final = re.compile(r"\"([^\"\n]{2,}?)\"|(?<!`)`([^`\n]+)`(?!`)")
_CODE: Final = re.compile(
    r"(?<![\w-])--[^\W\d_][\w-]+|\b\w*[^\W\d_]\w*(?:_|::)\w[\w:]*|\bv?\d+(?:\.\d+){2,}"
)


def unfaithful_quote(sentence: str, passages: Sequence[str]) -> str | None:
    """The first quotation, code span or identifier that is not so in any passage."""
    text = normal(sentence)
    bare = [" ".join(normal(passage).replace("`", "").casefold().split()) for passage in passages]
    spoken = [" ".join(WORD.findall(passage)) for passage in bare]
    for found in chain(_QUOTED.finditer(text), _CODE.finditer(EMPHASIS.sub("", text))):
        quote = found[1] if found.re is _QUOTED else None
        if quote is not None:
            parts = [
                " ".join(WORD.findall(p)) for p in re.split(r"\.{3}|\[.*?\]", quote.casefold())
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
