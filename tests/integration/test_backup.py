"""A backup comes back whole, anywhere, on either engine; or it is refused and nothing changes."""

import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient
from sqlalchemy import text

from askbook.backup import archive, rows
from askbook.backup.restoring import check, restore
from askbook.backup.saving import save
from askbook.errors import AskbookError, BackupError, RunRefused
from askbook.index.server import ServerIndex
from askbook.models import Answer, ChunkFilter, Mode
from askbook.settings import Settings
from askbook.store import jobs, sessions
from askbook.wiring import Parts

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
BOOK = "book"


def parts_at(home: Path) -> Parts:
    return Parts(Settings(home=home, embedder="hashing", _env_file=None))


def index_of(parts: Parts) -> dict:
    chunks = parts.index.scroll(ChunkFilter(), with_vectors=True, with_words=True)
    return {each.id: (each.payload, each.vector, each.words) for each in chunks}


def rows_of(parts: Parts) -> dict:
    with parts.database.begin() as connection:
        return {
            name: connection.execute(text(f'TABLE "{name}" ORDER BY 1')).all()
            for name in rows.tables(connection)
        }


@pytest.fixture(scope="module")
def origin(tmp_path_factory, indexed_home):
    """A home with a book and a conversation; itself restored, so that nobody else's changes."""
    source = parts_at(indexed_home.home)
    folder = tmp_path_factory.mktemp("origin")
    save(source, folder / "first.tar")
    parts = parts_at(folder / "home")
    restore(parts, folder / "first.tar")
    assert (index_of(parts), rows_of(parts)) == (index_of(source), rows_of(source))
    assert index_of(parts)
    source.close()
    with parts.database.begin() as connection:
        session = sessions.start(connection)
        told = Answer('a "b",\n\\N é 日本', (), 0.1 + 0.2, refused=False, mode="rag")
        sessions.remember(connection, session.id, "NULL", told)
    yield parts
    parts.close()


@pytest.fixture(scope="module")
def backup(origin, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "book.tar"
    save(origin, path)
    return path


@pytest.fixture(scope="module")
def _target(tmp_path_factory):
    parts = parts_at(tmp_path_factory.mktemp("target") / "home")
    yield parts
    parts.close()


@pytest.fixture
def target(_target) -> Parts:
    """Another machine, with nothing on it."""
    with _target.database.begin() as connection:
        rows.clear(connection)
    shutil.rmtree(_target.settings.home / "index", ignore_errors=True)
    _target.__dict__.pop("index", None)
    return _target


def search(parts: Parts):
    vector = np.ones(parts.index.versions()[0].dimensions, dtype=np.float32)
    hits = parts.index.search(vector, "quality of service", ChunkFilter(), 10, 100)
    return {hit.id: pytest.approx(hit.score) for hit in hits}


def test_a_backup_brings_everything_back_on_another_machine(origin, backup, target):
    manifest, version = restore(target, backup)
    assert index_of(target) == index_of(origin)
    assert rows_of(target) == rows_of(origin)
    assert search(target) == search(origin)
    assert version == target.index.versions()[0].name
    assert manifest.points == len(index_of(origin))
    assert manifest.embedding_model == target.index.versions()[0].embedding_model
    with target.database.begin() as connection:  # runs go on counting where they were
        last = jobs.recent(connection)[0].job_id
        assert jobs.start(connection, BOOK, Mode.FULL) == last + 1


def same_but_for_rounding(one: dict, other: dict) -> None:
    """The client's in-memory mode brings unit vectors to length one again, in its own way."""
    assert one.keys() == other.keys()
    for key, (payload, vector, words) in one.items():
        assert (payload, words) == (other[key][0], other[key][2])
        assert np.allclose(vector, other[key][1], atol=1e-6)


def test_a_backup_moves_between_the_embedded_engine_and_a_server(origin, backup, target, tmp_path):
    server = ServerIndex(QdrantClient(":memory:"), "moved")
    target.__dict__["index"] = server
    restore(target, backup)
    same_but_for_rounding(index_of(target), index_of(origin))
    save(target, tmp_path / "from-server.tar")
    del target.__dict__["index"]
    restore(target, tmp_path / "from-server.tar", force=True)
    same_but_for_rounding(index_of(target), index_of(origin))
    assert target.index.versions()[0].name == "v000001"


def test_an_installation_without_a_book_is_backed_up_too(backup, target, tmp_path):
    save(target, tmp_path / "empty.tar")
    assert restore(target, tmp_path / "empty.tar")[1] is None
    restore(target, backup)
    assert restore(target, tmp_path / "empty.tar", force=True)[1] == "v000002"
    assert index_of(target) == {}
    assert not any(rows_of(target).values())


def test_what_is_there_is_only_replaced_by_force(origin, backup, target):
    restore(target, backup)
    with target.database.begin() as connection:
        connection.execute(text("DELETE FROM document_metadata"))
    with pytest.raises(BackupError, match="--force"):
        restore(target, backup)
    assert not rows_of(target)["document_metadata"]
    restore(target, backup, force=True)
    assert rows_of(target) == rows_of(origin)


def test_a_conversation_alone_is_something_to_lose(backup, target):
    with target.database.begin() as connection:
        sessions.start(connection)
    with pytest.raises(BackupError, match="--force"):
        restore(target, backup)


def test_nothing_is_saved_or_restored_under_a_running_ingest(origin, backup, target, tmp_path):
    with (
        origin.database.hold_lock(f"askbook:ingest:{BOOK}"),
        pytest.raises(RunRefused, match="running"),
    ):
        save(origin, tmp_path / "new.tar")
    with (
        target.database.hold_lock(f"askbook:ingest:{BOOK}"),
        pytest.raises(RunRefused, match="running"),
    ):
        restore(target, backup)
    assert list(tmp_path.glob("*.tar")) == []


def test_an_older_backup_is_not_overwritten_by_accident(origin, backup):
    before = backup.read_bytes()
    with pytest.raises(BackupError, match="there already"):
        save(origin, backup)
    assert backup.read_bytes() == before


@settings(max_examples=60)
@given(data=st.data())
def test_no_byte_of_a_backup_can_change_unnoticed(backup, tmp_path_factory, data):
    whole = bytearray(backup.read_bytes())
    where = data.draw(st.integers(0, len(whole) - 1))
    whole[where] ^= data.draw(st.integers(1, 255))
    broken = tmp_path_factory.getbasetemp() / "broken.tar"
    broken.write_bytes(whole)
    with pytest.raises(BackupError, match="damaged"):
        check(broken)


@settings(max_examples=40)
@given(data=st.data())
def test_a_backup_cut_short_or_grown_is_refused(backup, tmp_path_factory, data):
    whole = backup.read_bytes()
    kept = whole[: data.draw(st.integers(0, len(whole)))]
    more = data.draw(st.binary(min_size=len(kept) == len(whole), max_size=20_000))
    broken = tmp_path_factory.getbasetemp() / "broken.tar"
    broken.write_bytes(kept + more)
    if kept + more != whole:
        with pytest.raises(BackupError, match="damaged"):
            check(broken)


def resealed(backup: Path, folder: Path, **changes: object) -> Path:
    """A backup with another manifest and a good seal: made by mistake or by somebody else."""
    members = folder / "members"
    with tarfile.open(backup) as tar:
        tar.extractall(members, filter="data")
    manifest = archive.Manifest(**json.loads((members / "manifest.json").read_text()))
    archive.seal(members, replace(manifest, **changes), folder / "resealed.tar")
    return folder / "resealed.tar"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema_revision": "0000"}, "revision 0000"),
        ({"format": 2}, "format 2"),
        ({"points": 1}, "of the backup's 1 chunks"),
        ({"rows": {"document_metadata": 1}}, "of the 1 rows of document_metadata"),
        ({"dimensions": 3}, "vector of"),
    ],
)
def test_a_backup_that_does_not_fit_changes_nothing(backup, origin, tmp_path, changes, words):
    before = index_of(origin), rows_of(origin), origin.index.versions()
    with pytest.raises(AskbookError, match=words):
        restore(origin, resealed(backup, tmp_path, **changes), force=True)
    assert (index_of(origin), rows_of(origin), origin.index.versions()) == before


def test_a_member_that_its_manifest_does_not_name_so_is_refused(backup, tmp_path):
    manifest = check(backup)
    wrong = dict.fromkeys(manifest.sha256, "0" * 64)
    with pytest.raises(BackupError, match="not the one its manifest names"):
        check(resealed(backup, tmp_path, sha256=wrong))


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 30_000])
def test_any_other_file_is_refused(tmp_path, content):
    path = tmp_path / "other.tar"
    path.write_bytes(content)
    with pytest.raises(BackupError, match="not a backup"):
        check(path)
    with pytest.raises(BackupError, match="cannot be read"):
        check(tmp_path / "nowhere.tar")


def test_plain_tools_read_a_backup(backup, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tarfile.open(backup) as tar:
        tar.extractall(tmp_path, filter="data")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert pq.read_table(tmp_path / "points.parquet").num_rows == manifest["points"]
    with pa.input_stream(str(tmp_path / "rows" / "chat_messages.csv.zst")) as handle:
        assert b"id,session_id,role,content" in handle.read()
    assert backup.stat().st_mode & 0o077 == 0  # conversations are in it


def test_from_the_command_line(indexed_home, tmp_path):
    file, other = tmp_path / "book.tar", str(tmp_path / "home")
    saved = indexed_home.json("backup", file)
    whole = indexed_home.run("restore", file, "--dry-run")
    assert "is whole" in whole.stdout
    restored = indexed_home.json("restore", file, ASKBOOK_HOME=other)
    assert restored["manifest"] == saved
    assert restored["index_version"] == "v000001"
    refused = indexed_home.run("restore", file, ASKBOOK_HOME=other)
    assert refused.returncode == 1
    assert refused.stderr.startswith("askbook: There is something at")
    state = indexed_home.json("status", ASKBOOK_HOME=other)
    assert state["books"] == indexed_home.json("status")["books"]
