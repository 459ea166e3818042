"""Paid providers over a real socket, in their real wire format, answering what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[dict], tuple[int, dict[str, str], object]]


@dataclass
class Wire:
    """A local server; `requests` keeps what the official client really sent."""

    address: str
    answer: Answer
    requests: list[tuple[str, dict]] = field(default_factory=list)


@contextmanager
def serving(answer: Answer) -> Iterator[Wire]:
    """Answer every POST with what `answer(body)` returns: status, headers, JSON body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            wire.requests.append((self.path, body))
            status, headers, reply = wire.answer(body)
            payload = json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wire = Wire(f"http://127.0.0.1:{server.server_port}", answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()


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
