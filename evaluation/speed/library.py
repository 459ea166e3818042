"""A library that grows: what does searching cost with a hundred times as many chunks?

    python -m evaluation.speed.library --chunks 10000 100000 [--quantization none int8]

Chunks are made by a seeded generator and embedded by feature hashing, so that neither a model nor
a parser is measured. Every line is a process of its own: its peak memory is that of one build and
its searches. Recall is that of the ten nearest by the engine against an exact scan by numpy.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
import qdrant_edge as engine

from askbook.index.edge import EdgeIndex
from askbook.index.integrity import allocated
from askbook.index.schema import DENSE, Layout
from askbook.models import ChunkFilter, IndexPoint
from askbook.ports import Vectors
from askbook.providers.hashing import HashingEmbedder

_WORDS = 20_000  # of the made language; common ones come often, rare ones seldom, as in books
_WORDS_A_CHUNK = 120
_CHUNKS_A_FILE = 10
_FILES_A_BOOK = 1_000
_QUERIES = 200
_EXACT = 50  # queries whose neighbours are also found by a scan
_BEST = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """One library, built and searched."""

    chunks: int
    quantization: str
    generate_seconds: float  # making texts and vectors: not askbook's work
    upsert_seconds: float
    publish_seconds: float
    cpu_seconds: float  # of all three, on all cores: says more on a busy machine
    open_seconds: float  # another reader: every byte is checked
    peak_mb: float
    disk_mb: float
    search_p50_ms: float
    search_p95_ms: float
    in_one_book_p50_ms: float
    recall_at_10: float


def main() -> None:
    """Measure every size with every quantization, one process each; print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--quantization", nargs="+", choices=["none", "int8"], default=["none"])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # what a child measures
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(asdict(measure(int(asked.one[0]), asked.one[1]))))
        return
    found = []
    for quantization in asked.quantization:
        for chunks in asked.chunks:
            found.append(_in_a_process(chunks, quantization))
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    print(table(found))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def table(found: list[dict[str, float]]) -> str:
    """The figures as Markdown, a column per library."""
    names = [name for name in found[0] if name != "chunks"]
    lines = ["| | " + " | ".join(f"{each['chunks']:,} chunks" for each in found) + " |"]
    lines.append("|---|" + "---|" * len(found))
    lines += [
        f"| {name.replace('_', ' ')} | " + " | ".join(str(each[name]) for each in found) + " |"
        for name in names
    ]
    return "\n".join(lines)


def _in_a_process(chunks: int, quantization: str) -> dict[str, float]:
    command = [sys.executable, "-m", "evaluation.speed.library", "--one", str(chunks), quantization]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def measure(chunks: int, quantization: str) -> Measured:
    """Build one library in a folder that is gone afterwards, and search it."""
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder) / "index", layout=Layout(quantized=quantization == "int8"))
        made = _Made(chunks)
        started = time.perf_counter()
        with index.build(embedding_model=made.model, dimensions=made.dimensions) as draft:
            draft.upsert(made.points())
            upserted = time.perf_counter() - started - made.seconds
            started = time.perf_counter()
            draft.publish()
            published = time.perf_counter() - started
        used = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        reader = EdgeIndex(Path(folder) / "index")
        if reader.count(ChunkFilter()) != chunks:
            raise SystemExit("chunks were lost")
        opened = time.perf_counter() - started
        anywhere = _search(reader, made, ChunkFilter())
        in_book = _search(reader, made, ChunkFilter(book_id="book-0"))
        return Measured(
            chunks=chunks,
            quantization=quantization,
            generate_seconds=round(made.seconds, 1),
            upsert_seconds=round(upserted, 1),
            publish_seconds=round(published, 1),
            cpu_seconds=round(used.ru_utime + used.ru_stime, 1),
            open_seconds=round(opened, 2),
            peak_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
            disk_mb=round(allocated(Path(folder)) / 1e6),
            search_p50_ms=round(median(anywhere) * 1e3, 2),
            search_p95_ms=round(float(np.quantile(anywhere, 0.95)) * 1e3, 2),
            in_one_book_p50_ms=round(median(in_book) * 1e3, 2),
            recall_at_10=round(_recall(Path(folder) / "index", reader, made), 4),
        )


class _Made:
    """Chunks from a seed; their vectors are kept for the exact scan, on disk."""

    def __init__(self, chunks: int) -> None:
        self._embedder = HashingEmbedder()
        self.model, self.dimensions = self._embedder.model, self._embedder.dimensions
        self.seconds = 0.0
        with tempfile.TemporaryFile() as kept:  # stays as long as it is mapped
            self.vectors = np.memmap(
                kept, dtype=np.float32, mode="w+", shape=(chunks, self.dimensions)
            )
        alphabet = random.Random(1)  # noqa: S311 - words, not secrets
        letters = "abcdefghijklmnoprstuvwz"
        self._words = ["".join(alphabet.choices(letters, k=7)) for _ in range(_WORDS)]

    def points(self) -> Iterator[IndexPoint]:
        """Every chunk once, in order."""
        for number in range(len(self.vectors)):
            started = time.perf_counter()
            text = self._text(number, _WORDS_A_CHUNK)
            vector = self.embed(text)
            self.vectors[number] = vector
            point = self._point(number, text, vector)
            self.seconds += time.perf_counter() - started
            yield point

    def queries(self) -> list[str]:
        """Texts that nobody wrote, in the same language."""
        return [self._text(-number - 1, 8) for number in range(_QUERIES)]

    def embed(self, text: str) -> Vectors:
        """The embedder's own way, without an event loop per text."""
        return self._embedder._embed(text)  # noqa: SLF001

    def _text(self, seed: int, words: int) -> str:
        chosen = random.Random(seed)  # noqa: S311 - words, not secrets
        return " ".join(
            self._words[int(_WORDS ** chosen.random()) - 1]  # word frequencies of natural language
            for _ in range(words)
        )

    def _point(self, number: int, text: str, vector: Vectors) -> IndexPoint:
        file = number // _CHUNKS_A_FILE
        book = file // _FILES_A_BOOK
        payload: dict[str, object] = {
            "book_id": f"book-{book}",
            "text": text,
            "module": f"module-{file % 20}",
            "chapter": file % 50,
            "lesson": file % 10,
            "source_file": f"{file}.md",
            "chunk_index": number % _CHUNKS_A_FILE,
            "embedded_hash": f"{number:064}",
        }
        return IndexPoint(str(uuid.UUID(int=number)), vector.tolist(), text, payload)


def _search(index: EdgeIndex, made: _Made, where: ChunkFilter) -> list[float]:
    """Seconds of each query, as askbook asks: dense and BM25, fused, with payloads."""
    asked = [(made.embed(text), text) for text in made.queries()]
    for vector, text in asked[:20]:
        index.search(vector, text, where, _BEST, 100)
    seconds = []
    for vector, text in asked:
        started = time.perf_counter()
        index.search(vector, text, where, _BEST, 100)
        seconds.append(time.perf_counter() - started)
    return seconds


def _recall(folder: Path, index: EdgeIndex, made: _Made) -> float:
    """Share of the ten nearest by a scan that the engine's graph finds too."""
    version = folder / "versions" / index.versions()[0].name
    shard = engine.EdgeShard.load(str(version))
    found = 0
    for text in made.queries()[:_EXACT]:
        vector = made.embed(text)
        near = shard.query(
            engine.QueryRequest(
                limit=_BEST, query=engine.Query.Nearest(vector.tolist(), using=DENSE)
            )
        )
        scores = made.vectors @ vector
        least = np.partition(scores, -_BEST)[-_BEST] - 1e-6  # ties count as found
        found += sum(scores[uuid.UUID(str(point.id)).int] >= least for point in near)
    return found / (_EXACT * _BEST)


if __name__ == "__main__":
    os.nice(10)  # a measurement that takes minutes lets others work
    main()
