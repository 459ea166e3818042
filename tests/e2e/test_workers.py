"""Several worker processes are stopped: they finish what they answer, and none stays behind."""

import shutil
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from running import PATIENCE, Installation, Served, environment, wait_for, workers_of
from wire import openai_stream, serving

WORKERS = 2
QUESTION = {"question": "With best effort, how often is each sample sent?"}
SAID = "With best effort, each sample is sent once."


class Writer:
    """A language model that answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = threading.Event()

    def __call__(self, _body):
        self.asked += 1
        assert self.may_answer.wait(PATIENCE)
        return 200, {}, openai_stream(f"{SAID} [Source 1]")


@pytest.fixture
def writer():
    made = Writer()
    yield made
    made.may_answer.set()


@pytest.fixture
def fleet(indexed_home, writer, tmp_path):
    """Two workers over a copy of the index, with a PostgreSQL that nobody else uses."""
    home = tmp_path / "home"
    shutil.copytree(indexed_home.home / "index", home / "index")
    with serving(writer) as wire:
        settings = {
            "ASKBOOK_EMBEDDER": "hashing",
            "ASKBOOK_WRITER": "openai",
            "ASKBOOK_OPENAI_BASE_URL": wire.address,
            "ASKBOOK_REFUSE_BELOW": "0",
            "ASKBOOK_ON_WRITER_FAILURE": "unavailable",
        }
        with Installation(environment(home, **settings)).api("--workers", WORKERS) as served:
            yield served


def all_of(served: Served, home: Path) -> list[psutil.Process]:
    """Every process that must be gone in the end: the server, its workers, PostgreSQL."""
    postmaster = (home / "postgres" / "postmaster.pid").read_text().splitlines()[0]
    return [
        psutil.Process(pid)
        for pid in (served.process.pid, *workers_of(served.process), int(postmaster))
    ]


def is_refused(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_sigterm_lets_running_answers_finish_and_leaves_no_process(fleet, writer, tmp_path):
    processes = all_of(fleet, tmp_path / "home")
    assert len(processes) == 2 + WORKERS
    with ThreadPoolExecutor(4) as readers:
        asked = [readers.submit(fleet.client.post, "/api/ask", json=QUESTION) for _ in range(4)]
        wait_for(lambda: writer.asked == len(asked), "all questions to reach the writer")
        fleet.process.send_signal(signal.SIGTERM)
        wait_for(lambda: is_refused(fleet.client.base_url.port), "the port to be closed")
        writer.may_answer.set()
        replies = [each.result() for each in asked]
    assert [reply.status_code for reply in replies] == [200] * 4
    assert all(SAID in reply.json()["answer"] for reply in replies)
    assert fleet.process.wait(PATIENCE) == 0
    _, alive = psutil.wait_procs(processes, PATIENCE)
    assert alive == []


def test_workers_whose_parent_is_killed_do_not_stay_behind(fleet, tmp_path):
    processes = all_of(fleet, tmp_path / "home")
    fleet.process.kill()
    fleet.process.wait()
    _, alive = psutil.wait_procs(processes, PATIENCE)
    assert alive == []
