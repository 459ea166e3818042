"""A book with everything a browser must cope with, and a writer whose pace tests decide."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
from api_server import Running

from askbook.asking.chain import Asking
from askbook.models import Prompt, Usage
from askbook.providers.extractive import ExtractiveWriter

LESSON = "module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx"
HOSTILE = "module-1-ros2/chapter-1-ros2-graph/03-hostile.mdx"
QUESTION = "What does the reliability policy of a topic do with a lost sample?"
SLOWLY = "slowly"  # a question with this word is answered at the pace of the test
ADMIN_KEY = "the-admin-key-of-the-tests"

HOSTILE_PAGE = """---
title: "<script>window.hurt = 'title'</script>Hostile page"
---

# <img src=x onerror="window.hurt='heading'"> Zebrafish &lt;b&gt; and friends

Zebrafish [click](javascript:window.hurt='link') and [again](JaVaScRiPt:window.hurt=1) and
<a href="javascript:window.hurt='tag'">this</a> and ![picture](https://elsewhere.example/pixel.png)
and ![bad](x" onerror="window.hurt='image').

<script>window.hurt = 'script'</script>

<iframe src="https://elsewhere.example/"></iframe>

<img src="https://elsewhere.example/track.gif" onerror="window.hurt='img'" alt="tracked">

<details open ontoggle="window.hurt='toggle'"><summary>More</summary>

Zebrafish hide here: <svg onload="window.hurt='svg'"></svg> `<script>window.hurt = 'code'</script>`

</details>

| <b onclick="window.hurt='cell'">Cell</b> | [x](data:text/html,<script>window.hurt='data'</script>) |
| --- | --- |
| <style>body { display: none }</style> | $<script>window.hurt='math'</script>$ |

שלום עולם, זהו משפט בעברית על רובוטים. Zebrafish again.

```html title="<script>window.hurt='caption'</script>"
<script>window.hurt = 'fence'</script>
```
"""


@dataclass
class PacedWriter:
    """Quotes the book; answers to slow questions stop after a sentence until they may go on."""

    quoter: ExtractiveWriter
    name: str = "extractive"
    may_go_on: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    async def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:
        is_slow, is_whole = SLOWLY in prompt.question, False
        try:
            async for piece in self.quoter.write(prompt, usage):
                yield piece
                while is_slow and piece == "\n\n" and not self.may_go_on.is_set():  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            is_whole = True
        finally:
            if not is_whole:
                self.stopped.set()


@dataclass
class Site:
    """The running server and what tests may change about it."""

    running: Running
    book: Path
    publisher: str  # address of a site that may embed the widget
    writer: PacedWriter | None = None

    @property
    def address(self) -> str:
        return str(self.running.client.base_url).rstrip("/")

    def give_writer(self) -> None:
        """Every test starts with a writer that nobody has stopped."""
        parts = self.running.app.state.parts
        quoter = ExtractiveWriter(parts.embedder)
        self.writer = PacedWriter(quoter)
        parts.__dict__["asking"] = Asking(
            embedder=parts.embedder,
            index=parts.index,
            writer=self.writer,
            quoter=quoter,
            reranker=None,
            settings=parts.settings,
        )


def make_book(folder: Path, sample: Path) -> Path:
    """Module 1 of the sample book, a hostile page, and a file nobody can index."""
    shutil.copytree(sample / "module-1-ros2", folder / "module-1-ros2")
    (folder / HOSTILE).write_text(HOSTILE_PAGE, encoding="utf-8")
    broken = folder / "module-1-ros2/chapter-1-ros2-graph/04-broken.md"
    broken.write_text("---\nhardware_tier: 9\n---\n# Broken\n\nNobody can index this.\n")
    return folder


@contextmanager
def published(address: str, page: str, policy: str) -> Iterator[None]:
    """Another site with one page on it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(address.rsplit(":", 1)[1])), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def breakable_wire(target: int) -> Iterator[tuple[str, threading.Event]]:
    """A way to the server that breaks when the event is set."""
    broken = threading.Event()
    ends: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        threads = [threading.Thread(target=_accept, args=(listener, target, ends, broken))]
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", broken
        finally:
            broken.set()
            threads[0].join()


def _accept(listener: socket.socket, target: int, ends: list, broken: threading.Event) -> None:
    while not broken.is_set():
        try:
            near, _ = listener.accept()
        except TimeoutError:
            continue
        far = socket.create_connection(("127.0.0.1", target))
        ends += [near, far]
        for pair in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=pair, daemon=True).start()
    listener.close()
    for end in ends:
        with suppress(OSError):  # its other side may have gone first
            end.shutdown(socket.SHUT_RDWR)
        end.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the wire is broken
