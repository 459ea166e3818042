"""How well documents are found (BEIR's layout), with what production uses.

Every document is cut by the product's chunker, embedded, and indexed in a real Qdrant Edge index
that is gone afterwards. A document stands where its best chunk stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from askbook.book.tokens import count_tokens
from askbook.ports import Reranker
from evaluation.conditions import Condition
from evaluation.datasets import Beir
from evaluation.metrics import CURVE, per_query
from evaluation.outcome import Outcome, Row
from evaluation.passages import Passage, Text, cut
from evaluation.searching import Searched, indexed, search
from evaluation.vectors import CachedVectors

SHOWN = 5  # found documents kept with a row


def measure_ranking(
    data: Beir, vectors: CachedVectors, condition: Condition, reranker: Reranker | None = None
) -> Outcome:
    """Return the ranking measures of every query."""
    texts = (Text(each.id, each.title, each.text) for each in data.documents.values())
    passages = cut(texts, condition.chunk)
    with indexed(passages, vectors, condition.fusion) as index:
        found = search(
            index,
            passages,
            data.queries,
            vectors=vectors,
            prefetch=condition.prefetch,
            reranker=reranker,
        )
    run = {query: _documents(searched) for query, searched in found.items()}
    scores = per_query(data.judgements, run)
    rows = tuple(
        Row(
            id=query,
            question=data.queries[query],
            scores={name: values[query] for name, values in scores.items()},
            seconds=found[query].seconds,
            wanted=tuple(_name(data, key) for key, grade in grades.items() if grade > 0),
            found=tuple(
                f"{'✓' if grades.get(key, 0) > 0 else '·'} {_name(data, key)}"
                for key in run[query][:SHOWN]
            ),
        )
        for query, grades in data.judgements.items()
    )
    return Outcome(
        rows,
        main="nDCG@10",
        curve={k: f"R@{k}" for k in CURVE},
        cost=embedding_cost(passages, vectors),
    )


def embedding_cost(passages: Sequence[Passage], vectors: CachedVectors) -> dict[str, float]:
    """What embedding all passages costs, whether or not they were known already."""
    tokens = sum(count_tokens(each.embedded_text) for each in passages)
    usd = tokens / 1e6 * vectors.embedder.limits.usd_per_million_tokens
    return {"passages": len(passages), "passage_tokens": tokens, "embed_usd": round(usd, 6)}


def _documents(searched: Searched) -> list[str]:
    return list(dict.fromkeys(passage.document for passage in searched.passages))


def _name(data: Beir, key: str) -> str:
    title = data.documents[key].title
    return f"{title} ({key})" if title else key
