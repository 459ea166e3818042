"""One report of all benchmarks: what the parts print becomes Markdown, JSON and plots."""

import json
import sys

import pytest

from evaluation.speed import report

TABLE = """Some words.

| | cold | edit |
|---|---|---|
| ours | 3.25 s | 1,000 ms |
| theirs | 6.50 s (2.0 ×) | 1 ms |

| floor | CPU seconds |
|---|---|
| hashing | 0.10 s |
"""


def test_the_tables_of_a_part_are_read_by_column():
    phases, floors = report.read_tables(TABLE)
    assert phases[1] == {"": "theirs", "cold": "6.50 s (2.0 ×)", "edit": "1 ms"}
    assert floors == [{"floor": "hashing", "CPU seconds": "0.10 s"}]


@pytest.mark.parametrize(("cell", "value"), [("6.50 s (2.0 ×)", 6.5), ("1,000 ms", 1000.0)])
def test_a_cell_is_drawn_by_its_first_number(cell, value):
    assert report.number(cell) == value


def test_a_part_that_fails_is_named_and_the_others_are_reported(tmp_path, monkeypatch, capfd):
    (tmp_path / "part_of_bench.py").write_text(f"print({TABLE!r})")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    drawn = (
        "seconds",
        lambda rows: {row[""]: {"cold": report.number(row["cold"])} for row in rows},
    )
    known = {
        "good": report.Part("Good", ("part_of_bench",), drawn),
        "bad": report.Part("Bad", ("no_such_part",)),
    }
    monkeypatch.setattr(report, "parts", lambda *_: known)
    monkeypatch.setattr(sys, "argv", ["report", "--into", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as ended:
        report.main()
    assert ended.value.code
    told = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "| theirs | 6.50 s (2.0 ×) | 1 ms |" in told
    assert "## Bad" in told
    assert told.count("**This part failed.**") == 1
    assert "3.25" in (tmp_path / "out" / "good.svg").read_text("utf-8")
    figures = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert figures["parts"][0]["tables"][1] == [{"floor": "hashing", "CPU seconds": "0.10 s"}]
    assert "## Good" in capfd.readouterr().out
