"""What is expected of the table between two stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from askbook.models import DIFFICULTIES, HARDWARE_TIERS, LAYERS, PROFICIENCY_LEVELS, Action
from flows.checkpoints import CHUNKS
from flows.expectations import columns
from flows.expectations.engine import failures_of
from flows.expectations.results import Failure, GateResult, GateSettings

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

SHA256 = r"^[0-9a-f]{64}$"
UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
NORM_TOLERANCE = 1e-3
CHUNKS_FOR_SHARES = 20  # fewer say nothing about a distribution

FILES = (
    "source_file", "source_file_hash", "location", "module", "chapter", "lesson",
    "quarantine_reason", "quarantine_line",
)  # fmt: skip
PLAN = ("action", "source_file", "reason", "content_hash")
EMBEDDINGS = ("embedded_hash", "vector", "embedded_at", "origin")
INDEX = ("source_file", "expected", "found")
OPTIONAL_IN_CHUNKS = {
    "section_title", "section_id", "difficulty", "prev_chunk_id", "next_chunk_id", "page_number",
}  # fmt: skip
LOCATED = ("source_file_hash", "location", "module", "chapter", "lesson")
TO_INDEX = (Action.NEW, Action.MODIFIED, Action.MOVED)

EITHER_MISSING = "either_value_is_missing"  # missing_fields tells that already


def check_files(table: pa.Table, settings: GateSettings) -> GateResult:
    """Every file once, located or quarantined; not too many of them quarantined."""
    if wrong := _wrong_columns("files", table, FILES):
        return wrong
    from great_expectations import expectations as gxe

    quarantined = columns.present(table["quarantine_reason"])
    frame = table.select([*FILES[:-1]]).to_pandas()
    missing = columns.missing_fields(table, LOCATED, where=~quarantined)
    unnamed = columns.missing_fields(table, ["source_file"])
    frame["missing_fields"] = np.where(unnamed == None, missing, unnamed)  # noqa: E711 - by element
    frame["quarantined"] = quarantined.astype(np.int8)
    expectations = [
        gxe.ExpectColumnValuesToBeNull(column="missing_fields"),
        gxe.ExpectColumnValuesToBeUnique(column="source_file"),
        gxe.ExpectColumnValuesToBeUnique(column="location"),
        gxe.ExpectColumnValuesToMatchRegex(column="source_file_hash", regex=SHA256),
        gxe.ExpectColumnValuesToBeBetween(column="chapter", min_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="lesson", min_value=0),
    ]
    if table.num_rows:
        share = settings.max_quarantined_share
        expectations.append(
            gxe.ExpectColumnMeanToBeBetween(column="quarantined", min_value=0, max_value=share)
        )
    return _result("files", table, frame, expectations, ["source_file", "quarantine_reason"])


def check_plan(table: pa.Table, settings: GateSettings) -> GateResult:
    """One known action for each file, and the hash of every file that will be indexed."""
    del settings  # every gate is called alike; this one has no threshold
    if wrong := _wrong_columns("plan", table, PLAN):
        return wrong
    from great_expectations import expectations as gxe

    frame = table.select(PLAN).to_pandas()
    indexed = pc.is_in(table["action"], value_set=pa.array([each.value for each in TO_INDEX]))
    hashless = columns.missing_fields(table, ["content_hash"], where=indexed.to_numpy())
    unnamed = columns.missing_fields(table, ["action", "source_file"])
    frame["missing_fields"] = np.where(unnamed == None, hashless, unnamed)  # noqa: E711
    expectations = [
        gxe.ExpectColumnValuesToBeNull(column="missing_fields"),
        gxe.ExpectColumnValuesToBeUnique(column="source_file"),
        gxe.ExpectColumnValuesToBeInSet(column="action", value_set=[a.value for a in Action]),
        gxe.ExpectColumnValuesToMatchRegex(column="content_hash", regex=SHA256),
    ]
    return _result("plan", table, frame, expectations, ["source_file", "action", "reason"])


def check_chunks(table: pa.Table, settings: GateSettings) -> GateResult:
    """Whole chunks with true places, chained within each file; files must not be cut in two."""
    if wrong := _wrong_columns("chunks", table, CHUNKS.names):
        return wrong
    frame = _chunk_frame(table)
    expectations = [*_chunk_values(settings), *_chunk_places()]
    if table.num_rows >= CHUNKS_FOR_SHARES:
        expectations += _chunk_shares(settings)
    return _result("chunks", table, frame, expectations, ["source_file", "chunk_index", "id"])


def check_embeddings(
    table: pa.Table, chunks: pa.Table, dimensions: int, settings: GateSettings
) -> GateResult:
    """One usable vector for every text of these chunks, and for no other."""
    del settings  # every gate is called alike; what a vector must be is not a matter of taste
    if wrong := _wrong_columns("embeddings", table, EMBEDDINGS):
        return wrong
    from great_expectations import expectations as gxe

    near = {"min_value": 1 - NORM_TOLERANCE, "max_value": 1 + NORM_TOLERANCE}
    expectations = [
        gxe.ExpectColumnValuesToBeNull(column="missing_fields"),
        gxe.ExpectColumnValuesToBeUnique(column="embedded_hash"),
        gxe.ExpectColumnValuesToMatchRegex(column="embedded_hash", regex=SHA256),
        gxe.ExpectColumnValuesToBeInSet(column="dimensions", value_set=[dimensions]),
        gxe.ExpectColumnValuesToBeInSet(column="vector_finite", value_set=[True]),
        gxe.ExpectColumnValuesToBeBetween(column="vector_norm", **near),
        gxe.ExpectColumnValuesToBeInSet(column="has_vector", value_set=[True]),
        gxe.ExpectColumnValuesToBeInSet(column="has_chunk", value_set=[True]),
    ]
    frame = _vector_frame(table, chunks, dimensions)
    keys = ["embedded_hash", "source_file", "chunk_index", "origin"]
    return _result("embeddings", table, frame, expectations, keys)


def check_index(table: pa.Table, settings: GateSettings) -> GateResult:
    """As many chunks of each file read back as were written."""
    del settings  # every gate is called alike; a lost chunk is never right
    if wrong := _wrong_columns("index", table, INDEX):
        return wrong
    from great_expectations import expectations as gxe

    frame = table.select(INDEX).to_pandas()
    frame["missing_fields"] = columns.missing_fields(table, INDEX)
    expectations = [
        gxe.ExpectColumnValuesToBeNull(column="missing_fields"),
        gxe.ExpectColumnValuesToBeUnique(column="source_file"),
        gxe.ExpectColumnPairValuesToBeEqual(
            column_A="found", column_B="expected", ignore_row_if=EITHER_MISSING
        ),
    ]
    return _result("index", table, frame, expectations, ["source_file"])


def _chunk_frame(table: pa.Table) -> Any:  # noqa: ANN401 - a pandas frame
    """What the expectations on chunks look at; the texts themselves stay outside."""
    frame = table.select(
        [
            "source_file", "chunk_index", "id", "parent_doc_id", "content_hash", "embedded_hash",
            "source_file_hash", "proficiency_level", "layer", "difficulty", "hardware_tier",
            "chapter", "lesson", "start_char_offset", "end_char_offset", "token_count",
            "total_chunks",
        ]
    ).to_pandas()  # fmt: skip
    required = [name for name in CHUNKS.names if name not in OPTIONAL_IN_CHUNKS]
    frame["missing_fields"] = columns.missing_fields(table, required)
    frame["text_characters"] = columns.characters(table["text"]).to_pandas()
    frame["text_repeated"] = (columns.occurrences(table["text"]) > 1).astype(np.int8)
    frame["chain_break"] = columns.chain_breaks(table)
    frame["chunks_in_file"] = columns.occurrences(table["source_file"])
    frame["parent_of_file"] = columns.first_of_group(table["source_file"], table["parent_doc_id"])
    return frame


def _chunk_values(settings: GateSettings) -> list[Expectation]:
    from great_expectations import expectations as gxe

    tiers = {"min_value": min(HARDWARE_TIERS), "max_value": max(HARDWARE_TIERS)}
    return [
        gxe.ExpectColumnValuesToBeNull(column="missing_fields"),
        gxe.ExpectColumnValuesToBeUnique(column="id"),
        gxe.ExpectColumnValuesToMatchRegex(column="id", regex=UUID),
        gxe.ExpectColumnValuesToMatchRegex(column="parent_doc_id", regex=UUID),
        gxe.ExpectColumnValuesToMatchRegex(column="content_hash", regex=SHA256),
        gxe.ExpectColumnValuesToMatchRegex(column="embedded_hash", regex=SHA256),
        gxe.ExpectColumnValuesToMatchRegex(column="source_file_hash", regex=SHA256),
        gxe.ExpectColumnValuesToBeInSet(
            column="proficiency_level", value_set=list(PROFICIENCY_LEVELS)
        ),
        gxe.ExpectColumnValuesToBeInSet(column="layer", value_set=list(LAYERS)),
        gxe.ExpectColumnValuesToBeInSet(column="difficulty", value_set=list(DIFFICULTIES)),
        gxe.ExpectColumnValuesToBeBetween(column="hardware_tier", **tiers),
        gxe.ExpectColumnValuesToBeBetween(column="text_characters", min_value=1),
        gxe.ExpectColumnValuesToBeBetween(
            column="token_count", min_value=1, max_value=settings.max_tokens
        ),
    ]


def _chunk_places() -> list[Expectation]:
    from great_expectations import expectations as gxe

    def pair(one: str, other: str) -> dict[str, Any]:
        return {"column_A": one, "column_B": other, "ignore_row_if": EITHER_MISSING}

    return [
        gxe.ExpectColumnValuesToBeBetween(column="chapter", min_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="lesson", min_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="start_char_offset", min_value=0),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(
            **pair("end_char_offset", "start_char_offset")
        ),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(**pair("total_chunks", "chunk_index")),
        gxe.ExpectColumnPairValuesToBeEqual(**pair("total_chunks", "chunks_in_file")),
        gxe.ExpectColumnPairValuesToBeEqual(**pair("parent_doc_id", "parent_of_file")),
        gxe.ExpectColumnValuesToBeNull(column="chain_break"),
    ]


def _chunk_shares(settings: GateSettings) -> list[Expectation]:
    from great_expectations import expectations as gxe

    return [
        gxe.ExpectColumnMedianToBeBetween(
            column="token_count", min_value=settings.min_tokens_median
        ),
        gxe.ExpectColumnMeanToBeBetween(
            column="text_repeated", min_value=0, max_value=settings.max_duplicate_share
        ),
    ]


def _vector_frame(table: pa.Table, chunks: pa.Table, dimensions: int) -> Any:  # noqa: ANN401
    """One row per vector, then one per text that has none; never the vectors themselves."""
    import pandas as pd

    squares, right = columns.squared_norms(table["vector"], dimensions)
    frame = table.select(["embedded_hash", "origin"]).to_pandas()
    frame["missing_fields"] = columns.missing_fields(table, EMBEDDINGS)
    frame["dimensions"] = pc.list_value_length(table["vector"]).to_pandas()
    frame["vector_finite"] = np.isfinite(squares) | ~right
    frame["vector_norm"] = np.sqrt(np.where(np.isfinite(squares), squares, np.nan))
    frame["has_vector"] = True

    texts = chunks.select(["embedded_hash", "source_file", "chunk_index"]).to_pandas()
    texts = texts.drop_duplicates("embedded_hash").assign(has_chunk=True)
    return pd.merge(frame, texts, on="embedded_hash", how="outer")
