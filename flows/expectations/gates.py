"""What is expected of the table between two stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from askbook.models import DIFFICULTIES, HARDWARE_TIERS, LAYERS, PROFICIENCY_LEVELS, Action
from flows.expectations import columns, expect
from flows.expectations.engine import failures_of
from flows.expectations.results import GateResult, GateSettings
from flows.tables import CHUNKS

if TYPE_CHECKING:
    import pandas as pd
    from great_expectations.expectations.expectation import Expectation

SHA256 = r"^[0-9a-f]{64}$"
UUID = r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
NORM_TOLERANCE = 1e-3
ENOUGH_CHUNKS = 20  # fewer say nothing about a distribution

LOCATED = ("source_file_hash", "location", "module", "chapter", "lesson")
FILES = ("source_file", *LOCATED, "quarantine_reason", "quarantine_line")
PLAN = ("action", "source_file", "reason", "content_hash")
EMBEDDINGS = ("embedded_hash", "vector", "embedded_at", "origin")
INDEX = ("source_file", "expected", "found")
CHUNKS_OPTIONAL = {
    "section_title", "section_id", "difficulty", "prev_chunk_id", "next_chunk_id", "page_number",
}  # fmt: skip
TO_INDEX = [Action.NEW.value, Action.MODIFIED.value, Action.MOVED.value]


def check_files(table: pa.Table, settings: GateSettings) -> GateResult:
    """Every file once, located or quarantined; not too many of them quarantined."""
    if wrong := _without_columns("files", table, FILES):
        return wrong
    quarantined = columns.present(table["quarantine_reason"])
    frame = table.select([name for name in FILES if name != "quarantine_line"]).to_pandas()
    frame["missing_fields"] = columns.missing_fields(
        table, {"source_file": None} | dict.fromkeys(LOCATED, ~quarantined)
    )
    frame["quarantined"] = quarantined.astype(np.int8)
    expectations = [
        expect.null("missing_fields"),
        expect.unique("source_file"),
        expect.unique("location"),
        expect.matching("source_file_hash", SHA256),
        expect.between("chapter", 0),
        expect.between("lesson", 0),
    ]
    if table.num_rows:
        expectations.append(expect.mean("quarantined", settings.max_quarantined_share))
    return _result("files", table, frame, expectations, ["source_file", "quarantine_reason"])


def check_plan(table: pa.Table, settings: GateSettings) -> GateResult:
    """One known action for each file, and the hash of every file that will be indexed."""
    del settings  # all gates are called alike; this one has no threshold
    if wrong := _without_columns("plan", table, PLAN):
        return wrong
    indexed = pc.is_in(table["action"], value_set=pa.array(TO_INDEX)).to_numpy()
    frame = table.select(PLAN).to_pandas()
    frame["missing_fields"] = columns.missing_fields(
        table, {"action": None, "source_file": None, "content_hash": indexed}
    )
    expectations = [
        expect.null("missing_fields"),
        expect.unique("source_file"),
        expect.within("action", [each.value for each in Action]),
        expect.matching("content_hash", SHA256),
    ]
    return _result("plan", table, frame, expectations, ["source_file", "action", "reason"])


def check_chunks(table: pa.Table, settings: GateSettings) -> GateResult:
    """Whole chunks in their true places, chained file by file; a table holds whole files."""
    if wrong := _without_columns("chunks", table, CHUNKS.names):
        return wrong
    expectations = [*_chunk_values(settings), *_chunk_places()]
    if table.num_rows >= ENOUGH_CHUNKS:
        expectations += [
            expect.median("token_count", settings.min_tokens_median),
            expect.mean("text_repeated", settings.max_duplicate_share),
        ]
    keys = ["source_file", "chunk_index", "id"]
    return _result("chunks", table, _chunk_frame(table), expectations, keys)


def check_embeddings(
    table: pa.Table, chunks: pa.Table, dimensions: int, settings: GateSettings
) -> GateResult:
    """One usable vector for every text of these chunks, and for no other.

    Of the chunks, `embedded_hash` is enough; `source_file` and `chunk_index` are shown if there.
    """
    del settings  # all gates are called alike; this one has no threshold
    if wrong := _without_columns("embeddings", table, EMBEDDINGS):
        return wrong
    expectations = [
        expect.null("missing_fields"),
        expect.unique("embedded_hash"),
        expect.matching("embedded_hash", SHA256),
        expect.within("dimensions", [dimensions]),
        expect.within("vector_finite", [True]),
        expect.between("vector_norm", 1 - NORM_TOLERANCE, 1 + NORM_TOLERANCE),
        expect.within("has_vector", [True]),
        expect.within("has_chunk", [True]),
    ]
    places = [name for name in ("source_file", "chunk_index") if name in chunks.column_names]
    frame = _vector_frame(table, chunks.select(["embedded_hash", *places]), dimensions)
    return _result("embeddings", table, frame, expectations, ["embedded_hash", "origin", *places])


def check_index(table: pa.Table, settings: GateSettings) -> GateResult:
    """As many chunks of each file read back as there must be."""
    del settings  # all gates are called alike; this one has no threshold
    if wrong := _without_columns("index", table, INDEX):
        return wrong
    frame = table.select(INDEX).to_pandas()
    frame["missing_fields"] = columns.missing_fields(table, dict.fromkeys(INDEX))
    expectations = [
        expect.null("missing_fields"),
        expect.unique("source_file"),
        expect.equal("found", "expected"),
    ]
    return _result("index", table, frame, expectations, ["source_file"])


def _chunk_values(settings: GateSettings) -> list[Expectation]:
    return [
        expect.null("missing_fields"),
        expect.unique("id"),
        expect.matching("id", UUID),
        expect.matching("parent_doc_id", UUID),
        expect.matching("content_hash", SHA256),
        expect.matching("embedded_hash", SHA256),
        expect.matching("source_file_hash", SHA256),
        expect.within("proficiency_level", PROFICIENCY_LEVELS),
        expect.within("layer", LAYERS),
        expect.within("difficulty", DIFFICULTIES),
        expect.between("hardware_tier", min(HARDWARE_TIERS), max(HARDWARE_TIERS)),
        expect.between("text_characters", 1),
        expect.between("token_count", 1, settings.max_tokens),
    ]


def _chunk_places() -> list[Expectation]:
    return [
        expect.between("chapter", 0),
        expect.between("lesson", 0),
        expect.between("start_char_offset", 0),
        expect.greater("end_char_offset", "start_char_offset"),
        expect.greater("total_chunks", "chunk_index"),
        expect.equal("total_chunks", "chunks_in_file"),
        expect.equal("parent_doc_id", "parent_of_file"),
        expect.null("chain_break"),
    ]


def _chunk_frame(table: pa.Table) -> pd.DataFrame:
    """What the expectations on chunks look at; the texts themselves stay outside."""
    frame = table.select(
        [
            "source_file", "chunk_index", "id", "parent_doc_id", "content_hash", "embedded_hash",
            "source_file_hash", "proficiency_level", "layer", "difficulty", "hardware_tier",
            "chapter", "lesson", "start_char_offset", "end_char_offset", "token_count",
            "total_chunks",
        ]
    ).to_pandas()  # fmt: skip
    required = dict.fromkeys(name for name in CHUNKS.names if name not in CHUNKS_OPTIONAL)
    frame["missing_fields"] = columns.missing_fields(table, required)
    frame["text_characters"] = columns.characters(table["text"]).to_pandas()
    frame["text_repeated"] = (columns.occurrences(table["text"]) > 1).astype(np.int8)
    frame["chain_break"] = columns.chain_breaks(table)
    frame["chunks_in_file"] = columns.occurrences(table["source_file"])
    frame["parent_of_file"] = columns.first_of_group(table["source_file"], table["parent_doc_id"])
    return frame


def _vector_frame(table: pa.Table, chunks: pa.Table, dimensions: int) -> pd.DataFrame:
    """One row per vector, then one per text that has none; never the vectors themselves."""
    import pandas as pd

    squares, right = columns.squared_norms(table["vector"], dimensions)
    frame = table.select(["embedded_hash", "origin"]).to_pandas()
    frame["missing_fields"] = columns.missing_fields(table, dict.fromkeys(EMBEDDINGS))
    frame["dimensions"] = pc.list_value_length(table["vector"]).to_pandas()
    frame["vector_finite"] = np.isfinite(squares) | ~right
    frame["vector_norm"] = np.sqrt(np.where(np.isfinite(squares), squares, np.nan))
    frame["has_vector"] = True

    texts = chunks.to_pandas().drop_duplicates("embedded_hash")
    frame["has_chunk"] = frame["embedded_hash"].isin(texts["embedded_hash"])
    alone = texts[~texts["embedded_hash"].isin(frame["embedded_hash"])]
    frame = frame.merge(texts, on="embedded_hash", how="left")
    if alone.empty:
        return frame
    return pd.concat([frame, alone.assign(has_vector=False, has_chunk=True)], ignore_index=True)


def _without_columns(gate: str, table: pa.Table, wanted: Sequence[str]) -> GateResult | None:
    """The gate's result for a table that lacks columns: then nothing else can be asked."""
    if set(wanted) <= set(table.column_names):
        return None  # a validation of its own for the good case would cost as much as a small gate
    import pandas as pd

    names_only = pd.DataFrame(columns=table.column_names)
    failures = failures_of(names_only, [expect.columns(wanted)], [])
    return GateResult(gate, table.num_rows, 1, failures)


def _result(
    gate: str,
    table: pa.Table,
    frame: pd.DataFrame,
    expectations: Sequence[Expectation],
    keys: Sequence[str],
) -> GateResult:
    failures = failures_of(frame, expectations, keys)
    return GateResult(gate, table.num_rows, len(expectations) + 1, failures)  # 1: its columns
