"""Versions of the index, for the admin: which there are, and going back to one."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

import anyio.to_thread
from litestar import get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body
from pydantic import BaseModel, Field

from api.auth import admin_guard
from api.errors import Refused, problems
from api.fields import Asked, Name
from askbook.errors import IndexFault
from askbook.rollback import rollback
from askbook.wiring import Parts


class VersionEntry(BaseModel):
    """One version that readers could be sent to."""

    name: str = Field(description="Its name.")
    created_at: datetime = Field(description="When it was made.")
    points: int = Field(description="Chunks it holds.")
    current: bool = Field(description="Whether readers see it now.")
    embedding_model: str = Field(description="Model of its vectors.")
    dimensions: int = Field(description="Length of its vectors.")


class Versions(BaseModel):
    """All versions that are kept."""

    versions: list[VersionEntry] = Field(description="Newest first.")


class RollbackRequest(Asked):
    """Where to go back to."""

    version: Name | None = Field(None, description="Its name; left out: the one before.")


_ASKED = Body(examples=[Example(summary="The one before", value={"version": None})])


@get("/api/index/versions", guards=[admin_guard], responses=problems(401, 403, 503))
async def list_versions(parts: NamedDependency[Parts]) -> Versions:
    """The versions of the index, newest first."""
    return await anyio.to_thread.run_sync(_versions, parts)


@post(
    "/api/index/rollback",
    status_code=200,
    guards=[admin_guard],
    responses=problems(400, 401, 403, 404, 409, 413, 422, 503),
)
async def roll_back(
    data: Annotated[RollbackRequest, _ASKED], parts: NamedDependency[Parts]
) -> Versions:
    """Send readers back to an older version; PostgreSQL is made to say what it holds."""
    await anyio.to_thread.run_sync(_roll_back, parts, data.version)
    return await anyio.to_thread.run_sync(_versions, parts)


def _versions(parts: Parts) -> Versions:
    return Versions(
        versions=[
            VersionEntry.model_validate(version, from_attributes=True)
            for version in parts.index.versions()
        ]
    )


def _roll_back(parts: Parts, version: str | None) -> None:
    known = {each.name for each in parts.index.versions()}
    if version is not None and version not in known:
        raise Refused(HTTPStatus.NOT_FOUND, f"There is no index version {version!r}.")
    try:
        rollback(parts, version)
    except IndexFault as error:
        raise Refused(HTTPStatus.NOT_FOUND, str(error)) from error
