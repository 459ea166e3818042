"""Stage 3: cut the files of one shard into chunks; a pure function per file."""

from __future__ import annotations

import hashlib

import pyarrow as pa

from askbook.book.chunk import chunk_lesson
from askbook.book.source import decode
from askbook.errors import RunRefused
from askbook.models import Lesson
from askbook.payload import embedded_hash, to_record
from flows import progress
from flows.checkpoints import Checkpoints
from flows.discover import read_bytes
from flows.run import RunSpec
from flows.tables import CHUNKS, lessons_from_table


def chunk(spec: RunSpec, checkpoints: Checkpoints, shard: str) -> str:
    """Write the chunks of one shard's lessons; returns the part's name. A finished part is kept."""
    part = f"chunks-{shard}"
    if part not in checkpoints.usable_parts(part):
        lessons = lessons_from_table(checkpoints.read(f"files-{shard}"))
        records = []
        for lesson in lessons:
            records += records_of(spec, lesson)
            progress.advance(progress.CUT, 1)
        checkpoints.write(part, pa.Table.from_pylist(records, schema=CHUNKS))
    return part


def records_of(spec: RunSpec, lesson: Lesson) -> list[dict[str, object]]:
    """One file's chunks as checkpoint rows; raises when the file is not the planned one."""
    path = spec.book_dir / lesson.source_file
    raw = read_bytes(path, lesson.source_file, spec.settings.max_file_bytes)
    if hashlib.sha256(raw).hexdigest() != lesson.source_file_hash:
        raise RunRefused(
            f"{lesson.source_file} was changed while the run was reading the book. "
            "Nothing was changed in the index; run again."
        )
    model, dimensions = spec.parts.embedder.model, spec.parts.embedder.dimensions
    return [
        to_record(each)
        | {
            "embedded_text": each.embedded_text,
            "embedded_hash": embedded_hash(each.embedded_text, model, dimensions),
        }
        for each in chunk_lesson(decode(raw, lesson.source_file), lesson, spec.chunk_settings)
    ]
