"""What a gate found is told in errors, in tables and on a page; gates themselves are quiet."""

import json
import pickle
import subprocess
import sys
import threading
from dataclasses import asdict

import pyarrow as pa
import pytest
from gate_tables import (
    SETTINGS,
    chunk_gate,
    file_gate,
    index_gate,
    only_failure,
    vector_gate,
)
from running import ROOT

from askbook.errors import RunRefused
from flows.expectations import (
    GateFailed,
    check_index,
    require,
    write_data_docs,
)


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
