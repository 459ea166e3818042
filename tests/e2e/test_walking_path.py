"""A book goes in, a cited answer comes out: the commands an operator and a reader use."""

import json
import socket

import pytest
from running import Installation, environment


def test_a_book_goes_in_and_a_cited_answer_comes_out(tmp_path, book):
    """The default parts, nothing configured: MiniLM, an ephemeral Prefect, embedded stores."""
    installation = Installation(environment(tmp_path / "home"))
    done = installation.run("ingest", book, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # quiet: no warnings, no tracebacks from Prefect's own server
    report = json.loads(done.stdout)
    assert report["files"]["new"] == 10
    assert report["chunks"]["total"] == report["chunks"]["created"] > 20
    assert report["index_version"] == "v000001"

    answer = installation.json(
        "ask", "What happens when publisher and subscriber QoS do not match?"
    )
    assert not answer["refused"]
    assert answer["withheld"] == []
    assert answer["parts"]["embedder"] == "all-MiniLM-L6-v2-int8"
    best = answer["citations"][0]
    assert best["source_file"].endswith("02-topics-and-qos.mdx")
    source = (book / best["source_file"]).read_bytes().decode()
    assert best["excerpt"][:40] in source[best["start_char_offset"] : best["end_char_offset"]]

    refusal = installation.json("ask", "How long must sourdough bread rest before baking?")
    assert refusal["refused"]
    assert refusal["citations"] == []
    assert refusal["confidence"] == 0

    again = installation.json("ingest", book)
    assert again["files"]["unchanged"] == 10
    assert again["chunks"]["embedded"] == 0


def test_search_prints_the_documented_response(indexed_home):
    response = indexed_home.json("search", "quality of service policies", "--limit", 3)
    assert set(response) == {
        "query",
        "results",
        "total_found",
        "hardware_tier_filter",
        "module_filter",
        "book_id",
    }
    assert len(response["results"]) == 3
    scores = [hit["score"] for hit in response["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_dry_run_changes_nothing(installation, book):
    plan = installation.json("ingest", book, "--dry-run")
    assert plan["files"]["new"] == 10
    assert installation.json("status")["books"] == []


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "sentence"),
    [
        (["ingest", "no/such/folder"], {}, 1, "There is no folder no/such/folder"),
        (["ingest", "README.md"], {}, 1, "README.md is a file"),
        (["ingest", "EMPTY"], {}, 1, "holds no .md or .mdx files"),
        (["ask", "What is a node?"], {}, 2, "Nothing is indexed yet"),
        (["ask"], {}, 2, "QUESTION: at least 3 characters are needed"),
        (["chunks", "nothing.md"], {}, 2, "There is no file nothing.md"),
        (["ingest"], {"ASKBOOK_EMBEDDER": "magic"}, 1, "minilm, hashing, cohere, openai"),
        (["ingest"], {"ASKBOOK_EMBEDDER": "cohere"}, 1, "set COHERE_API_KEY"),
        (
            ["ingest"],
            {"ASKBOOK_DATABASE_URL": "postgresql://u:secret@127.0.0.1:1/x"},
            1,
            "PostgreSQL (postgresql://u:***@127.0.0.1:1/x) does not answer",
        ),
        (["ingest"], {"ASKBOOK_DATABASE_URL": "mysql://u@h/x"}, 1, "only postgresql:// works"),
        (["status"], {"ASKBOOK_PORT": "http"}, 1, "ASKBOOK_PORT='http'"),
    ],
)
def test_a_mistake_gets_a_sentence_not_a_traceback(tmp_path, arguments, settings, code, sentence):
    (tmp_path / "empty").mkdir()
    arguments = [str(tmp_path / "empty") if a == "EMPTY" else a for a in arguments]
    done = Installation(environment(tmp_path / "home")).run(*arguments, **settings)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


def test_a_port_in_use_is_said_before_anything_starts(indexed_home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = indexed_home.run("serve", "--port", port)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr


def test_chunks_shows_how_a_file_is_cut(installation, book):
    cut = installation.json(
        "chunks", book / "module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx"
    )
    assert [chunk["chunk_index"] for chunk in cut] == list(range(len(cut)))
    assert {chunk["module"] for chunk in cut} == {"ros2"}
    assert all(0 < chunk["token_count"] <= 512 for chunk in cut)
