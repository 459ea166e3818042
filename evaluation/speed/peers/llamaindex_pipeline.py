"""LlamaIndex: an `IngestionPipeline` with a docstore, upserts and deletions, kept between runs."""

import sys
from pathlib import Path

from llama_index.core import SimpleDirectoryReader
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from askbook.providers.hashing import HashingEmbedder

_embedder = HashingEmbedder()


class Hashing(BaseEmbedding):
    """askbook's free embedder."""

    def _get_text_embedding(self, text):
        return _embedder._embed(text).tolist()

    def _get_query_embedding(self, query):
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query):
        return self._get_text_embedding(query)


def main(book: Path, state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    client = QdrantClient(path=str(state / "qdrant"))
    pipeline = IngestionPipeline(
        transformations=[
            SentenceSplitter(chunk_size=400, chunk_overlap=0, tokenizer=str.split),
            Hashing(model_name="hashing"),
        ],
        docstore=SimpleDocumentStore(),
        vector_store=QdrantVectorStore("book", client=client),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    if (state / "pipeline").exists():
        pipeline.load(str(state / "pipeline"))
    pages = SimpleDirectoryReader(str(book), recursive=True, filename_as_id=True).load_data()
    pipeline.run(documents=pages)
    pipeline.persist(str(state / "pipeline"))
    print(client.count("book").count)
    client.close()


main(Path(sys.argv[1]), Path(sys.argv[2]))
