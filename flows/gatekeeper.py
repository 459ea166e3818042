"""The gates' process: a JSON question a line in, a JSON answer a line out, until input ends."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any  # the messages are JSON

import pyarrow as pa

from flows import expectations
from flows.checkpoints import Checkpoints
from flows.expectations import GateResult, GateSettings
from flows.lazily import collect_rarely, do_without, load_lazily
from flows.tables import INDEX, vectors_schema


def answer(question: dict[str, Any]) -> GateResult:
    """Read the named part and check it."""
    settings = GateSettings(**question["settings"])
    if question["gate"] == "index":
        return expectations.check_index(
            pa.Table.from_pylist(question["rows"], schema=INDEX), settings
        )
    checkpoints = Checkpoints(question["folder"])
    if question["gate"] == "embeddings":
        prefix = f"vectors-{question['part'].removeprefix('chunks-')}-"
        empty = vectors_schema(question["dimensions"]).empty_table()  # a shard of empty pages
        vectors = pa.concat_tables([empty, *checkpoints.read_all(prefix)])
        chunks = checkpoints.read(
            question["part"], ["id", "embedded_hash", "source_file", "chunk_index"]
        )
        return expectations.check_embeddings(vectors, chunks, question["dimensions"], settings)
    checks = {
        "files": expectations.check_files,
        "plan": expectations.check_plan,
        "chunks": expectations.check_chunks,
    }
    return checks[question["gate"]](checkpoints.read(question["part"]), settings)


def main() -> None:
    """Serve until standard input closes."""
    collect_rarely()
    # Great Expectations needs these two for a chart and for tests of distributions: 1 s of CPU.
    load_lazily("altair", "scipy.stats")
    do_without("sqlalchemy")  # tables in databases are not checked: 0.3 s of CPU
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints must not mix in
    expectations.preload()
    for line in sys.stdin:
        try:
            told = asdict(answer(json.loads(line)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the owner must be told
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told, default=str), file=answers, flush=True)


if __name__ == "__main__":
    main()
