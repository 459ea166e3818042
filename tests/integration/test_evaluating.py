"""`askbook eval`, as people and programs call it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from askbook.cli import askbook

PAGES = {
    "module-1-ros2/chapter-1-graph/01-nodes.md": (
        "---\ntitle: Nodes\n---\n# Nodes\n\nA node is a process that computes one thing. "
        "The highest safe domain number is 101.\n"
    ),
    "module-1-ros2/chapter-1-graph/02-topics.md": (
        "---\ntitle: Topics\n---\n# Topics\n\nA topic is a named bus of messages. "
        "A slow listener drops the oldest message of its queue.\n"
    ),
}
NODES, TOPICS = PAGES
RECORDS = [
    {
        "id": "q1",
        "question": "highest safe domain number?",
        "kind": "plain",
        "split": "dev",
        "answers": [{"file": NODES, "quote": "The highest safe domain number is 101."}],
    },
    {
        "id": "q2",
        "question": "which message does a slow listener drop?",
        "kind": "plain",
        "split": "test",
        "answers": [{"file": TOPICS, "quote": "drops the oldest message"}],
    },
    {
        "id": "q3",
        "question": "how is lentil soup salted?",
        "kind": "unanswerable",
        "split": "test",
        "answers": [],
        "near_miss": False,
    },
    {
        "id": "q4",
        "question": "what left the book?",
        "kind": "plain",
        "split": "test",
        "answers": [{"file": NODES, "quote": "a sentence that is gone"}],
    },
]
GROUNDED = {
    "id": "g1",
    "passages": ["A node is a process that computes one thing."],
    "answer": "A node is a process that computes one thing. Soup needs 5 g of salt.",
    "sentences": [
        {
            "text": "A node is a process that computes one thing.",
            "start": 0,
            "end": 44,
            "label": "supported",
        },
        {"text": "Soup needs 5 g of salt.", "start": 45, "end": 68, "label": "unsupported"},
    ],
}


@pytest.fixture(autouse=True)
def _free_embedder(monkeypatch):
    monkeypatch.setenv("ASKBOOK_EMBEDDER", "hashing")


@pytest.fixture
def golden(tmp_path, monkeypatch) -> Path:
    """A golden set and its book, which is the default book."""
    for name, text in PAGES.items():
        path = tmp_path / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setenv("ASKBOOK_BOOK_DIR", str(tmp_path / "book"))
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, RECORDS)), "utf-8")
    return folder


def run(*arguments: object):
    return CliRunner().invoke(askbook, ["eval", *map(str, arguments)])


def figures(*arguments: object) -> dict:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_a_golden_set_measures_search_citations_and_refusals(golden):
    found = figures(golden)
    assert found["nDCG@10"] == found["R@5"] == found["citation_recall"] == 1
    assert found["refusal_recall"] == found["refusal_precision"] == 1  # the soup, and it alone
    assert found["queries"] == 3
    assert "q4" in found["notes"][0]
    assert "the quote is no longer in the file" in found["notes"][0]
    assert set(found["latency_ms"]) == {"find", "answer", "total"}


def test_a_split_and_searching_alone_ask_less(golden):
    found = figures(golden, "--split", "dev", "--search-only")
    assert found["queries"] == 1
    assert "citation_recall" not in found


def test_the_wrong_book_is_an_error_and_not_a_score_of_zero(golden, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Something else\n\nEntirely.\n")
    done = run(golden, "--book", other)
    assert "none of its labels is in the book" in str(done.exception)


def test_labelled_sentences_are_judged_as_the_product_would(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(GROUNDED))
    for arguments in (["--grounding", file], [file]):
        found = figures(*arguments)
        assert found["AUROC"] == found["F1"] == found["accuracy"] == 1


def test_two_stored_runs_are_compared_and_reported(golden, tmp_path):
    page = tmp_path / "page.html"
    both = figures(golden, "--search-only", "--condition", "default", "--condition", "fusion=rrf",
                   "--report", page)  # fmt: skip
    a, b = (each["run"] for each in both["runs"])
    assert "fusion=rrf" in page.read_text("utf-8")
    found = figures("compare", a, b)
    assert found["nDCG@10"]["difference"] == 0
    assert found["nDCG@10"]["ties"] == 2
    assert "0 / 2 / 0" in run("compare", a, b).stdout
    assert a in run("runs").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Usage"),
        (["nowhere"], "there is no such file or folder"),
        (["."], "is no data set that is known"),
        (["a", "--grounding", "b"], "Give one of DATASET"),
        (["--grounding", "b", "--live"], "--live asks a golden set"),
        (["--grounding", "b", "--report", "x.pdf"], "end its name with .html or .md"),
        (["compare", "a", "b"], "No run starts with 'a'"),
    ],
)
def test_wrong_use_is_answered_with_what_to_do(arguments, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert complaint in f"{done.output} {done.exception}"


def test_help_shows_the_options_and_the_other_commands():
    told = run("--help").output
    for word in ("--condition", "--report", "--grounding", "compare", "matrix"):
        assert word in told
