"""Real runs in real processes, ended by `kill -9` or left without PostgreSQL, then run again."""

import os
import shutil
import signal
import threading
from dataclasses import replace

import pyarrow.parquet as pq
from running import FAULTS, wait_for
from wire import cohere_reply, serving

from askbook.index.edge import EdgeIndex
from askbook.index.inventory import files_in
from askbook.settings import load_settings

# In the order in which a run comes by: each killed run leaves checkpoints that the next one uses.
BEFORE_EMBED = [
    "flows.planned:write_survey:after",  # discovered
    "flows.planned:write_plan:after",  # planned
    "flows.chunk:chunk:after",  # one shard of two is cut
]
BEFORE_PUBLISHING = [
    "flows.embed:embed:after:2",  # everything is embedded
    "askbook.index.edge_draft:EdgeDraft.upsert:after",  # one shard of two is in the draft
    "askbook.index.versions:VersionFolder.point_to:before",  # all is done but the swing
]
PUBLISHED = "flows.record:record:before"  # readers see it, PostgreSQL does not know
RECORDED = "flows.checkpoints:Checkpoints.mark_complete:before"


class Reader(threading.Thread):
    """Reads the whole book over and over and notes every lesson that is not whole."""

    def __init__(self) -> None:
        super().__init__()
        settings = load_settings()
        self._index = EdgeIndex(settings.home / "index" / settings.collection)
        self._over = threading.Event()
        self.looks = 0
        self.problems: set[str] = set()

    def run(self) -> None:
        while not self._over.wait(0.2):
            files = files_in(self._index, "book")
            self.looks += 1
            self.problems |= {f"{f.document.file_path}: {f.defect}" for f in files if f.defect}
            if len(files) < 9:
                self.problems.add(f"only {len(files)} files")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


class Paid:
    """An embedder on the wire that notes every text it was paid for."""

    def __init__(self, checkpoints) -> None:
        self.texts: list[str] = []
        self.victim: int | None = None  # ended while its second call is under way
        self._checkpoints = checkpoints
        self._one_at_a_time = threading.Lock()
        self._calls = 0

    def __call__(self, body):
        with self._one_at_a_time:
            if self.victim is not None:
                self._calls += 1
                if self._calls == 2:
                    wait_for(lambda: set(self.texts) <= self.written(), "the first call's vectors")
                    os.kill(self.victim, signal.SIGKILL)
                if self._calls > 1:
                    return 503, {}, {}  # nobody is there to read it
            self.texts += body["texts"]
            return 200, {}, cohere_reply(body)

    def written(self) -> set[str]:
        """The texts whose vectors lie in checkpoints."""
        found: dict[str, str] = {}
        for part in self._checkpoints.glob("book/*/chunks-*.parquet"):
            table = pq.read_table(part, columns=["embedded_hash", "embedded_text"])
            found |= dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
        keys = [
            key
            for part in self._checkpoints.glob("book/*/vectors-*.parquet")
            for key in pq.read_table(part, columns=["embedded_hash"])[0].to_pylist()
        ]
        return {found[key] for key in keys}


def change(book) -> None:
    """New, modified, moved and deleted files: two shards, three calls of the embedder."""
    for number in range(130):
        (book / f"page-{number:03}.md").write_text(
            f"# Page {number}\n\nA page of its own, number {number}, with enough words in it that "
            "no gate takes it for a leftover of a broken file or an empty page.\n"
        )
    module = book / "module-1-ros2"
    module.joinpath("README.md").write_text("# Saturn\n\nIts rings are 282,000 km wide.\n")
    lessons = sorted((module / "chapter-1-ros2-graph").iterdir())
    lessons[0].unlink()
    lessons[1].rename(lessons[1].with_name("09-renamed.mdx"))


def undisturbed(library, home) -> tuple:
    """What the same edits leave in another home when nothing happens."""
    book, library.book = library.book, home / "book"
    library.live_in(home)
    shutil.copytree(book, library.book)
    library.ingest()
    change(library.book)
    library.ingest()
    left = library.snapshot()
    library.parts.close()
    library.book = book
    library.live_in(home.parent / "home")
    return left


def test_killed_everywhere_a_book_ends_as_if_nothing_had_happened(library, processes, tmp_path):
    paid = Paid(tmp_path / "home" / "checkpoints")
    with serving(paid) as wire:
        settings = {"EMBEDDER": "cohere", "COHERE_API_KEY": "key", "COHERE_BASE_URL": wire.address}
        for name, value in settings.items():
            library.set(name, value)
        theirs = {f"ASKBOOK_{name}": value for name, value in settings.items()}
        expected = undisturbed(library, tmp_path / "calm")
        paid.texts.clear()
        before = library.ingest()
        change(library.book)
        start = library.snapshot()

        def killed_at(place: str) -> None:
            run = processes.run(
                "ingest", library.book, KILL_AT=place, PYTHONPATH=str(FAULTS), **theirs
            )
            assert run.returncode == -signal.SIGKILL, (place, run.stderr)
            assert library.last_job.status == "running", place

        with Reader() as reader:
            for place in BEFORE_EMBED:
                killed_at(place)
            with processes.start("ingest", library.book, **theirs) as run:
                paid.victim = run.pid
                assert run.wait() == -signal.SIGKILL
                paid.victim = None
            for place in BEFORE_PUBLISHING:
                killed_at(place)
                assert library.version == before["index_version"], place
                assert library.snapshot() == start, place
            killed_at(PUBLISHED)
            assert library.version != before["index_version"]
            assert library.documents()[1] == before["chunks"]["total"]
            assert library.ingest()["status"] == "completed"
        assert library.snapshot() == expected
        assert len(paid.texts) == len(set(paid.texts))  # nothing was paid for twice
        assert reader.problems == set()
        assert reader.looks > 10
    assert library.job_states() == ["completed", *["failed"] * 8, "completed"]


def test_a_run_killed_after_publishing_does_not_bind_the_author(library, processes):
    """The page is edited again, or put back, before the next run: both end in agreement."""
    library.ingest()
    page, other = library.book / "module-1-ros2/README.md", library.book / "new.md"
    original = page.read_text()
    page.write_text("# Saturn\n\nIts rings are 282,000 km wide.\n")
    other.write_text("# Titan\n\nIts air is thick.\n")
    for place in (PUBLISHED, RECORDED):
        run = processes.run("ingest", library.book, KILL_AT=place, PYTHONPATH=str(FAULTS))
        assert run.returncode == -signal.SIGKILL
        page.write_text(original)
        other.unlink()
        report = library.ingest()
        assert report["status"] == "completed"
        assert not any("Saturn" in text or "Titan" in text for text in library.texts)
        page.write_text("# Saturn\n\nIts moons are many.\n")
        other.write_text("# Titan\n\nIts lakes are cold.\n")


def test_postgresql_goes_away_while_a_run_is_recorded(installation, book):
    """Nothing is recorded that is not in the index; the next run brings both together."""
    installation.json("ingest", book)
    (book / "new.md").write_text("# Saturn\n\nIts rings are 282,000 km wide.\n")
    place = "askbook.store.documents:save:before"  # in the middle of the transaction
    own = replace(installation, forks=None)  # with a Python's own end: what it says is read
    run = own.run("ingest", book, STOP_POSTGRES_AT=place, PYTHONPATH=str(FAULTS))
    assert run.returncode == 1
    assert "PostgreSQL does not answer" in run.stderr
    assert "Traceback" not in run.stderr
    found = installation.json("reconcile", "--dry-run")["findings"]
    assert [(f["source_file"], f["problem"]) for f in found] == [
        ("new.md", "in the index, but not recorded")
    ]
    assert installation.json("ingest", book)["status"] == "completed"
    assert installation.json("reconcile", "--dry-run")["findings"] == []
    state = installation.json("status")
    assert [job["status"] for job in state["jobs"]] == ["completed", "failed", "completed"]
    assert state["books"][0]["total_chunks"] == state["versions"][0]["points"]
