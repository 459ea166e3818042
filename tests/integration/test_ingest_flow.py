"""The ingest flow on real parts, in this process: what changes, what stays, what stops it."""

import uuid
from pathlib import Path

import httpx
import pytest
from wire import cohere_reply, serving

from askbook.errors import AskbookError, RunRefused
from askbook.models import Mode
from askbook.settings import load_settings
from askbook.store import documents
from flows.repair import reconcile

LESSON = Path("module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx")


def test_an_edited_paragraph_embeds_only_the_chunk_it_is_in(library):
    first = library.ingest()
    library.check_invariants()
    library.edit(LESSON, "A topic is a named", "Mercury. A topic is a named")
    second = library.ingest()
    library.check_invariants()
    assert second["files"]["modified"] == 1
    assert second["chunks"]["embedded"] == second["chunks"]["created"] == 1
    assert second["chunks"]["deleted"] == 1
    assert second["chunks"]["total"] == first["chunks"]["total"]
    assert second["cost"]["tokens"] > 0


def test_a_renamed_file_and_a_moved_folder_embed_nothing(library):
    first = library.ingest()
    (library.book / LESSON).rename(library.book / LESSON.with_name("07-renamed.mdx"))
    chapter = library.book / "module-1-ros2/chapter-2-interaction-patterns"
    chapter.rename(chapter.with_name("chapter-5-patterns"))
    second = library.ingest()
    library.check_invariants()
    assert second["files"]["moved"] == 4
    assert second["files"]["new"] == second["files"]["deleted"] == 0
    assert second["chunks"]["embedded"] == 0
    assert second["chunks"]["total"] == first["chunks"]["total"]


def test_full_and_recreate_leave_the_same_book_and_embed_nothing_again(library):
    library.ingest()
    texts = library.texts
    for mode in (Mode.FULL, Mode.RECREATE):
        report = library.ingest(mode)
        assert report["chunks"]["embedded"] == 0
        assert library.texts == texts
        library.check_invariants()


def test_another_chunk_size_makes_every_file_stale(library):
    library.ingest()
    library.set("CHUNK_PRESET", "wide")
    report = library.ingest()
    assert report["files"]["modified"] == 10
    library.check_invariants()


def test_another_embedding_model_builds_the_index_anew(library):
    library.ingest()
    with serving(lambda body: (200, {}, cohere_reply(body))) as wire:
        library.set("EMBEDDER", "cohere")
        library.set("COHERE_API_KEY", "key")
        library.set("COHERE_BASE_URL", wire.address)
        report = library.ingest()
    assert report["chunks"]["embedded"] > 0
    assert report["cost"]["usd"] > 0
    assert library.parts.index.versions()[0].dimensions == 1024
    library.check_invariants()


def test_losing_a_third_of_the_book_stops_at_the_guard_and_force_goes_on(library):
    first = library.ingest()
    chapter = library.book / "module-1-ros2/chapter-1-ros2-graph"
    for name in [*chapter.iterdir(), library.book / "module-1-ros2/README.md"]:
        name.unlink()
    with pytest.raises(RunRefused, match="--force"):
        library.ingest()
    assert library.version == first["index_version"]
    assert library.last_job.status == "failed"
    assert "--force" in library.last_job.error_message
    assert library.ingest(force=True)["files"]["deleted"] == 4
    library.check_invariants()


def test_a_broken_file_is_quarantined_and_stays_as_it_was_indexed(library):
    library.ingest()
    texts = library.texts
    (library.book / LESSON).write_bytes(b"---\ntitle: [broken\n---\n")
    report = library.ingest()
    assert report["files"]["quarantined"] == 1
    assert report["quarantined"][0]["source_file"] == LESSON.as_posix()
    assert library.texts == texts
    library.check_invariants()


def test_a_failed_gate_stops_the_run_before_the_index_is_touched(library):
    first = library.ingest()
    library.edit(LESSON, "A topic is a named", "Venus. A topic is a named")
    library.set("MIN_TOKENS_MEDIAN", 5000)
    for path in library.book.rglob("*.md*"):
        path.write_text(path.read_text("utf-8") + "\n\nOne more line at the end.\n", "utf-8")
    with pytest.raises(RunRefused) as caught:
        library.ingest()
    assert "chunks" in str(caught.value)
    assert "token_count" in str(caught.value)
    assert library.version == first["index_version"]
    job = library.last_job
    assert job.status == "failed"
    assert "token_count" in job.error_message
    page = load_settings().home / "gates" / f"job-{job.job_id}" / "gates.html"
    assert "token_count" in page.read_text("utf-8")


def test_reconcile_finds_and_mends_what_either_side_lost(library):
    library.ingest()
    parts = library.parts
    known, _ = library.documents()
    with parts.database.begin() as connection:
        documents.forget(connection, "book", [known[0].file_path])
    model = {"embedding_model": "hashing-256", "dimensions": 256}
    with parts.index.build(**model) as draft:
        draft.delete([known[1].chunk_ids[0]])
        draft.delete(list(known[2].chunk_ids))
        draft.publish()
    found = {f.source_file: f.problem for f in reconcile(parts, repair=False) if f.source_file}
    assert found[known[0].file_path] == "in the index, but not recorded"
    assert "chunks" in found[known[1].file_path]
    assert found[known[2].file_path] == "recorded, but not in the index"
    assert reconcile(parts) != []
    library.check_invariants()
    report = library.ingest()
    assert report["files"]["new"] == 2
    library.check_invariants()


def test_a_second_run_of_the_same_book_is_refused_while_one_runs(library):
    with (
        library.parts.database.hold_lock("askbook:ingest:book"),
        pytest.raises(AskbookError, match="is running"),
    ):
        library.ingest()


def test_an_operator_finds_the_run_in_prefect(library, prefect_api):
    name = f"bad-{uuid.uuid4().hex}.md"  # all tests share the server
    (library.book / name).write_bytes(b"\x00")
    library.ingest()

    def artifacts(**wanted: object) -> list[dict]:
        query = {"artifacts": wanted, "sort": "CREATED_DESC"}
        return httpx.post(f"{prefect_api}/artifacts/filter", json=query).json()

    quarantined = artifacts(key={"any_": ["quarantine"]})
    run = next(each["flow_run_id"] for each in quarantined if name in each["data"])
    shown = {each["key"]: each for each in artifacts(flow_run_id={"any_": [run]})}
    assert "10 new, 1 quarantined" in shown["plan"]["description"]
    assert shown["gates"]["description"] == "all gates passed"
    assert "| embedded | " in shown["report"]["data"]
    assert shown["progress"]["data"] == 100


def test_the_progress_bar_moves_while_files_are_cut_and_chunks_are_embedded(library, monkeypatch):
    from flows import artifacts, ingest, progress

    sent: list[tuple[float, str]] = []
    send = artifacts.Progress._send
    monkeypatch.setattr(
        artifacts.Progress, "_send", lambda *args: (sent.append(args[1:]), send(*args))
    )
    monkeypatch.setattr(ingest, "_REFRESH_SECONDS", 0.02)
    report = library.ingest()
    percents = [percent for percent, _ in sent]
    assert percents == sorted(percents)
    assert len(set(percents)) > 2
    assert percents[-1] == 100
    total = report["chunks"]["total"]
    assert any(f"{total} of {total} {progress.EMBEDDED}" in told for _, told in sent)
