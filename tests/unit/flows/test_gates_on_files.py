"""The gates on files, on the plan and on what the index holds."""

from dataclasses import replace

import pytest
from gate_tables import SETTINGS, file_gate, index_gate, only_failure, plan_gate


@pytest.mark.parametrize(
    ("changes", "expectation"),
    [
        ({"source_file_hash": "xyz"}, "expect_column_values_to_match_regex(source_file_hash"),
        ({"source_file_hash": None}, "expect_column_values_to_be_null(missing_fields)"),
        ({"source_file": None}, "expect_column_values_to_be_null(missing_fields)"),
        ({"chapter": -1}, "expect_column_values_to_be_between(chapter, min_value=0)"),
        ({"lesson": -1}, "expect_column_values_to_be_between(lesson, min_value=0)"),
    ],
)
def test_a_spoilt_file_row_fails_exactly_its_expectation(files, changes, expectation):
    files[4].update(changes)
    failure = only_failure(file_gate(files))
    assert failure.expectation.startswith(expectation)
    assert [row["source_file"] for row in failure.rows] == [files[4]["source_file"]]


@pytest.mark.parametrize("column", ["source_file", "location"])
def test_two_files_of_one_name_or_place_are_both_shown(files, column):
    files[4][column] = files[5][column]
    failure = only_failure(file_gate(files))
    assert failure.expectation == f"expect_column_values_to_be_unique({column})"
    assert len(failure.rows) == 2


def quarantine(rows):
    for row in rows:
        row.update(dict.fromkeys(row.keys() - {"source_file"}))
        row["quarantine_reason"] = "is not UTF-8"


def test_more_quarantined_files_than_the_share_allows_stop_the_run(files):
    quarantine(files[: len(files) // 2 + 1])
    failure = only_failure(file_gate(files))
    assert failure.expectation == "expect_column_mean_to_be_between(quarantined, max_value=0.5)"
    assert failure.observed == f"{(len(files) // 2 + 1) / len(files):.4g}"
    assert {row["quarantine_reason"] for row in failure.rows} == {"is not UTF-8"}
    assert file_gate(files, replace(SETTINGS, max_quarantined_share=0.8)).passed


def test_exactly_the_allowed_share_of_quarantined_files_passes(files):
    files = files[:10]
    quarantine(files[:5])
    assert file_gate(files).passed


@pytest.mark.parametrize(
    ("changes", "expectation"),
    [
        ({"action": "renamed"}, "expect_column_values_to_be_in_set(action"),
        ({"action": None}, "expect_column_values_to_be_null(missing_fields)"),
        ({"content_hash": None}, "expect_column_values_to_be_null(missing_fields)"),
        ({"content_hash": "0"}, "expect_column_values_to_match_regex(content_hash"),
        ({"source_file": "gone.md"}, "expect_column_values_to_be_unique(source_file)"),
    ],
)
def test_a_spoilt_step_of_the_plan_fails_exactly_its_expectation(plan, changes, expectation):
    plan[2].update(changes)
    failure = only_failure(plan_gate(plan))
    assert failure.expectation.startswith(expectation)
    assert plan[2]["source_file"] in {row["source_file"] for row in failure.rows}


def test_counts_that_differ_are_shown_file_by_file(counts):
    counts[2]["found"] = 0
    failure = only_failure(index_gate(counts))
    assert failure.expectation == "expect_column_pair_values_to_be_equal(found, expected)"
    assert failure.observed == "1 of 8 rows"
    assert failure.rows == [{"source_file": "3.md", "found": 0, "expected": 3}]
