"""A thousand readers at once, who all leave without a word."""

import asyncio
import json
import resource

import psutil
import pytest
from api_server import ObedientWriter, give_writer, served
from prometheus_client import REGISTRY
from running import PATIENCE, wait_for
from sqlalchemy import text

from api.app import create_app

pytestmark = pytest.mark.xdist_group("api")

CROWD = 1000
FEW = 100  # enough to fill the pools that stay
ASKED = {"question": "What is a topic?"}
PAGE = "module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx"
POINTED = {  # one passage is all it takes: the crowd is what is tested here, not the chain
    "query": "What is a topic?",
    "selection": {"source_file": PAGE, "start": 4000, "end": 4001},
}


@pytest.fixture
def crowded(api_settings):
    """A server with a patient writer, in a process that may hold both ends of all connections."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files[1], 4 * CROWD), files[1]))
    with served(create_app(api_settings.model_copy(update={"heartbeat_s": 30.0}))) as running:
        yield running
    resource.setrlimit(resource.RLIMIT_NOFILE, files)


def running_answers() -> int:
    return int(REGISTRY.get_sample_value("askbook_answers_running"))


def held_open(running) -> dict[str, int]:
    """All that a reader who left might have left open."""
    with running.app.state.parts.database.begin() as connection:
        sessions = connection.scalar(text("SELECT count(*) FROM pg_stat_activity"))
    return {
        "answers": running_answers(),
        "connections": len(running.server.server_state.connections),
        "requests": len(running.server.server_state.tasks),
        "tasks": len(asyncio.all_tasks(running.loop)),
        "files": psutil.Process().num_fds(),
        "PostgreSQL connections": sessions,
    }


async def open_stream(port: int, number: int) -> asyncio.StreamWriter:
    """Ask, and read until the first sentence has come."""
    path, body = ("/api/query/stream", POINTED) if number % 10 else ("/api/ask/stream", ASKED)
    payload = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(payload)}\r\n\r\n"
    writer.write(head.encode() + payload)
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"data: ")
    return writer


async def open_and_drop(port: int, crowd: int) -> int:
    """How many answers ran when all readers were there; then they leave."""
    streams = await asyncio.gather(*(open_stream(port, number) for number in range(crowd)))
    together = running_answers()
    for number, stream in enumerate(streams):
        if number % 2:
            stream.close()
        else:
            stream.transport.abort()  # no goodbye, as from a phone in a tunnel
    return together


def test_a_thousand_streams_opened_and_dropped_leave_nothing_open(crowded):
    writer = ObedientWriter()
    give_writer(crowded.app, writer, refuse_below=0.0)
    port = crowded.client.base_url.port
    asyncio.run(open_and_drop(port, FEW))
    wait_for(lambda: writer.stopped == FEW, "the first writers to stop")
    before = held_open(crowded)
    assert asyncio.run(open_and_drop(port, CROWD)) == CROWD
    wait_for(lambda: writer.stopped == FEW + CROWD, "all writers to stop")
    wait_for(lambda: held_open(crowded) == before, f"what is open to be {before} again")
    assert before["answers"] == before["connections"] == before["requests"] == 0
    writer.may_end.set()
    assert crowded.client.post("/api/ask", json=ASKED).status_code == 200
