"""How much of the exact answer the best chunks hold (Chroma's layout), in tokens and characters."""

from __future__ import annotations

from itertools import accumulate

from askbook.ports import Reranker
from evaluation.conditions import Condition
from evaluation.datasets import SpanQuestion, SpanSet
from evaluation.metrics import SpanScore, TokenCount, span_score
from evaluation.outcome import Outcome, Row
from evaluation.passages import Passage, Text, cut
from evaluation.retrieval import SHOWN, embedding_cost
from evaluation.searching import Searched, indexed, search
from evaluation.vectors import CachedVectors

_DEPTHS = (1, 3, 5, 10, 20)
_EXCERPT = 160  # characters of a passage in the report


def measure_spans(
    data: SpanSet, vectors: CachedVectors, condition: Condition, reranker: Reranker | None = None
) -> Outcome:
    """Return recall, precision and IoU of every question, in the best `top` chunks."""
    passages = cut((Text(name, "", text) for name, text in data.corpora.items()), condition.chunk)
    questions = {each.id: each.question for each in data.questions}
    with indexed(passages, vectors, condition.fusion) as index:
        found = search(
            index,
            passages,
            questions,
            vectors=vectors,
            prefetch=condition.prefetch,
            reranker=reranker,
        )
    ruler = _Ruler(data)
    rows = tuple(_row(data, ruler, each, found[each.id], condition) for each in data.questions)
    return Outcome(
        rows,
        main="token_recall",
        curve={k: f"token_recall@{k}" for k in _DEPTHS},
        cost=embedding_cost(passages, vectors),
    )


class _Ruler:
    """All corpora laid end to end, measured in tokens and in characters."""

    def __init__(self, data: SpanSet) -> None:
        self._tokens = {name: TokenCount(text) for name, text in data.corpora.items()}
        lengths = accumulate((len(text) for text in data.corpora.values()), initial=0)
        counts = accumulate((len(each) for each in self._tokens.values()), initial=0)
        self._starts = dict(zip(data.corpora, lengths, strict=False))
        self._first = dict(zip(data.corpora, counts, strict=False))

    def characters(self, corpus: str, start: int, end: int) -> tuple[int, int]:
        return self._starts[corpus] + start, self._starts[corpus] + end

    def tokens(self, corpus: str, start: int, end: int) -> tuple[int, int]:
        first, last = self._tokens[corpus].span(start, end)
        return self._first[corpus] + first, self._first[corpus] + last


def _row(
    data: SpanSet, ruler: _Ruler, asked: SpanQuestion, found: Searched, condition: Condition
) -> Row:
    best = found.passages[: condition.top]
    tokens, characters = _score(ruler, asked, best, in_tokens=True), _score(ruler, asked, best)
    scores = {
        "token_recall": tokens.recall,
        "token_precision": tokens.precision,
        "token_iou": tokens.iou,
        "char_recall": characters.recall,
        "char_precision": characters.precision,
        "char_iou": characters.iou,
    }
    for depth in _DEPTHS:
        deep = _score(ruler, asked, found.passages[:depth], in_tokens=True)
        scores[f"token_recall@{depth}"] = deep.recall
    return Row(
        id=asked.id,
        question=asked.question,
        scores=scores,
        seconds=found.seconds,
        wanted=tuple(each.text for each in asked.references),
        found=tuple(_told(data, asked, each) for each in best[:SHOWN]),
        kind=asked.corpus_id,
    )


def _score(
    ruler: _Ruler, asked: SpanQuestion, best: list[Passage], *, in_tokens: bool = False
) -> SpanScore:
    measure = ruler.tokens if in_tokens else ruler.characters
    return span_score(
        retrieved=[measure(each.document, each.start, each.end) for each in best],
        gold=[measure(asked.corpus_id, each.start, each.end) for each in asked.references],
    )


def _told(data: SpanSet, asked: SpanQuestion, passage: Passage) -> str:
    holds = passage.document == asked.corpus_id and any(
        passage.start < each.end and each.start < passage.end for each in asked.references
    )
    text = data.corpora[passage.document][passage.start : passage.end]
    return f"{'✓' if holds else '·'} {passage.document}: {' '.join(text.split())[:_EXCERPT]}"
