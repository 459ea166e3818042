"""Paid providers over a real socket, in their real wire format, answering what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[dict], tuple[int, dict[str, str], object]]
PATIENCE = 60  # seconds until a test that hangs fails instead


class Trouble(Enum):
    """What a server may do in the middle of a stream."""

    STALL = "send nothing until the client hangs up"
    DROP = "close the connection"


@dataclass(frozen=True)
class Events:
    """A body sent piece by piece, as server-sent events are; in place of one JSON value."""

    steps: Sequence[bytes | Trouble]


@dataclass
class Wire:
    """A local server; `requests` keeps what the official client really sent."""

    address: str
    answer: Answer
    requests: list[tuple[str, dict]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Event = field(default_factory=threading.Event)  # by the client


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wire: Wire

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _answer(self, body: dict) -> None:
        self.wire.requests.append((self.path, body))
        self.wire.headers.append({name.lower(): value for name, value in self.headers.items()})
        status, headers, reply = self.wire.answer(body)
        self.send_response(status)
        if isinstance(reply, Events):
            self._send_events(headers, reply)
        else:
            self._send_json(headers, reply)

    def _send_json(self, headers: dict[str, str], reply: object) -> None:
        payload = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self._send_headers({"content-type": "application/json", **headers})
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _send_events(self, headers: dict[str, str], events: Events) -> None:
        self._send_headers({"content-type": "text/event-stream; charset=utf-8", **headers})
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for step in events.steps:
            if step is Trouble.STALL:
                self._stall()
            if isinstance(step, Trouble):
                self.close_connection = True  # and the chunk that says "the end" is never sent
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
        self.wfile.write(b"0\r\n\r\n")

    def _send_headers(self, headers: dict[str, str]) -> None:
        for name, value in headers.items():
            self.send_header(name, value)

    def _stall(self) -> None:
        self.wire.stalled.set()
        self.connection.settimeout(PATIENCE)
        try:
            gone = self.connection.recv(1) == b""
        except ConnectionError:
            gone = True
        if gone:
            self.wire.hung_up.set()

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that hangs up while it is being written to is no news."""


@contextmanager
def serving(answer: Answer) -> Iterator[Wire]:
    """Answer every request with what `answer(body)` returns: status, headers, body."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    handler.wire = wire = Wire(f"http://127.0.0.1:{server.server_port}", answer)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()


def in_turn(*answers: tuple[int, dict[str, str], object]) -> Answer:
    """Each request gets the next answer; the last one is repeated."""
    waiting = list(answers)
    return lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def cohere_reply(body: dict, dimensions: int = 1024) -> dict:
    """What Cohere's v2 embed answers."""
    vectors = [[1.0, float(i)] + [0.0] * (dimensions - 2) for i, _ in enumerate(body["texts"])]
    return {
        "id": "da6e531f",
        "embeddings": {"float": vectors},
        "texts": body["texts"],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 7}},
        "response_type": "embeddings_by_type",
    }


def openai_reply(body: dict, dimensions: int = 1536) -> dict:
    """What OpenAI's embeddings endpoint answers; in no particular order."""
    data = [
        {"object": "embedding", "index": i, "embedding": [1.0, float(i)] + [0.0] * (dimensions - 2)}
        for i, _ in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def cohere_ranking(scores: dict[int, float]) -> dict:
    """What Cohere's v2 rerank answers: indices and scores, best first."""
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    return {
        "id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
        "results": [{"index": i, "relevance_score": score} for i, score in best_first],
        "meta": {
            "api_version": {"version": "2", "is_experimental": False},
            "billed_units": {"search_units": 1},
        },
    }


def openai_error(message: str, kind: str = "server_error", code: str | None = None) -> dict:
    """The body of OpenAI's errors."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def event(data: object) -> bytes:
    """One server-sent event."""
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def chunk(*choices: dict, usage: dict | None = None) -> bytes:
    """One `chat.completion.chunk` of OpenAI."""
    return event(
        {
            "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
            "object": "chat.completion.chunk",
            "created": 1741570283,
            "model": "gpt-4o-mini-2024-07-18",
            "service_tier": "default",
            "system_fingerprint": "fp_06737a9306",
            "choices": list(choices),
            "usage": usage,
        }
    )


def delta(content: str | None = None, *, finish: str | None = None, **more: object) -> bytes:
    """A chunk with one choice."""
    words = {} if content is None else {"content": content}
    return chunk(
        {"index": 0, "delta": {**more, **words}, "logprobs": None, "finish_reason": finish}
    )


FIRST = delta("", role="assistant", refusal=None)
FINISH = delta(finish="stop")
USAGE = chunk(
    usage={
        "prompt_tokens": 19,
        "completion_tokens": 10,
        "total_tokens": 29,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
)
DONE = event(b"[DONE]")


def openai_stream(*pieces: str) -> Events:
    """A whole answer of OpenAI's chat completions with `include_usage`."""
    return Events([FIRST, *map(delta, pieces), FINISH, USAGE, DONE])
