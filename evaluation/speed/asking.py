"""What asking adds to the embedder and the index, on the same questions in one run.

    python -m evaluation.speed.asking

Needs the sample book in the published index (`askbook ingest`). Every question is asked both
ways in turn, so that a busy moment of the machine hits both. Prints medians in milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from statistics import median

import anyio
import qdrant_edge as engine

from askbook.golden.questions import load_golden
from askbook.index import schema
from askbook.models import Answer, ChunkFilter, Question
from askbook.settings import load_settings
from askbook.wiring import Parts

_GOLDEN = Path("data/benchmarks/physical-ai-robotics/questions.jsonl")
_LIMIT = 10
_ROUNDS = 3


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def searching(parts: Parts, questions: list[str], where: ChunkFilter) -> None:
    """Print the medians of the bare parts, of search through the chain, and their difference."""

    async def bare(text: str) -> object:
        vector = await parts.embedder.embed_query(text)
        prefetch = parts.settings.prefetch
        return parts.index.search(vector, text, where, _LIMIT, prefetch)

    alone, chain, added = [], [], []
    for _ in range(_ROUNDS):
        for text in questions:
            first = await _timed(lambda text=text: bare(text))  # type: ignore[misc]
            second = await _timed(lambda text=text: parts.asking.search(text, where, _LIMIT))  # type: ignore[misc]
            alone.append(first)
            chain.append(second)
            added.append(second - first)
    print("| search | median ms |\n|---|---|")
    print(f"| embedder and index alone | {median(alone):.1f} |")
    print(f"| `Asking.search` | {median(chain):.1f} |")
    print(f"| added | {median(added):.1f} |")


async def against_engine(parts: Parts, questions: list[str], where: ChunkFilter) -> None:
    """Print how many searches a second the engine makes by itself, and how many through askbook.

    All vectors are at hand, so that no model is measured; every question is asked both ways.
    """
    index, prefetch = parts.index, parts.settings.prefetch
    folder = parts.settings.home / "index" / parts.settings.collection / "versions"
    current = next(version.name for version in index.versions() if version.current)
    shard, bm25 = engine.EdgeShard.load(str(folder / current)), engine.Bm25()
    of_book = engine.Filter(
        must=[engine.FieldCondition("book_id", match=engine.MatchValue(where.book_id or ""))]
    )
    vectors = {text: await parts.embedder.embed_query(text) for text in questions}
    bare = ours = 0.0
    for _ in range(_ROUNDS):
        for text in questions:
            start = time.perf_counter()
            nearest = (
                engine.Query.Nearest(vectors[text].tolist(), using=schema.DENSE),
                engine.Query.Nearest(bm25.embed_query(text), using=schema.SPARSE),
            )
            found = shard.query(
                engine.QueryRequest(
                    limit=_LIMIT,
                    prefetches=[
                        engine.Prefetch(limit=prefetch, query=query, filter=of_book)
                        for query in nearest
                    ],
                    query=engine.Fusion.Dbsf(),  # type: ignore[arg-type]  # the stub forgot its parent
                    with_payload=True,
                )
            )
            _ = [(point.id, point.score, point.payload) for point in found]  # made when read
            middle = time.perf_counter()
            index.search(vectors[text], text, where, _LIMIT, prefetch)
            bare, ours = bare + middle - start, ours + time.perf_counter() - middle
    asked = _ROUNDS * len(questions)
    print("\n| search, vectors at hand | a second | of the engine |\n|---|---|---|")
    print(f"| Qdrant Edge alone, the same query, answers read | {asked / bare:.0f} | 100 % |")
    print(f"| `EdgeIndex.search` | {asked / ours:.0f} | {bare / ours:.0%} |")


async def answering(parts: Parts, questions: list[str], where: ChunkFilter) -> None:
    """Print when the first sentence of an answer comes, and the whole; asked for the first time."""
    firsts, wholes = [], []
    for text in questions:
        start = time.perf_counter()
        first = None
        async with aclosing(parts.asking.stream(Question(text, where))) as events:
            async for event in events:
                first = first or time.perf_counter() - start
                if isinstance(event, Answer) and not event.refused:
                    firsts.append(first * 1000)
                    wholes.append((time.perf_counter() - start) * 1000)
    print("\n| answer, extractive | median ms |\n|---|---|")
    print(f"| first sentence | {median(firsts):.0f} |")
    print(f"| whole answer | {median(wholes):.0f} |")


async def measure() -> None:
    """Run all three on the plain questions of the golden set."""
    parts = Parts(load_settings())
    where = ChunkFilter(book_id=parts.settings.book_id)
    golden = load_golden(_GOLDEN)
    questions = [q.question for q in golden.questions if q.kind == "plain"]
    await parts.asking.search("warm up", where, _LIMIT)
    await searching(parts, questions, where)
    await against_engine(parts, questions, where)
    await answering(parts, questions, where)


def main() -> None:
    """Print the three tables."""
    anyio.run(measure)


if __name__ == "__main__":
    main()
