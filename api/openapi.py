"""The OpenAPI document: Litestar's routes, with every model as pydantic itself describes it.

Litestar leaves out patterns, lengths of lists and that unknown fields are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final  # a schema is JSON

from litestar import Request
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from pydantic import BaseModel

from askbook import __version__

_REF: Final = "#/components/schemas/{model}"


def config() -> OpenAPIConfig:
    """Served as JSON at /schema; Litestar's pages for it would load scripts from a CDN."""
    return OpenAPIConfig(
        title="askbook",
        version=__version__,
        description="Cited answers from a book.",
        path="/schema",
        render_plugins=[_ExactJson(path="/")],
    )


class _ExactJson(JsonRenderPlugin):
    """Renders the exact document."""

    def render(self, request: Request, openapi_schema: dict[str, Any]) -> bytes:  # type: ignore[type-arg]
        """The document's bytes."""
        return super().render(request, exact(openapi_schema))


def exact(document: dict[str, Any]) -> dict[str, Any]:
    """The same document with pydantic's own schemas of our models."""
    ours = {model.__name__: model for model in _below(BaseModel)}
    schemas = document["components"]["schemas"]
    described = {name: _schema(ours[name], old) for name, old in schemas.items() if name in ours}
    components = {**document["components"], "schemas": {**schemas, **described}}
    return {**document, "components": components}


def _below(parent: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in parent.__subclasses__():
        if model.__module__.startswith("api."):
            yield model
        yield from _below(model)


def _schema(model: type[BaseModel], old: dict[str, Any]) -> dict[str, Any]:
    is_request = model.model_config.get("extra") == "forbid"
    schema = model.model_json_schema(
        ref_template=_REF, mode="validation" if is_request else "serialization"
    )
    schema.pop("$defs", None)  # each of them is a component of its own
    return schema | ({"examples": old["examples"]} if "examples" in old else {})
