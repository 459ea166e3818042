"""What is there is documented."""

from pathlib import Path

import pytest

from askbook.cli import _COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_is_in_the_readme(command):
    assert f"`askbook {command}" in README


def test_every_document_that_the_readme_names_exists():
    for name in ("operators.md", "api.md", "chunking.md"):
        assert name in README
        assert (ROOT / "docs" / name).is_file()
