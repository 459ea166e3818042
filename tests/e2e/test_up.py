"""`askbook up`: everything an operator needs, started, used and stopped again."""

import signal
import threading

import httpx
import psutil
import pytest
from running import PATIENCE, Installation, answers, environment, free_port, wait_for
from wire import cohere_reply, serving

ADMIN = {"X-Admin-Key": "the admin's key"}
QUESTION = {"question": "With best effort, how often is each sample sent?"}


class Embedder:
    """Answers the second call, and all after it, when it may: a run stands still meanwhile."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_go_on = threading.Event()

    def __call__(self, body):
        self.calls += 1
        if self.calls > 1:
            assert self.may_go_on.wait(PATIENCE)
        return 200, {}, cohere_reply(body)


@pytest.fixture
def embedder():
    made = Embedder()
    yield made
    made.may_go_on.set()


def add_pages(book) -> None:
    """More than goes into one call of the embedder."""
    for number in range(130):
        book.joinpath(f"page-{number:03}.md").write_text(
            f"# Page {number}\n\nA page of its own, number {number}, with enough words in it that "
            "no gate takes it for a leftover of a broken file or an empty page.\n"
        )


def test_an_ingest_over_http_runs_on_the_worker_and_is_followed_to_its_end(
    tmp_path, book, embedder
):
    add_pages(book)
    port, prefect_port = free_port(), free_port()
    with serving(embedder) as wire:
        settings = {
            "ASKBOOK_EMBEDDER": "cohere",
            "COHERE_API_KEY": "key",
            "ASKBOOK_COHERE_BASE_URL": wire.address,
            "ASKBOOK_BOOK_DIR": str(book),
            "ASKBOOK_BOOK_ID": "book",
            "ASKBOOK_ADMIN_KEY": ADMIN["X-Admin-Key"],
        }
        operator = Installation(environment(tmp_path / "home", **settings))
        with operator.start("up", "--port", port, "--prefect-port", prefect_port) as up:
            base = f"http://127.0.0.1:{port}"
            wait_for(lambda: answers(f"{base}/health"), "the API")
            with httpx.Client(base_url=base, headers=ADMIN, timeout=PATIENCE) as admin:
                follow_an_ingest(admin, embedder)
                processes = psutil.Process(up.pid).children(recursive=True)
                postmaster = (operator.home / "postgres" / "postmaster.pid").read_text()
                processes.append(psutil.Process(int(postmaster.splitlines()[0])))
                up.send_signal(signal.SIGTERM)
                output, errors = up.communicate(timeout=PATIENCE)
            assert up.returncode == 0, output + errors
            assert psutil.wait_procs(processes, PATIENCE)[1] == []


def follow_an_ingest(admin: httpx.Client, embedder: Embedder) -> None:
    """Start one, see it run, see that no second one can be started, see it end."""
    assert admin.get("/ready").json()["dependencies"]["prefect"]["status"] == "ok"
    started = admin.post("/api/ingest", json={"mode": "incremental"})
    assert (started.status_code, started.json()["status"]) == (202, "queued")
    where = started.headers["location"]

    def job() -> dict:
        return admin.get(where).json()

    progress = wait_for(lambda: job()["progress"], "progress")
    running = job()
    assert running["status"] == "running", running
    assert 0 < progress["percent"] < 100
    assert "files cut" in progress["description"]
    assert admin.post("/api/ingest", json={}).status_code == 409
    embedder.may_go_on.set()
    wait_for(lambda: job()["status"] != "running", "the end")
    done = job()
    assert done["status"] == "completed", done
    assert done["files_processed"] == 140
    assert done["report"]["index_version"] == "v000001"
    assert admin.get("/ready").json()["chunks"] == done["chunks_created"]
