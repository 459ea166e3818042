"""CocoIndex: an app whose files are components with memory, into a Qdrant collection."""

import os
import sys
import uuid
from pathlib import Path

BOOK, STATE = Path(sys.argv[1]), Path(sys.argv[2])
STATE.mkdir(parents=True, exist_ok=True)
os.environ["COCOINDEX_DISABLE_USAGE_TRACKING"] = "1"
os.environ["COCOINDEX_DB"] = str(STATE / "coco.db")

import cocoindex as coco
import numpy as np
from cocoindex.connectors import localfs, qdrant
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.file import PatternFilePathMatcher
from cocoindex.resources.schema import VectorSchema
from qdrant_client import QdrantClient, models

from askbook.providers.hashing import HashingEmbedder

DB = coco.ContextKey("book_db")
splitter = RecursiveSplitter()
embedder = HashingEmbedder()


@coco.lifespan
def environment(builder):
    client = QdrantClient(path=str(STATE / "qdrant"))
    builder.provide(DB, client)
    yield
    client.close()


@coco.fn(memo=True)
def embed(text: str):
    return embedder._embed(text)


@coco.fn(memo=True)
async def one_file(file, target) -> None:
    text = await file.read_text()
    for number, chunk in enumerate(splitter.split(text, chunk_size=1600, language="markdown")):
        name = f"{file.file_path.path.as_posix()}:{number}"
        target.declare_point(
            models.PointStruct(
                id=str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
                vector=embed(chunk.text).tolist(),
                payload={"file": name, "text": chunk.text},
            )
        )


@coco.fn
async def main_fn() -> None:
    schema = await qdrant.CollectionSchema.create(
        qdrant.QdrantVectorDef(
            VectorSchema(dtype=np.dtype(np.float32), size=HashingEmbedder.dimensions)
        )
    )
    target = await qdrant.mount_collection_target(DB, "book", schema)
    files = localfs.walk_dir(
        BOOK, recursive=True, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.md"])
    )
    await coco.mount_each(one_file, files.items(), target)


coco.App("book", main_fn).update_blocking()
