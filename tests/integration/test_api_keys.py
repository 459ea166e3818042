"""Readers' keys by address: fetched, rotated, taken back; what callers hear when it is down."""

import json
import uuid
from dataclasses import dataclass, field

import anyio
import jwt
import pytest
from api_server import token_for
from cryptography.hazmat.primitives.asymmetric import ec
from litestar.testing import TestClient
from wire import serving

from api.app import create_app
from api.errors import Refused
from api.keys import KeyAddress
from askbook.errors import SettingsError

pytestmark = pytest.mark.xdist_group("api")

READER = "3f2b8f0e-58a3-4c43-9d53-6a3b4f6f2a11"
NO_KEYS = {"keys": []}


@dataclass
class Issuer:
    """Whoever issues tokens: publishes its keys, and may break."""

    broken: tuple[int, object] | None = None
    keys: dict[str, ec.EllipticCurvePrivateKey] = field(default_factory=dict)

    def __call__(self, _body):
        status, reply = self.broken or (200, {"keys": [self._public(name) for name in self.keys]})
        return status, {}, reply

    def add(self, name: str) -> None:
        self.keys[name] = ec.generate_private_key(ec.SECP256R1())

    def token(self, name: str, **claims) -> str:
        body = jwt.decode(
            token_for(READER, "x" * 32, **claims), options={"verify_signature": False}
        )
        return jwt.encode(body, self.keys[name], algorithm="ES256", headers={"kid": name})

    def _public(self, name: str) -> dict:
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.keys[name].public_key()))
        return {**public, "kid": name, "use": "sig", "alg": "ES256"}


@pytest.fixture
def issuer():
    made = Issuer()
    made.add("first")
    return made


@pytest.fixture
def wire(issuer):
    with serving(issuer) as running:
        yield running


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def keys(wire, clock):
    return KeyAddress(f"{wire.address}/jwks.json", clock)


def named(keys, name):
    return anyio.run(keys.named, name)


def test_keys_are_fetched_once_and_a_new_one_is_fetched_when_a_token_names_it(
    keys, wire, issuer, clock
):
    assert named(keys, "first").key_id == "first"
    assert named(keys, "first").key_id == "first"
    assert len(wire.requests) == 1
    issuer.add("second")
    clock.now += 11
    assert named(keys, "second").key_id == "second"
    assert named(keys, "first").key_id == "first"
    assert [path for path, _ in wire.requests] == ["/jwks.json"] * 2


def test_tokens_that_name_invented_keys_do_not_make_the_server_ask_more_often(keys, wire, clock):
    for number in range(100):
        clock.now += 0.5  # 50 seconds in all, at least 10 between two fetches
        with pytest.raises(jwt.InvalidTokenError):
            named(keys, f"invented {number}")
    assert len(wire.requests) == 5


def test_a_key_that_was_taken_back_is_not_believed_for_long(keys, issuer, clock):
    named(keys, "first")
    issuer.add("second")
    del issuer.keys["first"]
    clock.now += 301
    with pytest.raises(jwt.InvalidTokenError):
        named(keys, "first")


@pytest.mark.parametrize(
    "reply", [(500, {}), (404, {}), (200, b"<html>"), (200, []), (200, NO_KEYS)]
)
def test_known_keys_outlive_a_short_outage_but_not_a_long_one(keys, wire, issuer, clock, reply):
    named(keys, "first")
    issuer.broken = reply
    clock.now += 301
    assert named(keys, "first").key_id == "first"
    with pytest.raises(Refused) as caught:
        named(keys, "second")  # it may be a new one: nobody can tell now
    assert (caught.value.status, caught.value.dependency) == (503, "jwks")
    assert len(wire.requests) == 2
    clock.now += 3600
    with pytest.raises(Refused):
        named(keys, "first")
    issuer.broken = None
    clock.now += 11
    assert named(keys, "first").key_id == "first"


def test_an_address_that_is_none_is_named_at_the_start():
    with pytest.raises(SettingsError, match="ASKBOOK_JWT_JWKS"):
        KeyAddress("http://issuer.example:port/jwks.json")


@pytest.fixture
def client(api_settings, wire):
    update = {"jwt_secret": None, "jwt_jwks": wire.address}
    with TestClient(
        create_app(api_settings.model_copy(update=update)), raise_server_exceptions=False
    ) as made:
        yield made


def ask(client, token):
    return client.post(
        "/api/ask", json={"question": "topics"}, headers={"Authorization": f"Bearer {token}"}
    )


def test_over_http_a_reader_is_known_by_the_issuers_key_and_nobody_elses(client, issuer):
    assert ask(client, issuer.token("first")).status_code == 200
    session = client.post(
        "/api/query",
        json={"query": "topics"},
        headers={"Authorization": f"Bearer {issuer.token('first')}"},
    ).json()["session_id"]
    mine = {"Authorization": f"Bearer {issuer.token('first')}"}
    assert client.get(f"/api/sessions/{session}", headers=mine).json()["user_id"] == READER
    thief = Issuer()
    thief.add("first")
    thief.add(str(uuid.uuid4()))
    forged = [thief.token(name) for name in thief.keys]
    unsigned = token_for(READER, None, algorithm="none")
    for token in [*forged, unsigned, issuer.token("first", lasts=-1)]:
        assert ask(client, token).status_code == 401


def test_over_http_an_issuer_that_is_down_is_a_503_for_tokens_and_nothing_for_others(
    client, issuer
):
    issuer.broken = (500, {})
    response = ask(client, issuer.token("first"))
    assert response.status_code == 503
    assert response.json()["dependency"] == "jwks"
    assert int(response.headers["retry-after"]) > 0
    assert "127.0.0.1" not in response.text
    assert client.post("/api/ask", json={"question": "topics"}).status_code == 200
