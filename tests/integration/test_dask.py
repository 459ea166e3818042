"""Shards on the workers of a Dask cluster: real processes, and one of them is killed."""

import os
import signal
import threading

import pytest
from distributed import LocalCluster
from wire import cohere_reply, serving

from askbook.errors import UnreadableFile
from flows import planned


@pytest.fixture
def cluster():
    """Two workers, each a process of its own; one that dies is started again."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made:
        yield made


def use_cohere(library, address: str) -> None:
    for name, value in {"": "cohere", "_API_KEY": "key", "_BASE_URL": address}.items():
        library.set(f"COHERE{name}" if name else "EMBEDDER", value)


def chunk_parts(home):
    return {path.name: path.read_bytes() for path in home.rglob("chunks-*.parquet")}


def test_a_cluster_that_loses_a_worker_does_what_threads_do_to_the_byte(
    library, cluster, tmp_path, monkeypatch
):
    monkeypatch.setattr(planned, "SHARD_FILES", 3)
    calm, home, lock = tmp_path / "calm", tmp_path / "home", threading.Lock()
    paid: list[str] = []
    victim: list[int] = []

    def embedder(body):
        with lock:
            if paid and victim:
                os.kill(victim.pop(), signal.SIGKILL)
            paid.extend(body["texts"])
        return 200, {}, cohere_reply(body)

    with serving(embedder) as wire:
        use_cohere(library, wire.address)
        library.live_in(calm)
        library.ingest()
        expected, texts = library.snapshot(), sorted(paid)
        library.parts.close()
        library.live_in(home)
        library.set("DASK_ADDRESS", cluster.scheduler_address)
        paid.clear()
        victim.append(next(iter(cluster.workers.values())).pid)
        report = library.ingest()
    assert victim == []  # it was killed in mid-run
    assert report["status"] == "completed"
    assert library.snapshot() == expected
    assert len(chunk_parts(home)) > 2
    assert chunk_parts(home) == chunk_parts(calm)
    assert sorted(set(paid)) == texts


def test_a_scheduler_that_does_not_answer_is_named(library, monkeypatch):
    from flows.workers import DaskDown  # Prefect reads its settings when it is imported

    monkeypatch.setattr("flows.workers._CONNECT_SECONDS", 0.1)
    library.set("DASK_ADDRESS", "tcp://127.0.0.1:9")
    with pytest.raises(DaskDown, match=r"tcp://127.0.0.1:9 does not answer"):
        library.ingest()
    assert library.version is None


def test_an_error_of_a_worker_comes_back_whole():
    import pickle

    error = pickle.loads(pickle.dumps(UnreadableFile("a.md", "is not UTF-8", 3)))  # noqa: S301
    assert (error.source_file, error.reason, error.line) == ("a.md", "is not UTF-8", 3)
    assert str(error) == "a.md:3: is not UTF-8"
