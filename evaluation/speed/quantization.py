"""What int8 costs: the nearest neighbours of real vectors, found with and without it.

    askbook eval matrix …                       embeds real texts and keeps their vectors
    python -m evaluation.speed.quantization     reads them

Some vectors are taken out and asked for; the rest is built into Qdrant Edge, several times, since
no two graphs are the same. Recall is the share of the ten nearest by an exact scan that the engine
finds too. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
import uuid
from contextlib import closing
from pathlib import Path
from statistics import mean, median

import numpy as np
import qdrant_edge as engine

from askbook.index.edge import EdgeIndex
from askbook.index.schema import DENSE, Layout
from askbook.models import IndexPoint
from askbook.ports import Vectors
from askbook.settings import load_settings

_QUERIES = 500
_BEST = 10


def read(file: Path, dimensions: int) -> Vectors:
    """All different vectors of this length, in an order of their own."""
    with closing(sqlite3.connect(file)) as database:
        rows = [row for (row,) in database.execute("SELECT v FROM vectors ORDER BY key")]
    kept = {row for row in rows if len(row) == 4 * dimensions}
    vectors = np.stack([np.frombuffer(row, dtype=np.float32) for row in sorted(kept)])
    return np.random.default_rng(1).permutation(vectors)


def recall(vectors: Vectors, queries: Vectors, *, quantized: bool) -> tuple[float, float]:
    """Build an index of `vectors`; returns its recall and the median milliseconds of a query."""
    scores = queries @ vectors.T
    least = np.partition(scores, -_BEST, axis=1)[:, -_BEST] - 1e-6  # ties count as found
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder), layout=Layout(quantized=quantized))
        with index.build(embedding_model="kept", dimensions=vectors.shape[1]) as draft:
            draft.upsert(
                IndexPoint(str(uuid.UUID(int=number)), vector.tolist(), "", {"book_id": "kept"})
                for number, vector in enumerate(vectors)
            )
            version = draft.publish()
        shard = engine.EdgeShard.load(str(Path(folder) / "versions" / version))
        found, spent = 0, []
        for number, query in enumerate(queries):
            nearest = engine.Query.Nearest(query.tolist(), using=DENSE)
            started = time.perf_counter()
            near = shard.query(engine.QueryRequest(limit=_BEST, query=nearest))
            spent.append(time.perf_counter() - started)
            places = [uuid.UUID(str(point.id)).int for point in near]
            found += int((scores[number, places] >= least[number]).sum())
    return found / (_BEST * len(queries)), median(spent) * 1000


def main() -> None:
    """Measure both layouts in turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--vectors", type=Path, default=load_settings().home / "evaluations" / "vectors.sqlite"
    )
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--builds", type=int, default=3)
    given = parser.parse_args()
    vectors = read(given.vectors, given.dimensions)
    queries, vectors = vectors[:_QUERIES], vectors[_QUERIES:]
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for _ in range(given.builds):
        for quantized, results in found.items():
            results.append(recall(vectors, queries, quantized=quantized))
    print(f"{len(vectors):,} vectors of {given.dimensions} numbers, {_QUERIES} queries\n")
    print("| vectors | recall of the ten nearest, by build | mean | median query |")
    print("|---|---|---|---|")
    for quantized, results in found.items():
        shares = [share for share, _ in results]
        told = ", ".join(f"{share:.4f}" for share in shares)
        name = "int8, rescored" if quantized else "float32"
        ms = median(took for _, took in results)
        print(f"| {name} | {told} | {mean(shares):.4f} | {ms:.2f} ms |")


if __name__ == "__main__":
    main()
