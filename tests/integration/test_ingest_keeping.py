"""What runs leave behind: nothing when nothing changed, versions to go back to, checkpoints."""

import hashlib
from pathlib import Path

import pytest
from sqlalchemy import text

from askbook.errors import IndexFault
from askbook.rollback import rollback
from askbook.settings import load_settings
from flows.planning import nothing_to_do, plan_now, record_nothing_to_do
from flows.run import RunSpec

LESSON = Path("module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx")
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"


def rows(library) -> dict[str, set[str]]:
    """Every row of every table, with where it lies and which transaction wrote it."""
    with library.parts.database.begin() as connection:
        return {
            name: set(connection.scalars(text(f"SELECT (ctid, xmin, t)::text FROM {name} t")))  # noqa: S608
            for name in connection.scalars(text(_TABLES)).all()
        }


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def through_the_command_line(library) -> None:
    spec = RunSpec(load_settings(), library.book, "book")
    plan = plan_now(spec)
    assert nothing_to_do(spec, plan)
    record_nothing_to_do(spec, plan)


@pytest.mark.parametrize("again", [lambda library: library.ingest(), through_the_command_line])
def test_a_run_with_nothing_to_do_writes_only_its_job_row(library, again):
    library.ingest()
    index = load_settings().home / "index"
    before, held = rows(library), files(index)
    pointer = (index / "physical_ai_book" / "CURRENT").stat()
    again(library)
    after = rows(library)
    assert set(after) == set(before)
    assert {name for name in after if after[name] != before[name]} == {"ingestion_jobs"}
    assert len(after["ingestion_jobs"] - before["ingestion_jobs"]) == 1
    assert before["ingestion_jobs"] <= after["ingestion_jobs"]
    assert files(index) == held
    assert (index / "physical_ai_book" / "CURRENT").stat() == pointer
    assert library.last_job.files_skipped == 10


def test_old_versions_and_checkpoints_go_and_a_version_is_gone_back_to_by_name(library, tmp_path):
    library.set("KEEP_VERSIONS", 2)
    library.set("KEEP_CHECKPOINTS", 1)
    library.set("CHECKPOINTS", (tmp_path / "elsewhere").as_uri())  # a second root
    library.ingest()
    for planet in ("Mercury", "Venus", "Pluto"):
        library.edit(LESSON, "A topic is a named", f"{planet}. A topic is a named")
        library.ingest()
    versions = library.parts.index.versions()
    assert [each.name for each in versions] == ["v000004", "v000003"]
    assert len(list((tmp_path / "elsewhere" / "book").iterdir())) == 2  # the last one and one more
    assert not (load_settings().home / "checkpoints").exists()

    assert rollback(library.parts) == "v000003"
    assert not any("Pluto" in each for each in library.texts)
    library.check_invariants()
    assert library.ingest()["files"]["modified"] == 1
    assert any("Pluto" in each for each in library.texts)
    assert rollback(library.parts, "v000004") == "v000004"
    library.check_invariants()
    with pytest.raises(IndexFault, match="no index version 'v000001'"):
        rollback(library.parts, "v000001")
    with pytest.raises(IndexFault, match="no older"):
        rollback(library.parts)


def test_checkpoints_may_live_anywhere_fsspec_reaches(library):
    library.set("CHECKPOINTS", "memory://askbook-test")
    library.set("KEEP_CHECKPOINTS", 0)
    for planet in ("Mars", "Juno"):
        library.edit(LESSON, "A topic is a named", f"{planet}. A topic is a named")
        assert library.ingest()["status"] == "completed"
    assert not (load_settings().home / "checkpoints").exists()
