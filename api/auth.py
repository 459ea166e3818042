"""Who calls: a reader with a verified bearer token, or an address; and who is the admin."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

import jwt
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import NotAuthorizedException
from litestar.handlers import BaseRouteHandler
from litestar.security.jwt import Token

from api.errors import Refused
from api.keys import KeyAddress, KeyFile
from askbook.settings import Settings

ADMIN_HEADER: Final = "X-Admin-Key"
SESSION_HEADER: Final = "X-Session-Token"
_HMAC: Final = "HS256"
_WEB: Final = ("http://", "https://")
_SIGNED: Final = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}  # where a key does not say
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}
_NOT_VALID: Final = "The bearer token is not valid: forged, expired, or not for this server."
_IPV6_HOUSEHOLD: Final = 64  # bits that one household's addresses share


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request. Only a verified token makes `user_id`."""

    address: str
    user_id: UUID | None = None
    session_token: str | None = None
    cookies: Mapping[str, str] = field(default_factory=dict)
    is_encrypted: bool = False  # by https, here or up to a trusted proxy

    @property
    def tier(self) -> str:
        """Which limit holds."""
        return "anonymous" if self.user_id is None else "authenticated"

    @property
    def identifier(self) -> str:
        """Under which name questions are counted (seed 003)."""
        return (
            f"anon:{_household(self.address)}" if self.user_id is None else f"user:{self.user_id}"
        )


class Verifier:
    """Checks bearer tokens with the one key or key set of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._secret = settings.jwt_secret.get_secret_value() if settings.jwt_secret else None
        self._keys = _keys(settings.jwt_jwks)

    async def user_of(self, token: str) -> UUID:
        """The reader that a token was issued to; refuses what cannot be verified."""
        try:
            key, algorithm = await self._key(token)
            claims = Token.decode(
                token,
                secret=key,  # type: ignore[arg-type]  # PyJWT takes its own keys as well
                algorithm=algorithm,
                audience=self._settings.jwt_audience,
                issuer=self._settings.jwt_issuer,
            )
        except (jwt.PyJWTError, NotAuthorizedException, ValueError, TypeError) as error:
            raise Refused(HTTPStatus.UNAUTHORIZED, _NOT_VALID, _CHALLENGE) from error
        return _as_uuid(claims.sub, claims.iss or "")

    async def _key(self, token: str) -> tuple[str | jwt.PyJWK, str]:
        """The key for a token, and the one algorithm that goes with that key."""
        header = jwt.get_unverified_header(token)
        if self._secret is not None and header.get("alg") == _HMAC:
            return self._secret, _HMAC
        if self._keys is None:
            raise jwt.InvalidTokenError("no key verifies this token")
        key = await self._keys.named(header.get("kid"))
        if key.key_type == "oct":
            raise jwt.InvalidTokenError("a shared secret does not belong in a public key set")
        return key, key.algorithm_name or _SIGNED[key.key_type or ""]


def _keys(where: str | None) -> KeyAddress | KeyFile | None:
    if where is None:
        return None
    return KeyAddress(where) if where.startswith(_WEB) else KeyFile(Path(where))


def _as_uuid(subject: str, issuer: str) -> UUID:
    """The platform's own id; one that is no UUID gets one, always the same."""
    try:
        return UUID(subject)
    except ValueError:
        return uuid5(NAMESPACE_URL, f"{issuer}#{subject}")


def _household(address: str) -> str:
    """The address questions are counted by: one IPv6 household has very many."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:90]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, _IPV6_HOUSEHOLD), strict=False).network_address)
    return str(parsed)


async def provide_caller(request: Request, state: State) -> Caller:  # type: ignore[type-arg]
    """The caller of this request; a token that cannot be verified is refused, not ignored."""
    address = request.client.host if request.client else "unknown"
    token = _bearer(request)
    verifier: Verifier = state.verifier
    user = None if token is None else await verifier.user_of(token)
    return Caller(
        address,
        user,
        session_token=request.headers.get(SESSION_HEADER),
        cookies=request.cookies,
        is_encrypted=request.url.scheme == "https",
    )


def admin_guard(connection: ASGIConnection, _: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Let only the admin pass: by X-Admin-Key, or by the key as bearer token."""
    settings: Settings = connection.app.state.settings
    if settings.admin_key is None:
        raise Refused(
            HTTPStatus.FORBIDDEN,
            "No admin key is configured. Set ASKBOOK_ADMIN_KEY on the server to allow this.",
        )
    given = connection.headers.get(ADMIN_HEADER) or _bearer(connection) or ""
    wanted = settings.admin_key.get_secret_value()
    if not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Refused(HTTPStatus.UNAUTHORIZED, f"Send the admin key in {ADMIN_HEADER}.", _CHALLENGE)


def _bearer(connection: ASGIConnection) -> str | None:  # type: ignore[type-arg]
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
