"""Real parts that only integration tests need."""

import io
import logging

import pytest
from api_server import token_for
from language_model import language_model
from litestar.testing import TestClient
from running import Installation

from api.app import create_app
from api.logs import write_json_lines
from askbook.settings import Settings

__all__ = ["language_model"]

JWT_SECRET = "a secret of at least thirty-two bytes"  # noqa: S105 - of the tests
ADMIN = {"X-Admin-Key": "the admin's key"}


@pytest.fixture(scope="session")
def api_settings(indexed_home: Installation) -> Settings:
    """One module of the sample book, everything switched on, limits out of the way."""
    return Settings(
        home=indexed_home.home,
        embedder="hashing",
        book_id="book",
        admin_key=ADMIN["X-Admin-Key"],
        jwt_secret=JWT_SECRET,
        anonymous_per_hour=1_000_000,
        authenticated_per_hour=1_000_000,
        heartbeat_s=0.05,
    )


@pytest.fixture(scope="session")
def api(api_settings: Settings):
    """The API in this process, through Litestar's own client; errors are replies, as outside."""
    with TestClient(create_app(api_settings), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def reader(api):
    """A client without anybody's cookies."""
    api.cookies.clear()
    return api


@pytest.fixture(scope="session")
def bearer():
    """The header of a reader with a valid token."""
    return lambda subject, **claims: {
        "Authorization": f"Bearer {token_for(subject, JWT_SECRET, **claims)}"
    }


@pytest.fixture
def log():
    """What the server writes, as it writes it."""
    written = io.StringIO()
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    write_json_lines()
    (handler,) = root.handlers
    handler.setStream(written)
    yield written
    root.handlers[:] = before
    root.setLevel(level)
