"""What is there is documented."""

import re
from pathlib import Path

import pytest

from askbook.cli import _COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_is_in_the_readme(command):
    assert f"`askbook {command}" in README


def test_every_page_of_the_docs_is_in_the_readme():
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in README


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_the_pages_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
