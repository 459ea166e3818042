"""Every question passes here, whichever door it came through: admit → answer → remember."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from uuid import UUID

import anyio
import anyio.to_thread
from litestar.datastructures import Cookie

from api import limits, logs, metrics, sessions
from api.auth import SESSION_HEADER, Caller
from askbook.errors import DatabaseDown
from askbook.models import Answer, Message, Question, Released
from askbook.store.limits import Quota
from askbook.store.limits import give_back as give_back_in
from askbook.store.sessions import Session
from askbook.wiring import Parts


@dataclass(frozen=True, slots=True)
class Ticket:
    """An admitted question: counted, and tied to its conversation if it has one."""

    door: str
    quota: Quota
    session: Session | None = None
    is_new: bool = False  # the session was started by this question
    history: tuple[Message, ...] = ()
    is_encrypted: bool = False  # the caller came by https

    @property
    def headers(self) -> dict[str, str]:
        """Limits, and the token of a new conversation for callers that keep no cookies."""
        told = limits.headers(self.quota)
        if self.session and self.is_new:
            told[SESSION_HEADER] = self.session.token
        return told

    @property
    def cookies(self) -> list[Cookie]:
        """The token of a new conversation, for browsers."""
        if self.session is None or not self.is_new:
            return []
        return [sessions.cookie(self.session, secure=self.is_encrypted)]


class Reception:
    """Admits questions, has them answered, and keeps the books."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def book_id(self) -> str:
        """The book that is asked where a question names none."""
        return self._parts.settings.book_id

    async def admit(self, door: str, caller: Caller) -> Ticket:
        """Count a question that belongs to no conversation."""
        return await anyio.to_thread.run_sync(self._admit, door, caller)

    async def admit_to_session(self, caller: Caller, session_id: UUID | None) -> Ticket:
        """Count a question of a conversation: the caller's own, or a new one."""
        return await anyio.to_thread.run_sync(self._admit_to_session, caller, session_id)

    async def answer(self, ticket: Ticket, question: Question) -> Answer:
        """A cited answer, or a refusal."""
        async with aclosing(self.stream(ticket, question)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise AssertionError  # a stream always ends with its answer

    async def stream(
        self, ticket: Ticket, question: Question
    ) -> AsyncGenerator[Released | Answer, None]:
        """Checked sentences as they come, the answer last. What we fail to answer is not counted.

        Closing the generator stops the writer.
        """
        logs.note_question(question.text, allowed=self._parts.settings.log_questions)
        if ticket.history:
            question = replace(question, history=ticket.history)
        metrics.RUNNING.inc()
        try:
            async with aclosing(self._parts.asking.stream(question)) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        await self._remember(ticket, question, event)
                        metrics.observe(ticket.door, event)
                    yield event
        except Exception:
            metrics.ANSWERS.labels(ticket.door, "failed").inc()
            await self._give_back(ticket)
            raise
        finally:
            metrics.RUNNING.dec()

    def _admit(self, door: str, caller: Caller) -> Ticket:
        with self._parts.database.begin() as connection:
            return Ticket(door, limits.count(connection, caller, self._parts.settings))

    def _admit_to_session(self, caller: Caller, session_id: UUID | None) -> Ticket:
        with self._parts.database.begin() as connection:
            if session_id is not None:
                session, history = sessions.go_on(connection, session_id, caller)
            quota = limits.count(connection, caller, self._parts.settings)
            if session_id is None:
                session, history = sessions.begin(connection, caller), ()
        is_new = session_id is None
        return Ticket("query", quota, session, is_new, history, caller.is_encrypted)

    async def _remember(self, ticket: Ticket, question: Question, answer: Answer) -> None:
        if ticket.session is not None:
            await anyio.to_thread.run_sync(
                sessions.remember, self._parts, ticket.session.id, question.text, answer
            )

    async def _give_back(self, ticket: Ticket) -> None:
        def give_back() -> None:
            with self._parts.database.begin() as connection:
                give_back_in(connection, ticket.quota)

        try:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(give_back)
        except DatabaseDown:
            return  # nobody can count just now; the first error is the one to tell
