"""Readers and an ingest, as real processes side by side."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection

from running import PATIENCE, Served, holder_of, wait_for, workers_of

QUESTION = {"question": "How large are the rings of Saturn?"}
WORKERS = 2


def saturn(port: int, workers: set[int]) -> tuple[int, bool]:
    """Which worker answered, and whether it knows of Saturn."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/api/ask", json.dumps(QUESTION), headers)
        mine = connection.sock.getsockname()[1]
        response = connection.getresponse()
        answer = json.load(response)["answer"]
        assert response.status == 200
        return holder_of(mine, workers), "Saturn" in answer


def saturn_by_worker(served: Served) -> dict[int, bool]:
    """What every worker says; asked by several readers at once until each worker was."""
    told: set[tuple[int, bool]] = set()
    workers = workers_of(served.process)
    assert len(workers) == WORKERS

    def all_asked() -> bool:
        with ThreadPoolExecutor(8) as readers:
            asked = [readers.submit(saturn, served.client.base_url.port, workers) for _ in range(8)]
        told.update(each.result() for each in asked)
        return {worker for worker, _ in told} == workers

    wait_for(all_asked, "every worker to be asked")
    assert len(told) == WORKERS, "a worker said this and that"
    return dict(told)


def add_saturn(book) -> None:
    (book / "module-1-ros2/README.md").write_text(
        "# Saturn\n\nThe rings of Saturn are 282,000 km wide.\n", "utf-8"
    )


def test_the_api_answers_from_the_old_version_until_the_new_one_is_published(library, processes):
    library.ingest()
    unforked = replace(processes, forks=None)  # its workers are its own children then
    with unforked.api("--workers", WORKERS) as served:
        before = saturn_by_worker(served)
        assert set(before.values()) == {False}
        add_saturn(library.book)
        with processes.start("ingest", library.book) as run:
            while run.poll() is None:
                assert served.client.post("/api/ask", json=QUESTION).status_code == 200
            assert run.returncode == 0
        assert saturn_by_worker(served) == dict.fromkeys(before, True)  # and none was restarted
