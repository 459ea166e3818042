"""Runs are kept whole, read back the same, compared and reported."""

import json
import re
from dataclasses import replace

import pytest

from askbook.errors import DatasetError, WrongUse
from askbook.settings import load_settings
from evaluation.bench import BEIR, Bench, Task
from evaluation.compare import compared, warnings
from evaluation.conditions import Condition
from evaluation.matrix import load_matrix, run_matrix
from evaluation.outcome import Outcome, Row
from evaluation.page import page
from evaluation.report import hardest, markdown
from evaluation.runs import Dataset, RunFolder, make_run

HASHING = Condition(embedder="hashing")
SETTING = {"condition": {}, "label": "default", "seconds": 1.0}


def made_run(*rows: Row, label="default"):
    dataset = Dataset("books", BEIR, "books", "abc")
    outcome = Outcome(rows, main="nDCG@10", curve={5: "R@5"})
    return make_run(dataset, outcome, settings=load_settings(), **SETTING | {"label": label})


def row(key: str, score: float, **more) -> Row:
    return Row(key, f"what is {key}?", {"nDCG@10": score, "R@5": score}, **more)


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setenv("ASKBOOK_EMBEDDER", "hashing")
    monkeypatch.setenv("COHERE_API_KEY", "a-secret-key")
    return Bench(load_settings())


def test_a_run_is_read_back_as_it_was_and_holds_no_secret(bench, ranking):
    run, known = bench.run(Task(ranking, BEIR), HASHING)
    assert not known
    again = bench.runs.load(run.id)
    assert again == bench.runs.load(run.id[:-2]) == bench.runs.load(str(bench.runs.folder / run.id))
    assert again.figures == run.figures
    assert again.outcome.rows == run.outcome.rows
    assert again.key == run.key
    assert "a-secret-key" not in (bench.runs.folder / run.id / "run.json").read_text()


def test_the_same_inputs_give_the_same_scores_and_are_recognized(bench, ranking):
    first, _ = bench.run(Task(ranking, BEIR), HASHING)
    second, _ = bench.run(Task(ranking, BEIR), HASHING)
    assert first.figures == second.figures
    assert first.key == second.key
    assert bench.run(Task(ranking, BEIR), HASHING, resume=True)[0].id == second.id
    other = replace(HASHING, fusion="rrf")
    assert not bench.run(Task(ranking, BEIR), other, resume=True)[1]
    (ranking / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "depth"}\n{"_id": "q2", "text": "salt"}'
    )
    assert not bench.run(Task(ranking, BEIR), HASHING, resume=True)[1]


def test_a_run_that_is_not_there_or_not_whole_is_said_so(tmp_path):
    runs = RunFolder(tmp_path)
    with pytest.raises(WrongUse, match="No run starts with 'x'"):
        runs.load("x")
    runs.save(made_run(row("a", 1.0)))
    runs.save(made_run(row("a", 1.0)))
    with pytest.raises(WrongUse, match="Several runs start with '2'"):
        runs.load("2")
    broken = runs.folder / runs.names()[0]
    (broken / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(DatasetError, match="is no run that can be read"):
        runs.load(broken.name)


def test_two_runs_are_compared_on_the_questions_both_asked():
    a = made_run(row("p", 0.5), row("q", 0.5), row("only a", 1.0))
    b = made_run(row("p", 1.0), row("q", 0.5), row("only b", 0.0), label="fusion=rrf")
    first, _ = compared(a, b)
    assert (first.measure, first.a, first.b) == ("nDCG@10", 0.5, 0.75)
    assert first.result.difference == 0.25
    assert (first.result.wins, first.result.ties, first.result.losses) == (1, 1, 0)
    assert warnings(a, replace(b, dataset=replace(b.dataset, sha256="def"))) == [
        "the data sets differ: only questions with the same id are compared"
    ]
    with pytest.raises(WrongUse, match="share no question"):
        compared(a, made_run(row("else", 1.0)))


def test_the_hardest_questions_come_first_and_solved_ones_are_not_hard():
    run = made_run(row("easy", 1.0), row("hard", 0.1), row("lost", 0.0))
    assert [each.id for each in hardest(run)] == ["lost", "hard"]


def test_the_page_stands_alone_and_shows_text_as_text():
    evil = "<script>alert(1)</script>"
    run = made_run(row("q", 0.0, wanted=(evil,), found=(f"· {evil}",), seconds={"find": 0.01}))
    html = page([run, replace(run, label=evil)])
    assert "<script" not in html
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", html)
    assert html.count("<svg") == 3  # scores, recall by depth, latency
    assert "&lt;script&gt;alert(1)" in html


def test_markdown_keeps_its_columns_whatever_the_text():
    run = made_run(row("q", 0.0, found=("· a | b",)))
    text = markdown([run, replace(run, label="x|y")])
    assert "· a \\| b" in text
    heads = [line for line in text.splitlines() if line.startswith("| measure")]
    assert heads == ["| measure (95 %) | default | x\\|y |"]


MATRIX = """
tolerance: 0.01
conditions: {default: {}, dense: {fusion: dense}}
datasets:
  ranking: {expected: {default: {nDCG@10: 1.0}, dense: {nDCG@10: 0.5, AUROC: 1}}}
  elsewhere: {expected: {default: {}}}
"""


def test_a_matrix_tells_ok_fail_and_skip_and_resumes(bench, ranking, tmp_path):
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    cells = load_matrix(tmp_path / "matrix.yaml")
    golden = Task(tmp_path, "golden")

    def verdicts(*, again=False):
        results = list(run_matrix(cells, bench, [tmp_path], golden, again=again))
        return [(result.verdict, result.was_known) for result in results]

    assert verdicts() == [("OK", False), ("FAIL", False), ("SKIP", False)]
    assert verdicts() == [("OK", True), ("FAIL", True), ("SKIP", False)]
    assert verdicts(again=True)[0] == ("OK", False)
    results = list(run_matrix(cells, bench, [tmp_path], golden, again=False))
    assert results[1].misses == {"nDCG@10": (0.5, 1.0), "AUROC": (1.0, None)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("conditions: [", "cannot be read"),
        ("a: b", "needs `conditions` and `datasets`"),
        (MATRIX.replace("dense: {nDCG", "sparse: {nDCG"), "'sparse', which is no condition"),
    ],
)
def test_a_broken_matrix_is_named(tmp_path, text, complaint):
    (tmp_path / "matrix.yaml").write_text(text)
    with pytest.raises(DatasetError, match=complaint):
        load_matrix(tmp_path / "matrix.yaml")


def test_the_matrix_of_the_project_is_sound():
    from evaluation.matrix import MATRIX as FILE

    cells = load_matrix(FILE)
    assert {cell.dataset for cell in cells} >= {"anthropic-docs", "physical-ai-robotics"}
    for cell in cells:
        Condition().changed(cell.changes)


def test_json_has_metric_names_as_keys(bench, ranking):
    flat = bench.run(Task(ranking, BEIR), HASHING)[0].flat()
    assert flat["nDCG@10"] == flat["R@5"] == flat["R@100"] == flat["RR@10"] == 1
    json.dumps(flat)
