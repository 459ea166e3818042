"""LangChain: `index()` with a record manager, full clean-up, so that deletions are seen."""

import sys
from pathlib import Path

from langchain_classic.indexes import SQLRecordManager, index
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from qdrant_client import QdrantClient, models

from askbook.providers.hashing import HashingEmbedder


class Hashing(Embeddings):
    """askbook's free embedder."""

    def __init__(self) -> None:
        self._embedder = HashingEmbedder()

    def embed_documents(self, texts):
        return [self._embedder._embed(text).tolist() for text in texts]

    def embed_query(self, text):
        return self._embedder._embed(text).tolist()


def main(book: Path, state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    client = QdrantClient(path=str(state / "qdrant"))
    if not client.collection_exists("book"):
        size = HashingEmbedder.dimensions
        client.create_collection(
            "book", models.VectorParams(size=size, distance=models.Distance.COSINE)
        )
    store = QdrantVectorStore(client, "book", Hashing())
    records = SQLRecordManager("qdrant/book", db_url=f"sqlite:///{state / 'records.db'}")
    records.create_schema()
    pages = [
        Document(path.read_text(encoding="utf-8"), metadata={"source": str(path)})
        for path in sorted(book.rglob("*.md"))
    ]
    splitter = RecursiveCharacterTextSplitter.from_language(
        "markdown", chunk_size=1600, chunk_overlap=0
    )
    result = index(
        splitter.split_documents(pages),
        records,
        store,
        cleanup="full",
        source_id_key="source",
    )
    print(result, client.count("book").count)
    client.close()


main(Path(sys.argv[1]), Path(sys.argv[2]))
