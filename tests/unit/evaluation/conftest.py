"""Data sets small enough to read."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from askbook.providers.hashing import HashingEmbedder
from evaluation.vectors import CachedVectors

DOCUMENTS = {
    "gait": "Legs walk over uneven ground.",
    "vision": "A camera sees depth.",
    "soup": "Lentil soup needs salt.",
}
QUERIES = {"q1": "camera depth", "q2": "salt in lentil soup"}
JUDGED = {"q1": "vision", "q2": "soup"}


@pytest.fixture
def ranking(tmp_path) -> Path:
    """A folder in BEIR's layout; the documents have no titles."""
    folder = tmp_path / "ranking"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": key, "text": text} for key, text in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rows = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judged = "".join(f"{query}\t{document}\t1\n" for query, document in JUDGED.items())
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    return folder


@pytest.fixture
def spans(tmp_path) -> Path:
    """A folder in Chroma's layout."""
    folder = tmp_path / "spans"
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "kitchen.md").write_text(DOCUMENTS["soup"])
    (folder / "corpora" / "robots.md").write_text(DOCUMENTS["vision"])
    reference = {"content": "camera", "start_index": 2, "end_index": 8}
    row = {"_id": "c", "question": "camera", "corpus_id": "robots", "references": [reference]}
    (folder / "questions.jsonl").write_text(json.dumps(row))
    return folder


@pytest.fixture
def vectors(tmp_path) -> CachedVectors:
    return CachedVectors(HashingEmbedder(), tmp_path / "vectors.sqlite")
