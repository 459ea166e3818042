"""Whose token is believed, and under which name questions are counted."""

import json
import uuid

import anyio
import jwt
import pytest
from api_server import token_for
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from api.auth import Caller
from api.auth import Verifier as Verifying
from api.errors import Refused
from askbook.errors import SettingsError
from askbook.settings import Settings

SECRET = "a secret of at least thirty-two bytes"  # noqa: S105 - of the tests
USER = "3f2b8f0e-58a3-4c43-9d53-6a3b4f6f2a11"
OURS = {"iss": "https://us", "aud": "us"}


class Verifier:
    """The real one, for tests that wait for nothing else."""

    def __init__(self, settings):
        self._verifier = Verifying(settings)

    def user_of(self, token):
        return anyio.run(self._verifier.user_of, token)


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def jwks(key, tmp_path):
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}))
    return path


def test_a_token_signed_with_the_secret_is_believed():
    assert Verifier(Settings(jwt_secret=SECRET)).user_of(token_for(USER, SECRET)) == uuid.UUID(USER)


def test_a_subject_that_is_no_uuid_always_gets_the_same_one():
    verifier = Verifier(Settings(jwt_secret=SECRET))
    first = verifier.user_of(token_for("auth0|77", SECRET, iss="https://a"))
    assert first == verifier.user_of(token_for("auth0|77", SECRET, iss="https://a"))
    assert first != verifier.user_of(token_for("auth0|78", SECRET, iss="https://a"))


# Each has one flaw and is right otherwise; made in the test: they bear the time.
FLAWED = {
    "signed with another secret": lambda: token_for(
        USER, "another secret of 32 bytes or so", **OURS
    ),
    "expired": lambda: token_for(USER, SECRET, lasts=-1, **OURS),
    "unsigned": lambda: token_for(USER, None, algorithm="none", **OURS),
    "of another algorithm": lambda: token_for(USER, SECRET, algorithm="HS512", **OURS),
    "of another issuer": lambda: token_for(USER, SECRET, **OURS | {"iss": "https://evil.example"}),
    "for another audience": lambda: token_for(USER, SECRET, **OURS | {"aud": "another"}),
    "not valid yet": lambda: token_for(USER, SECRET, nbf=9_999_999_999, **OURS),
    "of nobody": lambda: token_for("", SECRET, **OURS),
    "altered": lambda: token_for(USER, SECRET, **OURS)[:-4] + "AAAA",
    "without an end": lambda: jwt.encode({"sub": USER, **OURS}, SECRET),
    "no token": lambda: "not.a.token",
    "empty": lambda: "",
    "not text": lambda: "\udcff",
}


@pytest.mark.parametrize("flaw", FLAWED)
def test_what_is_forged_expired_unsigned_or_meant_for_others_is_refused(flaw):
    settings = Settings(jwt_secret=SECRET, jwt_issuer="https://us", jwt_audience="us")
    assert Verifier(settings).user_of(token_for(USER, SECRET, **OURS)) == uuid.UUID(USER)
    with pytest.raises(Refused) as caught:
        Verifier(settings).user_of(FLAWED[flaw]())
    assert caught.value.status == 401
    assert SECRET not in caught.value.detail


def test_keys_of_a_jwks_file_verify_tokens_by_name(key, jwks):
    verifier = Verifier(Settings(jwt_jwks=str(jwks)))
    body = jwt.decode(token_for(USER, SECRET), options={"verify_signature": False})
    good = jwt.encode(body, key, algorithm="RS256", headers={"kid": "one"})
    assert verifier.user_of(good) == uuid.UUID(USER)
    with pytest.raises(Refused):
        verifier.user_of(jwt.encode(body, key, algorithm="RS256", headers={"kid": "two"}))


def test_a_public_key_is_never_taken_for_a_shared_secret(key, jwks):
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    forged = jwt.api_jws.PyJWS()
    forged.unregister_algorithm("HS256")
    forged.register_algorithm("HS256", _AnyKey(jwt.algorithms.HMACAlgorithm.SHA256))
    body = jwt.decode(token_for(USER, SECRET), options={"verify_signature": False})
    token = forged.encode(json.dumps(body).encode(), public, "HS256", {"kid": "one"})
    with pytest.raises(Refused):
        Verifier(Settings(jwt_jwks=str(jwks))).user_of(token)


class _AnyKey(jwt.algorithms.HMACAlgorithm):
    """Signs with what an attacker has."""

    def prepare_key(self, key):
        return key


def test_a_jwks_file_that_cannot_be_read_is_named_at_the_start(tmp_path):
    with pytest.raises(SettingsError, match="ASKBOOK_JWT_JWKS"):
        Verifier(Settings(jwt_jwks=str(tmp_path / "missing.json")))


def test_without_keys_no_token_is_believed():
    with pytest.raises(Refused):
        Verifier(Settings()).user_of(token_for(USER, SECRET))


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.9", "anon:203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "anon:2001:db8:1:2::"),
        ("2001:db8:1:2::1", "anon:2001:db8:1:2::"),
        ("::ffff:203.0.113.9", "anon:203.0.113.9"),
    ],
)
def test_a_household_is_counted_by_one_address(address, counted):
    assert Caller(address).identifier == counted


def test_a_known_reader_is_counted_wherever_they_are():
    assert Caller("203.0.113.9", uuid.UUID(USER)).identifier == f"user:{USER}"
