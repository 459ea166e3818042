"""Readers, an ingest and a kill, as real processes side by side."""

import signal

import pytest
from running import FAULTS, Installation, environment

QUESTION = {"question": "How large are the rings of Saturn?"}


def saturn(client) -> bool:
    response = client.post("/api/ask", json=QUESTION)
    assert response.status_code == 200
    return "Saturn" in response.json()["answer"]


def add_saturn(book) -> None:
    (book / "module-1-ros2/README.md").write_text(
        "# Saturn\n\nThe rings of Saturn are 282,000 km wide.\n", "utf-8"
    )


@pytest.fixture
def processes(tmp_path, prefect_api) -> Installation:
    """Other processes of the same home as `library`."""
    return Installation(
        environment(
            tmp_path / "home", ASKBOOK_EMBEDDER="hashing", ASKBOOK_PREFECT_API_URL=prefect_api
        )
    )


def test_the_api_answers_from_the_old_version_until_the_new_one_is_published(library, processes):
    library.ingest()
    with processes.api() as client:
        assert not saturn(client)
        add_saturn(library.book)
        with processes.start("ingest", library.book) as run:
            while run.poll() is None:
                saturn(client)  # every answer while it runs is a 200
            assert run.returncode == 0
        assert saturn(client)  # the same API process, not restarted


@pytest.mark.parametrize(
    "place",
    [
        "askbook.index.versions:VersionFolder.point_to:before",
        "flows.record:record:before",
    ],
)
def test_after_a_kill_everything_is_as_it_was_and_the_next_run_completes(library, processes, place):
    before = library.ingest()
    add_saturn(library.book)
    killed = processes.run("ingest", library.book, KILL_AT=place, PYTHONPATH=str(FAULTS))
    assert killed.returncode == -signal.SIGKILL

    published = place == "flows.record:record:before"  # the only place behind the swing
    _, total = library.documents()
    assert total == before["chunks"]["total"]
    assert (library.version == before["index_version"]) is not published
    assert any("Saturn" in text for text in library.texts) is published
    assert library.last_job.status == "running"

    after = library.ingest()
    assert after["status"] == "completed"
    assert after["files"]["modified"] == 1
    assert any("Saturn" in text for text in library.texts)
    library.check_invariants()
    assert library.job_states() == ["completed", "failed", "completed"]
