"""Full disks, damaged files, clocks that jump, no memory, everybody at once: nothing is lost."""

import os
import subprocess
import sys
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from litestar.testing import TestClient
from running import FAULTS, ROOT

from api.app import create_app
from askbook.index.edge import EdgeIndex
from askbook.models import ChunkFilter
from askbook.settings import load_settings

SOAK_SECONDS = float(os.environ.get("ASKBOOK_SOAK_SECONDS", "0"))  # minutes, by hand: see docs


def add_pages(book, first: int, count: int) -> None:
    for number in range(first, first + count):
        (book / f"page-{number:03}.md").write_text(
            f"# Page {number}\n\nA page of its own, number {number}, with enough words in it that "
            "no gate takes it for a leftover of a broken file or an empty page.\n"
        )


@contextmanager
def small_disk(folder, size: str):
    """A real file system of this size at `folder`; its files are gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk needs the right to mount one (root)")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize(
    ("folder", "size", "words"),
    [
        ("checkpoints", "8k", "No space left on device"),
        ("index", "115m", "putting the index in order needs"),
    ],
    ids=["checkpoint", "publish"],
)
def test_a_full_disk_stops_the_run_with_a_word_and_nothing_is_half_done(
    library, processes, folder, size, words
):
    with small_disk(processes.home / folder, size):
        run = processes.run("ingest", library.book)
        assert run.returncode == 1, run.stderr
        assert words in run.stderr
        assert "Traceback" not in run.stderr
        assert library.version is None
        assert library.texts == set()
        assert words in library.last_job.error_message
    assert library.ingest()["status"] == "completed"  # once there is room


def test_a_full_disk_leaves_readers_the_version_they_have(library, processes):
    with small_disk(processes.home / "index", "700m"):
        library.ingest()
        before = library.snapshot()
        add_pages(library.book, 0, 3)
        filler = processes.home / "index" / "filler"
        with filler.open("wb") as handle:
            os.posix_fallocate(handle.fileno(), 0, 380_000_000)
        run = processes.run("ingest", library.book)
        assert "a copy of the index needs" in run.stderr
        assert library.snapshot() == before
        filler.unlink()
        assert library.ingest()["files"]["new"] == 3


def test_checkpoints_that_were_damaged_are_made_again_and_no_others(library, processes):
    add_pages(library.book, 0, 300)  # three shards
    place = "askbook.index.edge_draft:EdgeDraft.upsert:before"
    processes.run("ingest", library.book, KILL_AT=place, PYTHONPATH=str(FAULTS))
    (run,) = (processes.home / "checkpoints" / "book").iterdir()
    chunks, vectors = sorted(run.glob("chunks-*.parquet")), sorted(run.glob("vectors-*.parquet"))
    chunks[0].write_bytes(chunks[0].read_bytes()[:1000])
    chunks[1].write_bytes(b"")
    lost = vectors[2].read_bytes()
    middle = len(lost) // 2
    vectors[2].write_bytes(lost[:middle] + bytes([lost[middle] ^ 1]) + lost[middle + 1 :])
    kept = {path: path.read_bytes() for path in (chunks[2], vectors[0], vectors[1])}
    report = library.ingest()
    assert report["files"]["new"] == len([*library.book.rglob("*.md*")])
    assert report["chunks"]["total"] == len(library.chunks)
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_damaged_version_is_told_of_everywhere(library, processes):
    library.ingest()
    add_pages(library.book, 0, 3)
    library.ingest()
    folder = processes.home / "index" / "physical_ai_book" / "versions" / "v000002"
    with next(folder.rglob("*.dat")).open("r+b") as handle:
        handle.write(b"\xff\xff")
    status = processes.run("status")
    assert "! Index version v000002 is damaged" in status.stdout
    with TestClient(create_app(load_settings())) as client:
        ready = client.get("/ready").json()
    assert "v000002 is damaged" in ready["dependencies"]["index"]["detail"]
    reader = EdgeIndex(folder.parents[1])
    assert reader.count(ChunkFilter()) == reader.versions()[1].points  # v000001 is served
    refused = processes.run("ingest", library.book, "--mode", "full")
    assert refused.returncode == 1
    assert "askbook rollback" in refused.stderr
    assert processes.run("rollback").returncode == 0
    assert library.ingest()["files"]["new"] == 3


def test_a_clock_that_jumps_back_changes_no_order(library, monkeypatch):
    library.ingest()
    years = 30

    class Jumped(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(days=365 * years)

    for module in ("flows.embed", "flows.upsert", "flows.record", "askbook.index.versions"):
        monkeypatch.setattr(f"{module}.datetime", Jumped)
    add_pages(library.book, 0, 3)
    report = library.ingest()
    assert report["files"]["new"] == 3
    assert library.version == report["index_version"] == "v000002"
    assert library.parts.index.versions()[0].created_at.year < 2010


def test_a_run_that_gets_no_more_memory_publishes_nothing_and_the_next_goes_on(library, processes):
    library.ingest()
    before, version = library.snapshot(), library.version
    add_pages(library.book, 0, 300)
    place = "flows.upsert:upsert:before"
    run = processes.run("ingest", library.book, NO_MEMORY_AT=place, PYTHONPATH=str(FAULTS))
    assert run.returncode != 0
    assert (library.snapshot(), library.version) == (before, version)
    assert library.ingest()["files"]["new"] == 300


READER = """
import sys
import time
from askbook.index.inventory import files_in
from askbook.settings import load_settings
from askbook.wiring import Parts

parts = Parts(load_settings())
while True:
    for book in ("one", "two"):
        files = files_in(parts.index, book)
        torn = [f"{f.document.file_path}: {f.defect}" for f in files if f.defect]
        if torn or len(files) % 10:  # every run adds or removes ten pages
            sys.exit(f"{len(files)} files, torn: {torn}")
    time.sleep(0.1)  # the runs need the processor too
"""


def test_two_books_are_ingested_side_by_side_under_many_readers(installation, tmp_path):
    """Some seconds here; minutes and ten readers with ASKBOOK_SOAK_SECONDS."""
    books = [tmp_path / "one", tmp_path / "two"]
    for book in books:
        book.mkdir()
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=installation.environment,
        )
        for _ in range(10 if SOAK_SECONDS else 2)
    ]
    rounds = 2 + int(SOAK_SECONDS / 10)
    try:
        for number in range(rounds):
            for book in books:
                add_pages(book, number * 10, 10)
            with (
                installation.start("ingest", books[0]) as first,
                installation.start("ingest", books[1]) as second,
            ):
                for run in (first, second):
                    _, told = run.communicate()
                    assert run.returncode == 0, told
        assert [reader.poll() for reader in readers] == [None] * len(readers)
    finally:
        for reader in readers:
            reader.kill()
    problems = [reader.communicate()[1] for reader in readers]
    assert problems == [""] * len(readers)
    state = installation.json("status")
    per_book = {book["book_id"]: book["total_chunks"] for book in state["books"]}
    assert per_book == {"one": rounds * 10, "two": rounds * 10}
    assert state["versions"][0]["points"] == 2 * rounds * 10
