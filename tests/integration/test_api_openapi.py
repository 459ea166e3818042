"""The OpenAPI document: complete, true, and the types made from it current."""

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from api.openapi import exact
from api.schema import stamp
from askbook.settings import Settings

pytestmark = pytest.mark.xdist_group("api")

ROOT = Path(__file__).parents[2]
DOCUMENT = exact(create_app(Settings()).openapi_schema.to_schema())
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
schema = schemathesis.openapi.from_dict(DOCUMENT)


@schema.parametrize()
@settings(
    max_examples=12,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_allowed_or_forbidden_request_gets_an_undocumented_reply(api, case):
    api.cookies.clear()
    case.headers = {**(case.headers or {}), "X-Admin-Key": "the admin's key"}
    arguments = case.as_transport_kwargs(base_url="http://testserver")
    arguments.pop("cert", None)
    response = api.request(**{k: v for k, v in arguments.items() if v is not None})
    left_out = []
    if case.path.endswith("/stream"):  # it would look for the fields of an event around our JSON
        left_out.append(response_schema_conformance)
    if case.path == "/api/ingest":  # there is no Prefect server: 503 is the documented reply
        left_out.append(not_a_server_error)
    checks = [check for check in CHECKS if check not in left_out]
    case.validate_response(schemathesis.Response.from_httpx(response, verify=False), checks=checks)


def test_every_field_is_described_and_every_body_has_an_example():
    schemas = DOCUMENT["components"]["schemas"]
    silent = [
        f"{name}.{field}"
        for name, model in schemas.items()
        for field, facts in model.get("properties", {}).items()
        if not facts.get("description")
    ]
    assert silent == []
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", []):
                assert parameter["in"] == "path" or parameter.get("description"), (path, parameter)
            if method == "post":
                body = operation["requestBody"]["content"]["application/json"]["schema"]
                assert body["examples"], path


def test_every_route_is_in_the_docs():
    told = (ROOT / "docs" / "api.md").read_text("utf-8")
    for path in [*DOCUMENT["paths"], "/metrics", "/schema"]:
        assert path.split("{")[0] in told, path


def test_the_typescript_types_are_current():
    first = (ROOT / "api" / "web" / "types.d.ts").read_text("utf-8").splitlines()[0]
    assert first == stamp(), "the OpenAPI changed: run `make types`"
