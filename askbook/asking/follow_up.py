"""What to search for when a question only makes sense after the ones before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

import anyio

from askbook.asking.words import prepare
from askbook.errors import AskbookError
from askbook.models import Message, Prompt, Usage
from askbook.ports import Writer

WINDOW: Final = 10  # messages: the last five questions and answers
_REFERS: Final = re.compile(
    r"\b(?:it|its|they|them|their|theirs|that|this|those|these|there|then|he|she|one|ones|former"
    r"|latter|same|other|others|another|else|instead|such|above|previous|again)\b",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(
    r"\s*(?:and|but|or|so|also|then|what about|how about|what if|why(?: not)?\s*\?|how so|how come"
    r"|for example|really|ok(?:ay)?\b)",
    re.IGNORECASE,
)
_FEW_WORDS: Final = 3  # content words; fewer rarely say what they are about
_LONGEST_QUERY: Final = 400  # characters of a rewritten question; longer is an answer, not a query
_PATIENCE: Final = 10.0  # seconds for the rewriting
_RULES: Final = (
    "Rewrite the reader's last question so that it can be understood without the conversation. "
    "Replace words such as 'it' or 'that' by what they stand for. Keep its meaning and language. "
    "Answer with the rewritten question only."
)


def window(history: Sequence[Message]) -> tuple[Message, ...]:
    """The part of a conversation that counts: its last five questions and answers."""
    return tuple(history[-WINDOW:])


def depends(question: str, history: Sequence[Message]) -> bool:
    """Whether a question leans on the ones before: it points back, or says little by itself."""
    if not any(message.role == "user" for message in history):
        return False
    points_back = _REFERS.search(question) or _OPENS.match(question)
    return bool(points_back) or len(prepare(question).content) <= _FEW_WORDS


def join(question: str, history: Sequence[Message]) -> str:
    """The question after the nearest one that stands on its own: names what it is about."""
    earlier: list[str] = []
    asked = [message.content for message in history if message.role == "user"]
    for at in range(len(asked) - 1, -1, -1):
        earlier.append(asked[at])
        before = [Message("user", text) for text in asked[:at]]
        if not depends(asked[at], before):
            break
    return "\n".join([*reversed(earlier), question])


async def standalone(
    question: str, history: Sequence[Message], writer: Writer | None, usage: Usage
) -> str:
    """A search query that needs no conversation; by `writer` where there is one that can."""
    history = window(history)
    if not depends(question, history):
        return question
    rewritten = await _rewrite(question, history, writer, usage) if writer else None
    return rewritten or join(question, history)


async def _rewrite(
    question: str, history: Sequence[Message], writer: Writer, usage: Usage
) -> str | None:
    talk = "\n".join(f"{message.role}: {message.content}" for message in history)
    messages = (
        Message("system", _RULES),
        Message("user", f"Conversation:\n{talk}\n\nLast question: {question}\n\nRewritten:"),
    )
    pieces: list[str] = []
    try:
        with anyio.fail_after(_PATIENCE):
            prompt = Prompt(question, (), messages, max_tokens=80)
            async with aclosing(writer.write(prompt, usage)) as stream:
                async for piece in stream:
                    pieces.append(piece)  # noqa: PERF401 - what came before an error is dropped
    except (AskbookError, TimeoutError):
        return None  # the deterministic way does not need the writer
    line = "".join(pieces).strip().split("\n")[0].strip("\"' ")
    keeps_subject = prepare(line).content & prepare(join(question, history)).content
    return line if 0 < len(line) <= _LONGEST_QUERY and keeps_subject else None
