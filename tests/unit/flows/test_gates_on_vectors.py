"""The gate between embedding and upserting: a vector for every text, and no other."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from gate_tables import (
    DIMENSIONS,
    SETTINGS,
    only_failure,
    vector_gate,
)

from flows.expectations import (
    check_embeddings,
)
from flows.tables import vectors_schema


@pytest.mark.parametrize(
    ("spoil", "expectation", "shown"),
    [
        (lambda v: v * np.nan, "expect_column_values_to_be_in_set(vector_finite",
         {"vector_finite": False}),
        (lambda v: np.append(v[1:], np.float32("inf")),
         "expect_column_values_to_be_in_set(vector_finite", {"vector_finite": False}),
        (lambda v: v * 0, "expect_column_values_to_be_between(vector_norm", {"vector_norm": 0.0}),
        (lambda v: v * np.float32(1.01), "expect_column_values_to_be_between(vector_norm", {}),
        (lambda v: None, "expect_column_values_to_be_null(missing_fields)",
         {"missing_fields": "vector"}),
    ],
)  # fmt: skip
def test_a_spoilt_vector_fails_exactly_its_expectation_and_is_shown(
    chunks, vectors, spoil, expectation, shown
):
    vectors[1]["vector"] = spoil(vectors[1]["vector"])
    failure = only_failure(vector_gate(vectors, chunks))
    assert failure.expectation.startswith(expectation)
    assert failure.observed == f"1 of {len(vectors)} rows"
    (row,) = failure.rows
    assert row["embedded_hash"] == vectors[1]["embedded_hash"]
    assert row["source_file"] == chunks[1]["source_file"]
    assert row.items() >= shown.items()


def test_a_vector_a_hair_off_the_unit_sphere_is_good(chunks, vectors):
    vectors[0]["vector"] = vectors[0]["vector"] * np.float32(1.0005)
    assert vector_gate(vectors, chunks).passed


@pytest.mark.parametrize("dimensions", [DIMENSIONS - 1, 2 * DIMENSIONS])
def test_vectors_of_other_dimensions_are_refused(chunks, vectors, dimensions):
    for row in vectors:
        row["vector"] = np.resize(row["vector"], dimensions)
    failure = only_failure(vector_gate(vectors, chunks, vectors_schema(dimensions)))
    assert failure.expectation == "expect_column_values_to_be_in_set(dimensions, value_set=[8])"
    assert failure.rows[0]["dimensions"] == dimensions


def test_one_short_vector_among_lists_of_any_size_is_refused(chunks, vectors):
    vectors[2]["vector"] = vectors[2]["vector"][:3]
    schema = vectors_schema(DIMENSIONS).set(1, pa.field("vector", pa.list_(pa.float32())))
    failure = only_failure(vector_gate(vectors, chunks, schema))
    assert [row["dimensions"] for row in failure.rows] == [3]
    assert failure.rows[0]["embedded_hash"] == vectors[2]["embedded_hash"]


def test_a_text_without_a_vector_is_shown_with_its_file(chunks, vectors):
    lost = vectors.pop(3)
    failure = only_failure(vector_gate(vectors, chunks))
    assert failure.expectation.startswith("expect_column_values_to_be_in_set(has_vector")
    (row,) = failure.rows
    assert row["embedded_hash"] == lost["embedded_hash"]
    assert row["source_file"] == chunks[3]["source_file"]
    assert row["chunk_index"] == chunks[3]["chunk_index"]


def test_a_vector_that_no_text_asked_for_is_shown(chunks, vectors):
    foreign = hashlib.sha256(b"foreign").hexdigest()
    failure = only_failure(vector_gate([*vectors, vectors[0] | {"embedded_hash": foreign}], chunks))
    assert failure.expectation.startswith("expect_column_values_to_be_in_set(has_chunk")
    assert [row["embedded_hash"] for row in failure.rows] == [foreign]


def test_a_vector_that_comes_twice_is_shown(chunks, vectors):
    failure = only_failure(vector_gate([*vectors, vectors[0]], chunks))
    assert failure.expectation == "expect_column_values_to_be_unique(embedded_hash)"
    assert failure.observed == f"2 of {len(vectors) + 1} rows"


def test_of_the_chunks_the_hashes_are_enough(chunks, vectors):
    hashes = pa.table({"embedded_hash": [row["embedded_hash"] for row in chunks]})
    table = pa.Table.from_pylist(vectors, schema=vectors_schema(DIMENSIONS))
    assert check_embeddings(table, hashes, DIMENSIONS, SETTINGS).passed
    failure = only_failure(check_embeddings(table.slice(1), hashes, DIMENSIONS, SETTINGS))
    assert [row["embedded_hash"] for row in failure.rows] == [vectors[0]["embedded_hash"]]
