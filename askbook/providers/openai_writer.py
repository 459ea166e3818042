"""A language model as the writer: chat completions, streamed, from any OpenAI-like server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import anyio
import stamina
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import BaseModel, ConfigDict

from askbook.book.tokens import count_tokens
from askbook.errors import ProviderError, ProviderUnavailable
from askbook.models import Message, Prompt, Usage
from askbook.providers.answers import retry_within
from askbook.providers.openai import OpenAIServer

_ATTEMPTS = 3
_LONGEST_WAIT = 10.0  # seconds a server may ask for before the reader is told instead
_CLOSING = 2.0  # seconds to say goodbye; a connection that takes longer is dropped


class OpenAIWriter:
    """Writes at temperature 0. Close the iterator, and the server stops writing too."""

    def __init__(
        self,
        model: str,
        api_key: str | None,
        *,
        base_url: str | None = None,
        timeout: float = 30.0,  # seconds without a piece, also before the first one
    ) -> None:
        self.name = model
        self._timeout = timeout
        # Time is kept here: the client's own limits do not see a server that only sends pings.
        self._server = OpenAIServer(api_key, base_url, timeout=None)

    async def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:
        """The answer in pieces. Only what fails before the first piece is tried again."""
        draft, piece = await self._begin(prompt)
        try:
            while piece is not None:
                yield piece
                with self._in_time():
                    piece = await draft.next_piece()
        finally:
            await draft.close()
            draft.add_to(usage)

    async def _begin(self, prompt: Prompt) -> tuple[_Draft, str | None]:
        """The stream and its first piece: all attempts together have one time limit."""
        with self._in_time():
            async for attempt in stamina.retry_context(
                on=retry_within(min(_LONGEST_WAIT, self._timeout)),
                attempts=_ATTEMPTS,
                timeout=None,
                wait_initial=0.2,
                wait_max=2.0,
                wait_jitter=0.2,
            ):
                with attempt:
                    return await self._attempt(prompt)
        raise AssertionError  # stamina returns or raises

    async def _attempt(self, prompt: Prompt) -> tuple[_Draft, str | None]:
        with self._server.explained():
            stream = await self._server.client.chat.completions.create(
                model=self.name,
                messages=[_param(message) for message in _messages(prompt)],
                temperature=0,
                # The newer `max_completion_tokens` is not known to every server, this one is.
                max_tokens=prompt.max_tokens,
                stream=True,
                stream_options={"include_usage": True},
            )
        draft = _Draft(self._server, stream, prompt)
        try:
            return draft, await draft.next_piece()
        except BaseException:
            await draft.close()
            raise

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            with anyio.fail_after(self._timeout):
                yield
        except TimeoutError:
            raise ProviderUnavailable(
                f"{self._server.name} wrote nothing for {self._timeout:g} s."
            ) from None


class _Draft:
    """One answer on its way."""

    def __init__(
        self, server: OpenAIServer, stream: AsyncStream[ChatCompletionChunk], prompt: Prompt
    ) -> None:
        self._server = server
        self._stream = stream
        self._prompt = prompt
        self._pieces: list[str] = []
        self._tokens: _Tokens | None = None
        self._finished: str | None = None

    async def next_piece(self) -> str | None:
        """The next words, or None once the server said that it is done."""
        with self._server.explained():
            while (raw := await anext(self._stream, None)) is not None:
                text = self._read(_Chunk.model_validate(raw))
                if text:
                    self._pieces.append(text)
                    return text
        if self._finished is None:
            raise ProviderUnavailable(f"{self._server.name} stopped in the middle of an answer.")
        return None

    def _read(self, chunk: _Chunk) -> str | None:
        self._tokens = chunk.usage or self._tokens  # some servers count up in every chunk
        if not chunk.choices:  # the last chunk only has the usage
            return None
        choice = chunk.choices[0]
        self._finished = choice.finish_reason or self._finished
        if self._finished == "content_filter":
            raise ProviderError(f"{self._server.name} withheld the answer (content filter).")
        return choice.delta.content if choice.delta else None

    async def close(self) -> None:
        """Hang up, also when cancelled: the server notices and stops."""
        with anyio.move_on_after(_CLOSING, shield=True), self._server.explained():
            await self._stream.close()

    def add_to(self, usage: Usage) -> None:
        """What the server counted; where it did not say, tokens of cl100k_base."""
        tokens = self._tokens or _Tokens(
            prompt_tokens=sum(count_tokens(m.content) for m in _messages(self._prompt)),
            completion_tokens=count_tokens("".join(self._pieces)),
        )
        usage.prompt_tokens += tokens.prompt_tokens
        usage.completion_tokens += tokens.completion_tokens


# What is read of a chunk. Servers leave out or add a lot; these fields must have their types.
class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True, strict=True)


class _Delta(_Part):
    content: str | None = None


class _Choice(_Part):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Tokens(_Part):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Chunk(_Part):
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


def _messages(prompt: Prompt) -> tuple[Message, ...]:
    return prompt.messages or (Message("user", prompt.question),)


def _param(message: Message) -> ChatCompletionMessageParam:
    if message.role == "system":
        return {"role": "system", "content": message.content}
    if message.role == "user":
        return {"role": "user", "content": message.content}
    return {"role": "assistant", "content": message.content}
