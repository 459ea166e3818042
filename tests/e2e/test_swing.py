"""Readers, an ingest and a kill, as real processes side by side."""

import signal

import pytest
from running import FAULTS

QUESTION = {"question": "How large are the rings of Saturn?"}


def saturn(client) -> bool:
    response = client.post("/api/ask", json=QUESTION)
    assert response.status_code == 200
    return "Saturn" in response.json()["answer"]


def add_saturn(book) -> None:
    (book / "module-1-ros2/README.md").write_text(
        "# Saturn\n\nThe rings of Saturn are 282,000 km wide.\n", "utf-8"
    )


def test_the_api_answers_from_the_old_version_until_the_new_one_is_published(installation, book):
    installation.json("ingest", book)
    with installation.api() as client:
        assert not saturn(client)
        add_saturn(book)
        with installation.start("ingest", book) as run:
            while run.poll() is None:
                saturn(client)  # every answer while it runs is a 200
            assert run.returncode == 0
        assert saturn(client)  # the same API process, not restarted


@pytest.mark.parametrize(
    "place",
    [
        "flows.chunk:chunk:after",
        "flows.embed:embed:after",
        "askbook.index.edge:EdgeDraft.upsert:after",
        "askbook.index.versions:VersionFolder.point_to:before",
        "flows.record:record:before",
    ],
)
def test_after_a_kill_everything_is_as_it_was_and_the_next_run_completes(installation, book, place):
    before = installation.json("ingest", book)
    add_saturn(book)
    killed = installation.run("ingest", book, KILL_AT=place, PYTHONPATH=str(FAULTS))
    assert killed.returncode == -signal.SIGKILL

    published = place == "flows.record:record:before"  # the only place behind the swing
    state = installation.state("book")
    assert state.total_chunks == before["chunks"]["total"]
    assert (state.version == before["index_version"]) is not published
    assert any("Saturn" in text for text in state.texts) is published
    assert state.jobs == ["running", "completed"]

    after = installation.json("ingest", book)
    assert after["status"] == "completed"
    assert after["files"]["modified"] == 1
    state = installation.state("book")
    assert state.total_chunks == len(state.texts) == after["chunks"]["total"]
    assert any("Saturn" in text for text in state.texts)
    assert state.jobs == ["completed", "failed", "completed"]
