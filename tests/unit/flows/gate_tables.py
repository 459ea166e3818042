"""Each gate on rows as Python holds them, and what it found."""

import pyarrow as pa
from running import ROOT

from askbook.book.chunk import chunk_lesson
from askbook.book.presets import PRESETS
from askbook.book.source import decode
from askbook.payload import embedded_hash, to_record
from flows.expectations import (
    Failure,
    GateResult,
    GateSettings,
    check_chunks,
    check_embeddings,
    check_files,
    check_index,
    check_plan,
)
from flows.tables import CHUNKS, INDEX, vectors_schema

BOOK = ROOT / "data" / "books" / "physical-ai-robotics"
SETTINGS = GateSettings()
DIMENSIONS = 8


def records(lesson):
    text = decode((BOOK / lesson.source_file).read_bytes(), lesson.source_file)
    for chunk in chunk_lesson(text, lesson, PRESETS["compact"]):
        embedded = embedded_hash(chunk.embedded_text, "model", DIMENSIONS)
        yield to_record(chunk) | {"embedded_text": chunk.embedded_text, "embedded_hash": embedded}


def chunk_gate(rows, settings=SETTINGS):
    return check_chunks(pa.Table.from_pylist(rows, schema=CHUNKS), settings)


def vector_gate(rows, chunk_rows, schema=None):
    table = pa.Table.from_pylist(rows, schema=schema or vectors_schema(DIMENSIONS))
    chunk_table = pa.Table.from_pylist(chunk_rows, schema=CHUNKS)
    return check_embeddings(table, chunk_table, DIMENSIONS, SETTINGS)


def file_gate(rows, settings=SETTINGS):
    return check_files(pa.Table.from_pylist(rows), settings)


def plan_gate(rows):
    return check_plan(pa.Table.from_pylist(rows), SETTINGS)


def index_gate(rows):
    return check_index(pa.Table.from_pylist(rows, schema=INDEX), SETTINGS)


def failed(result: GateResult) -> list[str]:
    return [failure.expectation for failure in result.failures]


def only_failure(result: GateResult) -> Failure:
    assert len(result.failures) == 1, failed(result)
    return result.failures[0]


def fill(name, value):
    def spoil(rows):
        rows[1][name] = value

    return spoil
