"""One server for all browser tests of a session, one Chromium per file, one tab per test."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from api_server import served
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from running import ROOT, Installation, free_port
from site_under_test import ADMIN_KEY, Site, make_book

from api.app import create_app
from askbook.settings import Settings

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
_visitors = itertools.count(1)
_PATIENCE = 20_000  # milliseconds: these machines are shared and slow at times
expect.set_options(timeout=_PATIENCE)


@pytest.fixture(scope="session")
def site(
    tmp_path_factory: pytest.TempPathFactory, installed: Callable[[Path], Installation]
) -> Iterator[Site]:
    """The API over a small book; two versions of its index, one quarantined file."""
    if CHROMIUM is None:
        pytest.skip("No Chromium: `apt-get install chromium`, then these tests run.")
    folder = tmp_path_factory.mktemp("site")
    book = make_book(folder / "book", ROOT / "data" / "books" / "physical-ai-robotics")
    installation = installed(folder / "home")
    extra = book / "module-1-ros2/chapter-1-ros2-graph/05-extra.md"
    extra.write_text("# Extra\n\nA page that is there in the first version only.\n")
    installation.json("ingest", book)
    extra.unlink()
    installation.json("ingest", book)
    publisher = f"http://localhost:{free_port()}"  # another site than 127.0.0.1
    settings = Settings(
        home=installation.home,
        embedder="hashing",
        book_id="book",
        admin_key=ADMIN_KEY,
        anonymous_per_hour=6,
        cors_origins=(publisher,),
        trusted_proxies=("127.0.0.1",),  # every visitor has an address of their own
    )
    with served(create_app(settings)) as running:
        yield Site(running, book, publisher)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; Playwright's own download is never used."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(site: Site, browser: Browser) -> Iterator[BrowserContext]:
    """A visitor with an address of their own, so that nobody uses up another's questions."""
    site.give_writer()
    visitor = f"10.0.0.{next(_visitors)}"
    made = browser.new_context(
        base_url=site.address,
        viewport={"width": 1280, "height": 800},
        extra_http_headers={"X-Forwarded-For": visitor},
    )
    made.set_default_timeout(_PATIENCE)
    made.visitor = visitor
    yield made
    site.writer.may_go_on.set()
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab; a test fails when a script fails in it or something breaks the page's policy."""
    made = context.new_page()
    troubles: list[str] = []
    made.on("pageerror", lambda error: troubles.append(str(error)))
    made.on(
        "console",
        lambda said: troubles.append(said.text) if "Content Security Policy" in said.text else None,
    )
    yield made
    assert troubles == []
