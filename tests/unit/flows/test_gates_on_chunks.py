"""The gates on real chunks of the sample book: what is good passes, each defect is named."""

from dataclasses import replace

import pyarrow as pa
import pytest
from gate_tables import (
    SETTINGS,
    chunk_gate,
    failed,
    file_gate,
    fill,
    index_gate,
    only_failure,
    plan_gate,
    vector_gate,
)

from flows.expectations import (
    check_chunks,
    check_files,
    check_plan,
    require,
)
from flows.tables import CHUNKS


def test_good_tables_pass_every_gate(chunks, vectors, files, plan, counts):
    results = [
        file_gate(files),
        plan_gate(plan),
        chunk_gate(chunks),
        vector_gate(vectors, chunks),
        index_gate(counts),
    ]
    assert [result.failures for result in results] == [()] * 5
    assert [result.gate for result in results] == [
        "files", "plan", "chunks", "embeddings", "index",
    ]  # fmt: skip
    assert [result.checked for result in results] == [
        len(files), len(plan), len(chunks), len(vectors), len(counts),
    ]  # fmt: skip
    assert len(chunks) >= 20, "the distribution is checked, too"
    for result in results:
        assert require(result) is result
        assert result.summary().startswith(f"{result.gate} gate passed: {result.expectations} exp")


def test_empty_tables_pass(files, plan):
    no_files = pa.Table.from_pylist(files).slice(0, 0)
    no_plan = pa.Table.from_pylist(plan).slice(0, 0)
    for result in (
        check_files(no_files, SETTINGS),
        check_plan(no_plan, SETTINGS),
        chunk_gate([]),
        vector_gate([], []),
        index_gate([]),
    ):
        assert require(result).checked == 0


@pytest.mark.parametrize(
    ("spoil", "expectation", "shown"),
    [
        (fill("text", " \n\t"), "expect_column_values_to_be_between(text_characters, min_value=1)",
         {"text_characters": 0}),
        (fill("text", None), "expect_column_values_to_be_null(missing_fields)",
         {"missing_fields": "text"}),
        (fill("module", None), "expect_column_values_to_be_null(missing_fields)",
         {"missing_fields": "module"}),
        (fill("start_char_offset", None), "expect_column_values_to_be_null(missing_fields)",
         {"missing_fields": "start_char_offset"}),
        (fill("hardware_tier", 7),
         "expect_column_values_to_be_between(hardware_tier, min_value=1, max_value=4)",
         {"hardware_tier": 7}),
        (fill("chapter", -1), "expect_column_values_to_be_between(chapter, min_value=0)",
         {"chapter": -1}),
        (fill("lesson", -2), "expect_column_values_to_be_between(lesson, min_value=0)",
         {"lesson": -2}),
        (fill("proficiency_level", "D1"), "expect_column_values_to_be_in_set(proficiency_level",
         {"proficiency_level": "D1"}),
        (fill("layer", "L9"), "expect_column_values_to_be_in_set(layer", {"layer": "L9"}),
        (fill("difficulty", "hard"), "expect_column_values_to_be_in_set(difficulty",
         {"difficulty": "hard"}),
        (fill("content_hash", "0" * 63), "expect_column_values_to_match_regex(content_hash",
         {"content_hash": "0" * 63}),
        (fill("embedded_hash", "F" * 64), "expect_column_values_to_match_regex(embedded_hash",
         {"embedded_hash": "F" * 64}),
        (fill("source_file_hash", ""), "expect_column_values_to_match_regex(source_file_hash",
         {"source_file_hash": ""}),
        (fill("start_char_offset", -1),
         "expect_column_values_to_be_between(start_char_offset, min_value=0)",
         {"start_char_offset": -1}),
        (lambda rows: rows[1].update(start_char_offset=9, end_char_offset=9),
         "expect_column_pair_values_a_to_be_greater_than_b(end_char_offset, start_char_offset)",
         {"start_char_offset": 9, "end_char_offset": 9}),
        (fill("token_count", 1025),
         "expect_column_values_to_be_between(token_count, min_value=1, max_value=1024)",
         {"token_count": 1025}),
        (fill("token_count", 0),
         "expect_column_values_to_be_between(token_count, min_value=1, max_value=1024)",
         {"token_count": 0}),
        (fill("parent_doc_id", "00000000-0000-0000-0000-000000000000"),
         "expect_column_pair_values_to_be_equal(parent_doc_id, parent_of_file)",
         {"parent_doc_id": "00000000-0000-0000-0000-000000000000"}),
        (fill("total_chunks", 99),
         "expect_column_pair_values_to_be_equal(total_chunks, chunks_in_file)",
         {"total_chunks": 99}),
        (fill("prev_chunk_id", None), "expect_column_values_to_be_null(chain_break)",
         {"chain_break": "prev_chunk_id is not the one before"}),
        (fill("next_chunk_id", "elsewhere"), "expect_column_values_to_be_null(chain_break)",
         {"chain_break": "next_chunk_id is not the one after"}),
    ],
)  # fmt: skip
def test_a_spoilt_chunk_fails_exactly_its_expectation_and_is_shown(
    chunks, spoil, expectation, shown
):
    spoil(chunks)
    failure = only_failure(chunk_gate(chunks))
    assert failure.expectation.startswith(expectation)
    assert failure.observed == f"1 of {len(chunks)} rows"
    (row,) = failure.rows
    assert row["source_file"] == chunks[1]["source_file"]
    assert row["id"] == chunks[1]["id"]
    assert row.items() >= shown.items()


def test_chunks_with_one_id_are_both_shown(chunks):
    first = [row for row in chunks if row["source_file"] == chunks[0]["source_file"]]
    twins = [
        row | {"source_file": "copy.md", "text": f"another text {n}"} for n, row in enumerate(first)
    ]
    failure = only_failure(chunk_gate([*chunks, *twins]))
    assert failure.expectation == "expect_column_values_to_be_unique(id)"
    assert failure.observed == f"{2 * len(twins)} of {len(chunks) + len(twins)} rows"
    assert len(failure.rows) == 5


def test_an_id_that_is_no_uuid_is_named(chunks):
    chunks[0]["id"] = chunks[1]["prev_chunk_id"] = "not-a-uuid"
    failure = only_failure(chunk_gate(chunks))
    assert failure.expectation.startswith("expect_column_values_to_match_regex(id, regex=")
    assert failure.rows[0]["id"] == "not-a-uuid"


def test_the_ends_of_a_chain_link_nowhere(chunks):
    of_one_file = [row for row in chunks if row["source_file"] == chunks[0]["source_file"]]
    of_one_file[0]["prev_chunk_id"] = of_one_file[-1]["id"]
    of_one_file[-1]["next_chunk_id"] = of_one_file[0]["id"]
    failure = only_failure(chunk_gate(chunks))
    assert [row["chain_break"] for row in failure.rows] == [
        "the first chunk has a prev_chunk_id",
        "the last chunk has a next_chunk_id",
    ]


def test_the_chain_does_not_depend_on_the_order_of_the_rows(chunks):
    assert chunk_gate(chunks[::-1]).passed


def test_a_lost_chunk_breaks_chain_and_total(chunks):
    del chunks[1]
    assert failed(chunk_gate(chunks)) == [
        "expect_column_pair_values_to_be_equal(total_chunks, chunks_in_file)",
        "expect_column_values_to_be_null(chain_break)",
    ]


def test_an_index_beyond_the_total_is_named(chunks):
    last = [row for row in chunks if row["source_file"] == chunks[0]["source_file"]][-1]
    last["chunk_index"] = last["total_chunks"]
    result = chunk_gate(chunks)
    assert failed(result) == [
        "expect_column_pair_values_a_to_be_greater_than_b(total_chunks, chunk_index)",
        "expect_column_values_to_be_null(chain_break)",
    ]
    assert "chunk_index is not its position" in result.failures[1].rows[0]["chain_break"]


@pytest.mark.parametrize("column", ["text", "id", "embedded_hash", "next_chunk_id"])
def test_a_missing_column_is_named_and_nothing_else_is_asked(chunks, column):
    table = pa.Table.from_pylist(chunks, schema=CHUNKS).drop_columns([column])
    failure = only_failure(check_chunks(table, SETTINGS))
    assert failure.expectation == "expect_table_columns_to_match_set()"
    assert failure.observed == f"missing: {column}"


def test_the_median_length_is_checked_from_20_chunks_on(chunks):
    for row in chunks:
        row["token_count"] = 19
    failure = only_failure(chunk_gate(chunks))
    assert failure.expectation == "expect_column_median_to_be_between(token_count, min_value=20)"
    assert failure.observed == "19"
    assert len(failure.rows) == 5
    first = [row for row in chunks if row["source_file"] == chunks[0]["source_file"]]
    assert len(first) < 20
    assert chunk_gate(first).passed


def test_too_many_repeated_texts_are_shown(chunks):
    for row in chunks[: len(chunks) // 2 + 1]:
        row["text"] = "The same."
    share = (len(chunks) // 2 + 1) / len(chunks)
    failure = only_failure(chunk_gate(chunks))
    expected = "expect_column_mean_to_be_between(text_repeated, max_value=0.5)"
    assert failure.expectation == expected
    assert failure.observed == f"{share:.4g}"
    assert {row["text_repeated"] for row in failure.rows} == {1}
    assert chunk_gate(chunks, replace(SETTINGS, max_duplicate_share=0.9)).passed
