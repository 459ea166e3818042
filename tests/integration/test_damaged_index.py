"""A published version that is no longer what was published: found at open, never served."""

import shutil

import pytest
from test_index_contract import ARM, EVERYTHING, EYE, LEG, MODEL, publish

from askbook.errors import IndexFault
from askbook.index.edge import EdgeIndex


@pytest.fixture(scope="module")
def _folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged") / "index"
    index = EdgeIndex(folder)
    publish(index, ARM)
    publish(index, LEG)
    return folder


@pytest.fixture
def folder(_folder, tmp_path):
    """A collection with two versions: v000001 holds one chunk, v000002 two."""
    shutil.copytree(_folder, tmp_path / "index")
    return tmp_path / "index"


def flip(path, where: int) -> None:
    with path.open("r+b") as handle:
        handle.seek(where)
        byte = handle.read(1)[0]
        handle.seek(where)
        handle.write(bytes([byte ^ 1]))


def test_a_changed_byte_in_any_file_sends_readers_to_the_version_before(folder):
    files = sorted(p for p in (folder / "versions" / "v000002").rglob("*") if p.is_file())
    files = [p for p in files if p.stat().st_size]
    assert len(files) > 50
    for path in files[::30]:
        for where in (0, path.stat().st_size // 2):  # often in a hole
            flip(path, where)
            index = EdgeIndex(folder)
            assert index.count(EVERYTHING) == 1, path
            assert "v000002 is damaged" in index.problem()
            assert "served v000001" in index.problem()
            flip(path, where)
    whole = EdgeIndex(folder)
    assert whole.count(EVERYTHING) == 2
    assert whole.problem() is None


@pytest.mark.parametrize("harm", ["cut", "removed", "no facts"])
def test_other_harm_is_found_too(folder, harm):
    version = folder / "versions" / "v000002"
    vectors = next(version.rglob("chunk_0.mmap"), None) or next(version.rglob("matrix.dat"))
    if harm == "cut":
        vectors.write_bytes(vectors.read_bytes()[:100])
    elif harm == "removed":
        vectors.unlink()
    else:
        (version / "version.json").write_text('{"created_at"')
    index = EdgeIndex(folder)
    assert index.count(EVERYTHING) == 1
    assert "v000002" in index.problem()
    assert [each.name for each in index.versions()][-1] == "v000001"


def test_a_reader_at_work_keeps_the_version_it_has(folder, caplog):
    index = EdgeIndex(folder)
    assert index.count(EVERYTHING) == 2
    publish(EdgeIndex(folder), EYE)
    flip(next((folder / "versions" / "v000003").rglob("*.dat")), 0)
    assert index.count(EVERYTHING) == 2
    assert "v000003 is damaged" in caplog.text
    assert "served v000002" in index.problem()


def test_nothing_is_built_on_a_damaged_version_and_rollback_mends(folder):
    flip(next((folder / "versions" / "v000002").rglob("*.dat")), 0)
    index = EdgeIndex(folder)
    with pytest.raises(IndexFault, match="askbook rollback"), index.build(**MODEL):
        pass
    assert index.rollback() == "v000001"
    publish(index, EYE)
    assert index.count(EVERYTHING) == 2
    assert index.problem() is None


def test_a_collection_with_no_whole_version_says_so(folder):
    for path in folder.glob("versions/*/segments/*/segment.json"):
        flip(path, 0)
    index = EdgeIndex(folder)
    with pytest.raises(IndexFault, match=r"v000002 is damaged.*restore a backup"):
        index.count(EVERYTHING)
    assert "damaged" in index.problem()
