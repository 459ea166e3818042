"""Parquet between the stages: written aside, renamed in, readable with plain pandas.

    <home>/checkpoints/<book_id>/<fingerprint>/chunks-0000.parquet
                                               vectors-0000-0000.parquet

The fingerprint is made of the plan, the chunker and the model, so that a run that was killed is
found again by the run that does the same work.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA_VERSION = b"1"

CHUNKS = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("embedded_text", pa.string()),
        ("embedded_hash", pa.string()),
        ("book_id", pa.string()),
        ("module", pa.string()),
        ("chapter", pa.int32()),
        ("lesson", pa.int32()),
        ("location", pa.string()),
        ("chapter_id", pa.string()),
        ("chapter_title", pa.string()),
        ("section_title", pa.string()),
        ("section_id", pa.string()),
        ("heading_path", pa.list_(pa.string())),
        ("hardware_tier", pa.int32()),
        ("proficiency_level", pa.string()),
        ("layer", pa.string()),
        ("difficulty", pa.string()),
        ("tags", pa.list_(pa.string())),
        ("source_file", pa.string()),
        ("parent_doc_id", pa.string()),
        ("chunk_index", pa.int32()),
        ("total_chunks", pa.int32()),
        ("prev_chunk_id", pa.string()),
        ("next_chunk_id", pa.string()),
        ("start_char_offset", pa.int64()),
        ("end_char_offset", pa.int64()),
        ("page_number", pa.int32()),
        ("content_hash", pa.string()),
        ("source_file_hash", pa.string()),
        ("word_count", pa.int32()),
        ("token_count", pa.int32()),
        ("char_count", pa.int32()),
    ]
)


def vectors_schema(dimensions: int) -> pa.Schema:
    """Vectors under the hash of what was embedded."""
    return pa.schema(
        [
            ("embedded_hash", pa.string()),
            ("vector", pa.list_(pa.float32(), dimensions)),
            ("embedded_at", pa.timestamp("us", tz="UTC")),
            ("origin", pa.string()),  # "embedded" or "reused"
        ]
    )


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The parts of one run below a folder, on any file system fsspec knows."""

    folder: str

    def write(self, part: str, table: pa.Table) -> None:
        """Write aside, then rename: a part is there whole, or not at all."""
        files, path = self._resolve(part)
        aside = f"{path}.{uuid.uuid4().hex[:8]}.tmp"
        files.makedirs(files._parent(path), exist_ok=True)  # noqa: SLF001 - fsspec's only spelling
        stamped = table.replace_schema_metadata({b"askbook": SCHEMA_VERSION})
        with files.open(aside, "wb") as handle:
            pq.write_table(stamped, handle, compression="zstd")
        files.mv(aside, path)

    def read(self, part: str) -> pa.Table:
        """A whole part."""
        files, path = self._resolve(part)
        with files.open(path, "rb") as handle:
            return pq.read_table(handle)

    def parts(self, prefix: str) -> list[str]:
        """Names of the finished parts that begin so, sorted."""
        files, path = self._resolve("")
        if not files.exists(path):
            return []
        names = (entry.rsplit("/", 1)[-1] for entry in files.ls(path, detail=False))
        return sorted(
            name.removesuffix(".parquet")
            for name in names
            if name.startswith(prefix) and name.endswith(".parquet")
        )

    def read_all(self, prefix: str) -> Iterator[pa.Table]:
        """The finished parts that begin so, one at a time."""
        for part in self.parts(prefix):
            yield self.read(part)

    def remove(self) -> None:
        """Forget the run."""
        files, path = self._resolve("")
        if files.exists(path):
            files.rm(path, recursive=True)

    def _resolve(self, part: str) -> tuple[fsspec.AbstractFileSystem, str]:
        files, root = fsspec.core.url_to_fs(self.folder)
        return files, f"{root}/{part}.parquet" if part else root
