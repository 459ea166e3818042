"""Imports that wait until they are needed."""

import subprocess
import sys

CONVERTED = """
import sys
from flows.lazily import convert_without_pandas

convert_without_pandas()
import pyarrow as pa

table = pa.Table.from_pylist([{"id": "a"}])
assert "pandas" not in sys.modules
assert list(table.to_pandas()["id"]) == ["a"]
assert pa.array(sys.modules["pandas"].Series(["b"])).to_pylist() == ["b"]
"""


def test_lists_become_columns_without_pandas_and_pandas_still_works_when_it_is_wanted():
    done = subprocess.run(
        [sys.executable, "-c", CONVERTED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
