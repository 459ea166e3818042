"""What the API needs of Prefect, by its REST API: start the ingest deployment, follow a run."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final  # Prefect's replies are JSON
from uuid import UUID, uuid4

import httpx
import stamina

from api.errors import Refused
from askbook.settings import Settings

UP_FILE: Final = "up.json"  # written by `askbook up` while its Prefect server runs
_DEPLOYMENT: Final = "ingest/ingest"
_OVER_BADLY: Final = {"FAILED", "CRASHED", "CANCELLED", "CANCELLING"}
_TIMEOUT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, as its progress artifact says."""

    percent: float
    description: str


class _Busy(Exception):
    """It answered 5xx: its SQLite is locked now and then, and free a moment later."""


class Prefect:
    """The Prefect server that the settings name, or that `askbook up` started."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        key = os.environ.get("PREFECT_API_KEY")  # Prefect's own variable, for Prefect Cloud
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, headers=headers)

    @property
    def address(self) -> str | None:
        """Where the server's API is, if there is one."""
        if self._settings.prefect_api_url:
            return self._settings.prefect_api_url.rstrip("/")
        try:
            note = (self._settings.home / UP_FILE).read_text(encoding="utf-8")
            return str(json.loads(note)["prefect_api_url"]).rstrip("/")
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def pages(self) -> str | None:
        """Where people look at runs; a server of one's own has its pages beside its API."""
        address = self.address or ""
        return address.removesuffix("/api") if address.endswith("/api") else None

    async def answers(self) -> bool:
        """Whether the server is there."""
        try:
            return (await self._client.get(f"{self.address}/health")).is_success
        except httpx.HTTPError:
            return False

    async def ingest_deployment(self) -> str:
        """The id of the deployment that ingests."""
        deployment = await self._call("GET", f"/deployments/name/{_DEPLOYMENT}")
        if deployment is None:
            raise unavailable(f"it has no deployment {_DEPLOYMENT}; start `askbook up`")
        return str(deployment["id"])

    async def start(self, deployment: str, parameters: dict[str, object]) -> UUID:
        """Start a deployment; returns the id of the flow run."""
        run = await self._call(
            "POST",
            f"/deployments/{deployment}/create_flow_run",
            {
                "parameters": parameters,
                "tags": ["askbook", "api"],
                "idempotency_key": uuid4().hex,  # a call that is repeated starts one run
            },
        )
        if run is None:
            raise unavailable("its deployment was removed just now")
        return UUID(str(run["id"]))

    async def failure_of(self, flow_run_id: UUID) -> str | None:
        """Why a run will never report again; None while it may."""
        run = await self._call("GET", f"/flow_runs/{flow_run_id}")
        if run is None:
            return "Prefect does not know its run any more."
        state = run.get("state") or {}
        if state.get("type") in _OVER_BADLY:
            return f"Prefect says {state.get('name')}: {state.get('message') or 'no reason given'}"
        return None

    async def progress_of(self, flow_run_id: UUID) -> Progress | None:
        """How far a run is, once it says so."""
        wanted = {"flow_run_id": {"any_": [str(flow_run_id)]}, "type": {"any_": ["progress"]}}
        query = {"artifacts": wanted, "sort": "UPDATED_DESC", "limit": 1}
        found = await self._call("POST", "/artifacts/filter", query)
        if not found:
            return None
        return Progress(float(found[0]["data"] or 0), str(found[0]["description"] or ""))

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.aclose()

    async def _call(self, method: str, path: str, body: dict[str, object] | None = None) -> Any:  # noqa: ANN401
        if self.address is None:
            raise unavailable(
                "none is configured; start `askbook up`, or set ASKBOOK_PREFECT_API_URL"
            )
        try:
            reply = await self._sent(method, self.address + path, body)
        except _Busy as busy:
            raise unavailable(f"it answered {busy}") from busy
        except httpx.HTTPError as error:
            raise unavailable("it does not answer") from error
        if reply.status_code == HTTPStatus.NOT_FOUND:
            return None
        if not reply.is_success:
            raise unavailable(f"it answered {reply.status_code}")
        return reply.json()

    @stamina.retry(on=_Busy, attempts=3, wait_initial=0.2)
    async def _sent(self, method: str, url: str, body: dict[str, object] | None) -> httpx.Response:
        reply = await self._client.request(method, url, json=body)
        if reply.is_server_error:
            raise _Busy(reply.status_code)
        return reply


def unavailable(why: str) -> Refused:
    """Ingestion over HTTP needs a Prefect server."""
    return Refused(
        HTTPStatus.SERVICE_UNAVAILABLE,
        f"Ingestion over HTTP needs a Prefect server: {why}.",
        dependency="prefect",
    )
