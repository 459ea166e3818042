"""The real embedding model."""

import anyio
import numpy as np
import pytest

from askbook.errors import ModelFileError
from askbook.providers import minilm
from askbook.providers.minilm import MiniLM

embedder = MiniLM()
windowed = MiniLM(windows=True)


def embed(*texts: str) -> np.ndarray:
    return anyio.run(embedder.embed_passages, texts)


def test_vectors_have_unit_length_and_the_documented_size():
    vectors = embed("A node publishes messages.", "")
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_the_same_meaning_in_other_words_is_near_and_another_subject_is_far():
    fell, toppled, soup = embed(
        "The robot fell down.", "The humanoid lost its balance.", "Lentil soup needs salt."
    )
    assert fell @ toppled > 0.5
    assert fell @ soup < 0.2


def test_a_vector_does_not_depend_on_its_neighbours():
    alone = embed("Gazebo steps physics every millisecond.")
    among = embed("A", "Gazebo steps physics every millisecond.", "B " * 300)
    assert (alone[0] == among[1]).all()


def test_questions_and_passages_share_one_space():
    question = anyio.run(embedder.embed_query, "What is a node?")
    assert (question == embed("What is a node?")[0]).all()


def test_what_stands_beyond_256_word_pieces_is_only_seen_in_windows():
    start = "Gazebo steps physics. " * 60
    ends = [start + "Lentil soup needs salt. " * 60, start + "Legs walk on ice. " * 60]
    cut = embed(*ends)
    assert (cut[0] == cut[1]).all()

    read = anyio.run(windowed.embed_passages, ends)
    soup = anyio.run(windowed.embed_query, "soup with salt")
    assert np.linalg.norm(read, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert read[0] @ soup > read[1] @ soup + 0.1


def test_a_window_weighs_what_it_is_long_and_the_first_one_thrice():
    first, second = "robot " * 254, "soup " * 127
    (together,) = anyio.run(windowed.embed_passages, [first + second])
    one, two = embed(first, second)
    expected = 3 * 254 * one + 127 * two
    assert together == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_short_passages_have_the_same_vector_in_windows_but_the_models_never_mix():
    (in_windows,) = anyio.run(windowed.embed_passages, ["What is a node?"])
    assert (in_windows == embed("What is a node?")[0]).all()
    assert windowed.model != embedder.model == MiniLM.model


def test_a_damaged_model_file_is_refused_by_name(tmp_path, monkeypatch):
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(minilm, "_data_file", lambda *_: broken)
    with pytest.raises(ModelFileError, match=r"model\.onnx is damaged or another one"):
        anyio.run(MiniLM().embed_query, "hello")


def test_a_missing_model_file_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(minilm, "_data_file", lambda *_: tmp_path / "gone.onnx")
    with pytest.raises(ModelFileError, match=r"gone\.onnx cannot be read"):
        anyio.run(MiniLM().embed_query, "hello")
