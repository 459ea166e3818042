"""Parquet between the stages: written aside, renamed in, readable with plain pandas.

    <checkpoints>/<book_id>/<fingerprint>/plan.parquet
                                          files-0000.parquet    a shard's lessons
                                          chunks-0000.parquet   its chunks
                                          vectors-0000-0000.parquet  a batch of its vectors
                                          COMPLETE              the run ended well

The fingerprint is made of the plan, the chunker and the model, so that a run that was killed is
found again by the run that does the same work. Any location that fsspec knows will do.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from askbook.errors import RunRefused

SCHEMA_VERSION = b"1"
_MARK = b"askbook_schema"
_COMPLETE = "COMPLETE"


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The parts of one run below a folder."""

    folder: str

    def write(self, part: str, table: pa.Table) -> None:
        """Write aside, then rename: a part is there whole, or not at all."""
        files, root = self._open()
        path = f"{root}/{part}.parquet"
        aside = f"{root}/{part}.{uuid.uuid4().hex[:8]}.tmp"
        files.makedirs(root, exist_ok=True)
        stamped = table.replace_schema_metadata({_MARK: SCHEMA_VERSION})
        with files.open(aside, "wb") as handle:
            pq.write_table(stamped, handle, compression="zstd")
        files.mv(aside, path)

    def read(self, part: str, columns: list[str] | None = None) -> pa.Table:
        """A whole part, or some of its columns."""
        files, root = self._open()
        with files.open(f"{root}/{part}.parquet", "rb") as handle:
            try:
                table = pq.read_table(handle, columns=columns)
            except (pa.ArrowException, OSError) as error:
                raise RunRefused(
                    f"The checkpoint {root}/{part}.parquet is damaged ({error}). "
                    f"Remove the folder {root} and run again."
                ) from error
        if (table.schema.metadata or {}).get(_MARK) != SCHEMA_VERSION:
            raise RunRefused(
                f"The checkpoint {root}/{part}.parquet was written by another version of askbook. "
                f"Remove the folder {root} and run again."
            )
        return table

    def parts(self, prefix: str) -> list[str]:
        """Names of the finished parts that begin so, sorted."""
        files, root = self._open()
        if not files.exists(root):
            return []
        names = (entry.rsplit("/", 1)[-1] for entry in files.ls(root, detail=False))
        return sorted(
            name.removesuffix(".parquet")
            for name in names
            if name.startswith(prefix) and name.endswith(".parquet")
        )

    def read_all(self, prefix: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """The finished parts that begin so, one at a time."""
        for part in self.parts(prefix):
            yield self.read(part, columns)

    def mark_complete(self) -> None:
        """The work of this run is in the index and recorded."""
        files, root = self._open()
        files.makedirs(root, exist_ok=True)
        files.touch(f"{root}/{_COMPLETE}")

    @property
    def is_complete(self) -> bool:
        """Whether a run ended well with these checkpoints."""
        files, root = self._open()
        return bool(files.exists(f"{root}/{_COMPLETE}"))

    def siblings(self) -> list[Checkpoints]:
        """Other runs of the same book, oldest first."""
        files, root = self._open()
        parent = root.rsplit("/", 1)[0]
        if not files.exists(parent):
            return []
        entries = sorted(
            files.ls(parent, detail=True), key=lambda e: str(e.get("mtime", e.get("created", "")))
        )
        base = self.folder.rsplit("/", 1)[0]
        names = [
            e["name"].rstrip("/").rsplit("/", 1)[-1] for e in entries if e["type"] == "directory"
        ]
        return [Checkpoints(f"{base}/{name}") for name in names if not root.endswith(f"/{name}")]

    def remove(self) -> None:
        """Forget the run."""
        files, root = self._open()
        if files.exists(root):
            files.rm(root, recursive=True)

    def _open(self) -> tuple[fsspec.AbstractFileSystem, str]:
        files, root = fsspec.core.url_to_fs(self.folder)
        return files, root


def prune(current: Checkpoints, keep: int) -> None:
    """Keep the newest `keep` finished runs besides the current one; unfinished ones stay.

    An unfinished run holds vectors that were paid for; when the current run has done its work
    they are in the index, so runs that are older than the kept ones go too.
    """
    others = current.siblings()
    for run in others[: max(len(others) - keep, 0)]:
        run.remove()
