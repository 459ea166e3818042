"""The gates on real chunks of the sample book: what is good passes, each defect is named."""

import hashlib
import json
import pickle
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from running import ROOT

from askbook.book.chunk import PRESETS, chunk_lesson
from askbook.book.source import decode
from askbook.book.walk import Globs
from askbook.errors import RunRefused
from askbook.models import Action
from askbook.payload import embedded_hash, to_record
from flows.discover import discover
from flows.expectations import (
    Failure,
    GateFailed,
    GateResult,
    GateSettings,
    check_chunks,
    check_embeddings,
    check_files,
    check_index,
    check_plan,
    require,
    write_data_docs,
)
from flows.tables import CHUNKS, INDEX, vectors_schema

BOOK = ROOT / "data" / "books" / "physical-ai-robotics"
SETTINGS = GateSettings()
DIMENSIONS = 8


@pytest.fixture(scope="module")
def lessons():
    return discover(BOOK, "book", globs=Globs(), max_bytes=10**7).lessons


@pytest.fixture(scope="module")
def good_chunks(lessons):
    """The chunks of the three longest files, as stage 3 writes them."""
    longest = sorted(lessons, key=lambda each: -(BOOK / each.source_file).stat().st_size)[:3]
    return [record for lesson in longest for record in records(lesson)]


def records(lesson):
    text = decode((BOOK / lesson.source_file).read_bytes(), lesson.source_file)
    for chunk in chunk_lesson(text, lesson, PRESETS["compact"]):
        embedded = embedded_hash(chunk.embedded_text, "model", DIMENSIONS)
        yield to_record(chunk) | {"embedded_text": chunk.embedded_text, "embedded_hash": embedded}


@pytest.fixture
def chunks(good_chunks):
    """Rows to spoil."""
    return [dict(row) for row in good_chunks]


@pytest.fixture
def vectors(good_chunks):
    random = np.random.default_rng(7)
    rows = []
    for hashed in dict.fromkeys(row["embedded_hash"] for row in good_chunks):
        vector = random.normal(size=DIMENSIONS).astype(np.float32)
        rows.append(
            {
                "embedded_hash": hashed,
                "vector": vector / np.linalg.norm(vector),
                "embedded_at": datetime.now(UTC),
                "origin": "embedded",
            }
        )
    return rows


@pytest.fixture
def files(lessons):
    names = ("source_file", "source_file_hash", "location", "module", "chapter", "lesson")
    return [
        {name: asdict(lesson)[name] for name in names}
        | {"quarantine_reason": None, "quarantine_line": None}
        for lesson in lessons
    ]


@pytest.fixture
def plan(files):
    return [
        {
            "action": Action.NEW.value,
            "source_file": row["source_file"],
            "reason": "not indexed yet",
            "content_hash": row["source_file_hash"],
        }
        for row in files
    ] + [{"action": "deleted", "source_file": "gone.md", "reason": "gone", "content_hash": None}]


@pytest.fixture
def counts():
    return [{"source_file": f"{n}.md", "expected": n, "found": n} for n in range(1, 9)]


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


def test_a_failed_gate_is_an_error_that_names_gate_expectation_and_rows(chunks):
    chunks[1]["hardware_tier"] = 7
    result = chunk_gate(chunks)
    with pytest.raises(GateFailed) as caught:
        require(result)
    assert isinstance(caught.value, RunRefused)
    assert caught.value.result is result
    message = str(caught.value)
    assert message.startswith("The chunks gate failed: 1 of ")
    assert "expect_column_values_to_be_between(hardware_tier, min_value=1, max_value=4)" in message
    assert f"1 of {len(chunks)} rows" in message
    assert f"source_file='{chunks[1]['source_file']}'" in message
    assert "hardware_tier=7" in message
    assert "\n" not in result.summary()
    assert "hardware_tier" in result.summary()


def test_a_failed_gate_travels_between_processes(counts):
    counts[0]["found"] = 9
    result = index_gate(counts)
    again = pickle.loads(pickle.dumps(GateFailed(result)))  # noqa: S301 - our own bytes
    assert again.result == result
    assert json.loads(json.dumps(asdict(result)))["failures"][0]["rows"] == [
        {"source_file": "1.md", "found": 9, "expected": 1}
    ]


def test_long_values_are_shortened(counts):
    counts[0].update(source_file="x" * 500, found=9)
    (row,) = only_failure(index_gate(counts)).rows
    assert row["source_file"] == "x" * 79 + "…"


def test_the_markdown_is_a_table_whatever_the_values(counts):
    counts[0].update(source_file="a|b<script>`*\n.md", found=9)
    lines = index_gate(counts).markdown().splitlines()
    assert lines[0] == "### index"
    (row,) = [line for line in lines if "expect" in line and "found" in line and "|" in line]
    assert row.replace("\\|", "").count("|") == 4
    assert "<script>" not in row
    assert index_gate([]).markdown().endswith("on 0 rows: all hold.\n")


def test_the_page_kept_with_the_run_stands_alone_and_escapes_values(tmp_path, counts, files):
    counts[0].update(source_file="<script>alert(1)</script>", found=9)
    path = write_data_docs([file_gate(files), index_gate(counts)], tmp_path / "run" / "gates")
    page = path.read_text("utf-8")
    assert path.parent == tmp_path / "run" / "gates"
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http" not in page
    assert "expect_column_pair_values_to_be_equal(found, expected)" in page
    assert "<td>files</td>" in page


def test_gates_print_nothing():
    script = """
import pyarrow as pa
from flows.expectations import GateSettings, check_index, preload
preload()
good = pa.table({"source_file": ["a"], "expected": [1], "found": [1]})
bad = pa.table({"source_file": ["a", None], "expected": [1, 2], "found": [2, 2]})
for table in (good, bad, good.drop_columns(["found"])):
    check_index(table, GateSettings())
"""
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_gates_print_nothing_when_they_fail_in_this_process(capfd, chunks, vectors):
    chunks[0].update(hardware_tier=7, text="")
    chunk_gate(chunks)
    vector_gate(vectors[1:], chunks)
    assert capfd.readouterr() == ("", "")


def test_gates_of_several_threads_do_not_mix_their_rows():
    def table(number):
        names = [f"{number}-{n}.md" for n in range(50)]
        found = [n if n != number else -1 for n in range(50)]
        return pa.table({"source_file": names, "expected": list(range(50)), "found": found})

    results = {}

    def run(number):
        results[number] = check_index(table(number), SETTINGS)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(8):
        rows = only_failure(results[number]).rows
        assert rows == [{"source_file": f"{number}-{number}.md", "found": -1, "expected": number}]


def test_importing_the_gates_loads_neither_great_expectations_nor_pandas():
    script = (
        "import sys, flows.expectations; print({'great_expectations', 'pandas'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "set()\n"
