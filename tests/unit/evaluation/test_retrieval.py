"""The benchmarks on data sets small enough to read."""

import pytest

from askbook.providers.hashing import HashingEmbedder
from evaluation.chunking import measure_spans
from evaluation.conditions import FUSIONS, Condition
from evaluation.datasets import load_beir, load_spans
from evaluation.retrieval import measure_ranking
from evaluation.vectors import CachedVectors


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("chunk", ["compact", "whole"])
def test_what_is_asked_for_in_its_own_words_is_found_first(ranking, vectors, chunk, fusion):
    outcome = measure_ranking(load_beir(ranking), vectors, Condition(chunk=chunk, fusion=fusion))
    assert outcome.values("nDCG@10") == {"q1": 1, "q2": 1}
    assert outcome.rows[0].found[0] == "✓ vision"
    assert outcome.stages == ["embed", "search"]


class Backwards:
    """A reranker that likes the last passages best."""

    name = "backwards"

    async def rerank(self, query, passages):
        return [float(at) for at in range(len(passages))]


def test_a_reranker_has_the_last_word(ranking, vectors):
    outcome = measure_ranking(load_beir(ranking), vectors, Condition(), Backwards())
    assert outcome.values("Success@1") == {"q1": 0, "q2": 0}
    assert "rerank" in outcome.stages


def test_spans_are_measured_in_the_corpus_they_come_from(spans, vectors):
    outcome = measure_spans(load_spans(spans), vectors, Condition(top=1))
    scores = outcome.rows[0].scores
    assert scores["token_recall"] == scores["char_recall"] == 1
    assert scores["token_precision"] == 1 / 5  # " camera" of "A| camera| sees| depth|."
    assert scores["token_iou"] == 1 / 5
    assert scores["char_precision"] == len("camera") / len("A camera sees depth.")


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
