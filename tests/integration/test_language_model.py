"""The writer against a real language model: small, but it really streams, counts and stops."""

import contextlib

import anyio
import pytest
from running import PATIENCE, wait_for

from askbook.errors import ProviderError
from askbook.models import Message, Prompt, Usage
from askbook.providers.openai_writer import OpenAIWriter

pytestmark = pytest.mark.xdist_group("language-model")


def writer_at(language_model) -> OpenAIWriter:
    return OpenAIWriter(
        language_model.model, None, base_url=language_model.base_url, timeout=PATIENCE
    )


def write(writer, usage, prompt) -> list[str]:
    async def read() -> list[str]:
        return [piece async for piece in writer.write(prompt, usage)]

    return anyio.run(read)


def test_a_real_language_model_writes_and_is_counted(language_model):
    usage = Usage()
    prompt = Prompt("", (), (Message("user", "Name three colours."),), max_tokens=24)
    pieces = write(writer_at(language_model), usage, prompt)
    assert len(pieces) > 3
    assert "".join(pieces).strip()
    assert 0 < usage.completion_tokens <= 24
    assert usage.prompt_tokens > 3


def test_a_real_language_model_stops_when_the_reader_leaves(language_model):
    counting = Message("user", "Write the numbers from 1 to 1000, one per line.")
    prompt = Prompt("", (), (counting,), max_tokens=3000)  # read to the end, it writes over 600

    async def read_a_little() -> None:
        async with contextlib.aclosing(writer_at(language_model).write(prompt, Usage())) as pieces:
            for _ in range(5):
                await anext(pieces)

    before = language_model.written()
    anyio.run(read_a_little)
    wait_for(lambda: not language_model.is_writing(), "the language model to stop")
    assert 5 <= language_model.written() - before < 300


def test_a_prompt_too_long_for_a_real_language_model_is_an_error(language_model):
    prompt = Prompt("", (), (Message("user", "word " * 6000),))
    with pytest.raises(ProviderError, match="answered 400"):
        write(writer_at(language_model), Usage(), prompt)
