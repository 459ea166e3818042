"""Turn checked sentences into the answer a reader gets."""

from __future__ import annotations

from collections.abc import Sequence

from askbook.asking.ground import Checked
from askbook.models import Answer, Citation, Source

EXCERPT_LENGTH = 200
NOTHING_FOUND = "The book does not contain information about this topic."
NOTHING_SUPPORTED = "Unable to provide a reliable answer from the book content."


def refusal(sentence: str, parts: dict[str, str | None], withheld: int = 0) -> Answer:
    """A documented sentence, no citations, confidence 0."""
    return Answer(sentence, (), 0.0, refused=True, withheld=withheld, mode="rag", parts=parts)


def reply(checked: Sequence[Checked], parts: dict[str, str | None]) -> Answer:
    """The sentences that passed, their citations renumbered from 1 in order of appearance."""
    passed = [each for each in checked if each.reason is None]
    withheld = len(checked) - len(passed)
    if not passed:
        return refusal(NOTHING_SUPPORTED, parts, withheld)
    numbers: dict[int, int] = {}
    citations: list[Citation] = []
    sentences = []
    for each in passed:
        for source in each.sources:
            if source.number not in numbers:
                numbers[source.number] = len(numbers) + 1
                citations.append(_citation(source, each.text))
        marks = "".join(f"[{numbers[source.number]}]" for source in each.sources)
        sentences.append(f"{each.text} {marks}")
    confidence = max(min(max(s.hit.similarity for e in passed for s in e.sources), 1.0), 0.0)
    return Answer(
        " ".join(sentences),
        tuple(citations),
        round(confidence, 3),
        refused=False,
        withheld=withheld,
        mode="rag",
        parts=parts,
    )


def _citation(source: Source, sentence: str) -> Citation:
    payload = source.hit.payload
    return Citation(
        chapter_title=str(payload["chapter_title"]),
        section=_text(payload["section_title"]),
        source_file=str(payload["source_file"]),
        anchor=_text(payload["section_id"]),
        start_char_offset=int(str(payload["start_char_offset"])),
        end_char_offset=int(str(payload["end_char_offset"])),
        excerpt=_excerpt(sentence),
        score=round(source.hit.score, 4),
        chunk_id=source.hit.id,
        chapter_id=str(payload["chapter_id"]),
    )


def _excerpt(sentence: str) -> str:
    """At most 200 characters, cut between words."""
    if len(sentence) <= EXCERPT_LENGTH:
        return sentence
    return sentence[:EXCERPT_LENGTH].rsplit(" ", 1)[0]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
