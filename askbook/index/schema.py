"""What every collection looks like, whichever engine holds it."""

from __future__ import annotations

from dataclasses import dataclass

DENSE = "dense"
SPARSE = "bm25"

TENANT_FIELD = "book_id"
KEYWORD_FIELDS = (
    "module",
    "proficiency_level",
    "layer",
    "parent_doc_id",
    "content_hash",
    "source_file_hash",
    "chapter_id",
    "section_id",
    "source_file",
    "tags",
    "difficulty",
    "embedded_hash",
)
INTEGER_FIELDS = (
    "chapter",
    "lesson",
    "hardware_tier",
    "start_char_offset",
    "end_char_offset",
)

UPSERT_BATCH = 256  # points a call: bounded memory, few calls
SCROLL_PAGE = 512
MOST_FACETS = 1_000_000  # values of one field; a book has at most this many files


@dataclass(frozen=True, slots=True)
class Layout:
    """How a collection that is made anew lies in memory and on the machines of a cluster."""

    quantized: bool = False  # search on 8-bit copies of the vectors, rescore with the exact ones
    shards: int | None = None  # None: as the server does by itself
    replicas: int | None = None
    write_consistency: int | None = None  # replicas that must confirm a write


def vectors_wanted(*, with_vectors: bool, with_words: bool) -> list[str] | bool:
    """Which vectors a read asks the engine for; False for none."""
    return [DENSE] * with_vectors + [SPARSE] * with_words or False
