"""The runner on data sets small enough to read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from askbook.providers.hashing import HashingEmbedder
from evaluation.retrieval import Condition, main, measure, table
from evaluation.searching import CachedVectors, Text, cut, settings_of

DOCUMENTS = {
    "gait": "Legs walk over uneven ground.",
    "vision": "A camera sees depth.",
    "soup": "Lentil soup needs salt.",
}
QUERIES = {"q1": "camera depth", "q2": "salt in lentil soup"}
JUDGED = {"q1": "vision", "q2": "soup"}


@pytest.fixture
def ranking(tmp_path) -> Path:
    folder = tmp_path / "ranking"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": key, "title": key, "text": text} for key, text in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rows = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judged = "".join(f"{query}\t{document}\t1\n" for query, document in JUDGED.items())
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    return folder


@pytest.fixture
def spans(tmp_path) -> Path:
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


@pytest.mark.parametrize("size", ["compact", "64", "whole"])
def test_what_is_asked_for_in_its_own_words_is_found_first(ranking, vectors, size):
    values = measure(ranking, vectors, Condition(size=size))
    assert values["nDCG@10"] == {"q1": 1, "q2": 1}


def test_spans_are_measured_in_the_corpus_they_come_from(spans, vectors):
    (recall, precision, _) = measure(spans, vectors, Condition(top=1)).values()
    assert recall == {"c": 1}
    assert precision == {"c": len("camera") / len(DOCUMENTS["vision"])}


class CountingEmbedder(HashingEmbedder):
    embedded = 0

    async def embed_passages(self, texts):
        self.embedded += len(texts)
        return await super().embed_passages(texts)


def test_vectors_are_embedded_once_and_come_back_the_same(tmp_path):
    embedder = CountingEmbedder()
    first = CachedVectors(embedder, tmp_path / "v.sqlite").passages(["one", "two", "one"])
    again = CachedVectors(embedder, tmp_path / "v.sqlite").passages(["two", "one"])
    assert embedder.embedded == 2
    assert (first == again[[1, 0, 1]]).all()


def test_a_size_is_a_preset_or_a_number_of_tokens():
    assert settings_of("400").max_tokens == settings_of("compact").max_tokens == 512
    with pytest.raises(ValueError, match="no chunk size"):
        settings_of("huge")


def test_whole_documents_carry_their_title():
    (passage,) = cut([Text("a", "Title", "words")], "whole")
    assert (passage.embedded_text, passage.start, passage.end) == ("Title\n\nwords", 0, 5)


def test_a_table_compares_with_its_first_row(ranking, vectors):
    condition = Condition()
    rows = [(condition, measure(ranking, vectors, condition)) for _ in range(2)]
    *_, first, second = table("books", rows)
    assert first.endswith("| 1.000–1.000 |  |")
    assert "+0.0000 (p 1.000; 0 won, 2 tied, 0 lost)" in second


def test_the_command_prints_a_row_per_condition(ranking, tmp_path):
    options = ["--embedder", "hashing", "--size", "compact,whole", "--prefetch", "20,100"]
    done = CliRunner().invoke(main, [str(ranking), *options, "--cache", str(tmp_path / "v.sqlite")])
    assert done.exit_code == 0, done.output
    assert done.output.count("| compact |") == done.output.count("| whole |") == 2
