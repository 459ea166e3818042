"""Prefect's own settings, before Prefect is imported: quiet, no telemetry, state under HOME."""

from __future__ import annotations

import json
import os
import urllib.request
from http import HTTPStatus
from pathlib import Path

from askbook.errors import TransientError
from askbook.settings import Settings

UP_FILE = "up.json"  # written by `askbook up`: where its Prefect server listens
_HEALTH_SECONDS = 5


class PrefectDown(TransientError):
    """The Prefect server that the settings name does not answer."""


def prepare_prefect(settings: Settings) -> None:
    """Set Prefect's environment; what the user set stays. Call before importing Prefect."""
    home = settings.home.resolve() / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    defaults = {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_SETTINGS_PATH": str(Path(__file__).parent / "logging.yml"),
        "PREFECT_LOGGING_LEVEL": "INFO",
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_CLI_COLORS": "false",
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    }
    address = settings.prefect_api_url
    if address and not _answers(address):
        raise PrefectDown(
            f"The Prefect server at {address} does not answer. "
            "Start it, or unset ASKBOOK_PREFECT_API_URL to run without one."
        )
    address = address or running_prefect(settings)
    if address:
        defaults["PREFECT_API_URL"] = address
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def running_prefect(settings: Settings) -> str | None:
    """The Prefect server that `askbook up` started, if it still answers."""
    try:
        facts = json.loads((settings.home / UP_FILE).read_text(encoding="utf-8"))
        address = str(facts["prefect_api_url"])
    except (OSError, ValueError, KeyError):
        return None
    return address if _answers(address) else None


def _answers(address: str) -> bool:
    """Whether a Prefect server answers there, by its own word."""
    url = f"{address.rstrip('/')}/health"
    if not url.startswith(("http://", "https://")):
        return False
    try:
        with urllib.request.urlopen(url, timeout=_HEALTH_SECONDS) as reply:  # noqa: S310 - checked
            return bool(reply.status == HTTPStatus.OK)
    except (OSError, ValueError):
        return False
