"""The columns of the checkpoints, and the way from our values to rows and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any  # a row is whatever Parquet held

import pyarrow as pa

from askbook.models import Action, Document, Lesson
from flows.diff import Plan, Step
from flows.discover import Quarantined, Survey

_LESSON = [
    ("book_id", pa.string()),
    ("source_file", pa.string()),
    ("source_file_hash", pa.string()),
    ("module", pa.string()),
    ("chapter", pa.int32()),
    ("lesson", pa.int32()),
    ("chapter_id", pa.string()),
    ("chapter_title", pa.string()),
    ("title_is_written", pa.bool_()),
    ("location", pa.string()),
    ("hardware_tier", pa.int32()),
    ("proficiency_level", pa.string()),
    ("layer", pa.string()),
    ("difficulty", pa.string()),
    ("tags", pa.list_(pa.string())),
    ("page_number", pa.int32()),
]

FILES = pa.schema([*_LESSON, ("quarantine_reason", pa.string()), ("quarantine_line", pa.int64())])

PLAN = pa.schema(
    [
        ("action", pa.string()),
        ("source_file", pa.string()),
        ("reason", pa.string()),
        ("content_hash", pa.string()),
        ("known_file_path", pa.string()),
        ("known_embedding_model", pa.string()),
        ("known_chunk_ids", pa.list_(pa.string())),
    ]
)

LESSONS = pa.schema(_LESSON)

CHUNKS = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("embedded_text", pa.string()),
        ("embedded_hash", pa.string()),
        *((name, kind) for name, kind in _LESSON if name != "title_is_written"),
        ("section_title", pa.string()),
        ("section_id", pa.string()),
        ("heading_path", pa.list_(pa.string())),
        ("parent_doc_id", pa.string()),
        ("chunk_index", pa.int32()),
        ("total_chunks", pa.int32()),
        ("prev_chunk_id", pa.string()),
        ("next_chunk_id", pa.string()),
        ("start_char_offset", pa.int64()),
        ("end_char_offset", pa.int64()),
        ("content_hash", pa.string()),
        ("word_count", pa.int32()),
        ("token_count", pa.int32()),
        ("char_count", pa.int32()),
    ]
)

INDEX = pa.schema([("source_file", pa.string()), ("expected", pa.int64()), ("found", pa.int64())])


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


_LESSON_NAMES = tuple(field.name for field in fields(Lesson))


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A step of a plan as its checkpoint remembers it."""

    action: Action
    source_file: str
    known_file_path: str | None
    known_embedding_model: str | None
    known_chunk_ids: tuple[str, ...]


def survey_to_table(survey: Survey) -> pa.Table:
    """Lessons and quarantined files, one row each."""
    rows: list[dict[str, Any]] = [_row(lesson) for lesson in survey.lessons]
    rows += [
        {
            "source_file": each.source_file,
            "quarantine_reason": each.reason,
            "quarantine_line": each.line,
        }
        for each in survey.quarantined
    ]
    return pa.Table.from_pylist(rows, schema=FILES)


def survey_from_table(table: pa.Table) -> Survey:
    """The survey that was written."""
    lessons, quarantined = [], []
    for row in table.to_pylist():
        reason, line = row.pop("quarantine_reason"), row.pop("quarantine_line")
        if reason is None:
            lessons.append(_lesson(row))
        else:
            quarantined.append(Quarantined(row["source_file"], reason, line))
    return Survey(tuple(lessons), tuple(quarantined))


def lessons_to_table(lessons: Iterable[Lesson]) -> pa.Table:
    """One shard's lessons."""
    return pa.Table.from_pylist([_row(lesson) for lesson in lessons], schema=LESSONS)


def lessons_from_table(table: pa.Table) -> list[Lesson]:
    """The lessons of a shard."""
    return [_lesson(row) for row in table.to_pylist()]


def plan_to_table(plan: Plan) -> pa.Table:
    """One row per file: what is done with it, and what is known of it."""
    return pa.Table.from_pylist([_plan_row(step) for step in plan.steps], schema=PLAN)


def plan_from_table(table: pa.Table) -> list[PlannedFile]:
    """What the later stages need of a plan."""
    return [
        PlannedFile(
            Action(row["action"]),
            row["source_file"],
            row["known_file_path"],
            row["known_embedding_model"],
            tuple(row["known_chunk_ids"] or ()),
        )
        for row in table.to_pylist()
    ]


def _plan_row(step: Step) -> dict[str, Any]:
    known: Document | None = step.known
    return {
        "action": step.action.value,
        "source_file": step.source_file,
        "reason": step.reason,
        "content_hash": step.lesson.source_file_hash if step.lesson else None,
        "known_file_path": known.file_path if known else None,
        "known_embedding_model": known.embedding_model if known else None,
        "known_chunk_ids": list(known.chunk_ids) if known else None,
    }


def _row(lesson: Lesson) -> dict[str, Any]:
    # `asdict` copies deeply and takes ten times as long.
    return {name: getattr(lesson, name) for name in _LESSON_NAMES}


def _lesson(row: dict[str, Any]) -> Lesson:
    row["tags"] = tuple(row["tags"] or ())
    return Lesson(**{name: row[name] for name in _LESSON_NAMES})


def rows_of(table: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of some columns, as tuples."""
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))
