"""The tables, as the migrations leave them."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    CHAR,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

metadata = MetaData()

_Time = DateTime(timezone=True)

document_metadata = Table(
    "document_metadata",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("book_id", String(100), nullable=False),
    Column("file_path", String(512), nullable=False),
    Column("content_hash", CHAR(64), nullable=False),
    Column("last_indexed_at", _Time, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("chunk_ids", ARRAY(UUID(as_uuid=False)), nullable=False),
    Column("module", String(100), nullable=False),
    Column("chapter", Integer, nullable=False),
    Column("lesson", Integer, nullable=False),
    Column("location", Text, nullable=False),
    Column("embedding_model", String(100), nullable=False),
    Column("chunker", String(100), nullable=False),
    UniqueConstraint("book_id", "file_path"),
    CheckConstraint("chunk_count >= 0"),
    CheckConstraint("chunk_count = cardinality(chunk_ids)"),
)

ingestion_state = Table(
    "ingestion_state",
    metadata,
    Column("book_id", String(100), primary_key=True),
    Column("collection_name", String(100), nullable=False),
    Column("book_dir", Text, nullable=False),
    Column("last_full_ingest", _Time),
    Column("last_incremental_update", _Time),
    Column("total_chunks", Integer, nullable=False),
    CheckConstraint("total_chunks >= 0"),
)

ingestion_jobs = Table(
    "ingestion_jobs",
    metadata,
    Column("job_id", Integer, Identity(), primary_key=True),
    Column("book_id", String(100), nullable=False),
    Column("mode", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("files_processed", Integer, nullable=False, server_default="0"),
    Column("files_skipped", Integer, nullable=False, server_default="0"),
    Column("chunks_created", Integer, nullable=False, server_default="0"),
    Column("chunks_deleted", Integer, nullable=False, server_default="0"),
    Column("started_at", _Time),
    Column("completed_at", _Time),
    Column("duration_seconds", Numeric(12, 3, asdecimal=False)),
    Column("error_message", Text),
    Column("report", JSONB, nullable=False, server_default="{}"),
    Column("queued_at", _Time),
    Column("flow_run_id", UUID(as_uuid=True)),
)
