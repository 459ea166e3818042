"""Parquet checkpoints: whole or absent, readable with pandas, on any file system."""

import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askbook.errors import RunRefused
from flows.checkpoints import Checkpoints, prune

TABLE = pa.table({"id": ["a", "b"], "vector": pa.array([[1.0], [2.0]], pa.list_(pa.float32(), 1))})


@pytest.fixture(params=["local", "memory"])
def checkpoints(request, tmp_path) -> Checkpoints:
    base = str(tmp_path) if request.param == "local" else f"memory://{tmp_path.name}"
    return Checkpoints(f"{base}/book/run-1")


def test_a_part_comes_back_as_it_was_written(checkpoints):
    checkpoints.write("chunks-0000", TABLE)
    assert checkpoints.read("chunks-0000").to_pylist() == TABLE.to_pylist()
    assert checkpoints.read("chunks-0000", ["id"]).column_names == ["id"]


def test_parts_are_listed_by_prefix_in_order(checkpoints):
    for name in ("vectors-0000-0001", "chunks-0000", "vectors-0000-0000", "vectors-0001-0000"):
        checkpoints.write(name, TABLE)
    assert checkpoints.parts("vectors-0000-") == ["vectors-0000-0000", "vectors-0000-0001"]
    assert len(list(checkpoints.read_all("vectors-"))) == 3
    assert Checkpoints(checkpoints.folder + "x").parts("") == []


def test_siblings_are_the_other_runs_of_the_book(checkpoints):
    other = Checkpoints(checkpoints.folder.replace("run-1", "run-2"))
    checkpoints.write("plan", TABLE)
    other.write("plan", TABLE)
    other.mark_complete()
    assert checkpoints.siblings() == [other]
    assert other.is_complete
    assert not checkpoints.is_complete
    prune(checkpoints, keep=0)
    assert checkpoints.siblings() == []
    assert checkpoints.parts("") == ["plan"]


def test_pandas_reads_a_part(tmp_path):
    Checkpoints(str(tmp_path / "run")).write("chunks-0000", TABLE)
    assert pd.read_parquet(tmp_path / "run" / "chunks-0000.parquet")["id"].tolist() == ["a", "b"]


@given(data=st.data())
def test_a_damaged_part_is_found_out_and_made_anew(data):
    checkpoints = Checkpoints("memory://damaged/run")
    checkpoints.write("chunks-0000", TABLE)
    checkpoints.write("chunks-0001", TABLE)
    memory = fsspec.filesystem("memory")
    whole = memory.cat("/damaged/run/chunks-0000.parquet")
    where = data.draw(st.integers(0, len(whole) - 1))
    broken = bytearray(whole[: data.draw(st.sampled_from([where, len(whole)]))])
    if len(broken) == len(whole):
        broken[where] ^= data.draw(st.integers(1, 255))
    memory.pipe("/damaged/run/chunks-0000.parquet", bytes(broken))
    assert checkpoints.usable_parts("chunks-") == ["chunks-0001"]
    assert checkpoints.parts("chunks-") == ["chunks-0001"]


def test_a_damaged_part_says_what_to_do(tmp_path):
    checkpoints = Checkpoints(str(tmp_path / "run"))
    checkpoints.write("chunks-0000", TABLE)
    path = tmp_path / "run" / "chunks-0000.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(RunRefused, match=r"chunks-0000\.parquet is damaged.*Run again"):
        checkpoints.read("chunks-0000")


def test_a_part_of_another_schema_version_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    pd.DataFrame({"id": ["a"]}).to_parquet(tmp_path / "run" / "plan.parquet")
    with pytest.raises(RunRefused, match="another version of askbook"):
        Checkpoints(str(tmp_path / "run")).read("plan")
