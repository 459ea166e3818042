"""The public keys that verify readers' tokens (JWKS): from a file, or kept current from an address.

An address is asked when the first token comes, every few minutes, and when a token names a key
that is not known: keys rotate. Whatever callers send, it is asked at most once in a while. Known
keys stay good for a while when it does not answer.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

import anyio
import httpx
import jwt

from api.errors import Refused
from askbook.errors import SettingsError

_CURRENT_S: Final = 300.0  # a key that was taken back is believed no longer than this
_APART_S: Final = 10.0  # between two fetches
_KEPT_S: Final = 3600.0  # how long known keys do without an answer of their address
_TIMEOUT_S: Final = 5.0
_log = logging.getLogger("askbook.api")


class KeyFile:
    """Keys of a file, read once."""

    def __init__(self, path: Path) -> None:
        try:
            self._keys = parse(path.read_bytes())
        except (OSError, ValueError, jwt.PyJWTError) as error:
            raise SettingsError(
                f"ASKBOOK_JWT_JWKS={path}: this is not a readable JWKS file ({error})"
            ) from error

    async def named(self, name: object) -> jwt.PyJWK:
        """The key of this name; without a name, the only one there is."""
        if (key := find(self._keys, name)) is None:
            raise jwt.InvalidTokenError("no key of this name")
        return key


class KeyAddress:
    """Keys of an http(s) address."""

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        try:
            self._address = httpx.URL(address)
        except httpx.InvalidURL as error:
            raise SettingsError(f"ASKBOOK_JWT_JWKS={address}: {error}") from error
        self._clock = clock
        self._keys: jwt.PyJWKSet | None = None
        self._fetched: float | None = None
        self._tried: float | None = None
        self._answers = False
        self._fetching = anyio.Lock()

    async def named(self, name: object) -> jwt.PyJWK:
        """The key of this name; without a name, the only one there is."""
        key = find(self._keys, name)
        if key is None or not self._is_within(_CURRENT_S, self._fetched):
            await self._refresh()
            key = find(self._keys, name)
        if self._answers and key is None:
            raise jwt.InvalidTokenError("no key of this name")
        if key is None or not self._is_within(_KEPT_S, self._fetched):
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "The keys that verify bearer tokens cannot be fetched. Try again soon.",
                {"Retry-After": str(round(_APART_S))},
                dependency="jwks",
            )
        return key

    async def _refresh(self) -> None:
        async with self._fetching:  # who waited here finds what the one before them fetched
            if self._is_within(_APART_S, self._tried):
                return
            self._tried = self._clock()
            try:
                async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
                    reply = await client.get(self._address)
                self._keys = parse(reply.raise_for_status().content)
                self._fetched = self._tried
                self._answers = True
            except (httpx.HTTPError, ValueError, jwt.PyJWTError) as error:
                self._answers = False
                _log.error("ASKBOOK_JWT_JWKS=%r gives no keys: %r", self._address, error)

    def _is_within(self, seconds: float, moment: float | None) -> bool:
        return moment is not None and self._clock() - moment < seconds


def parse(document: bytes) -> jwt.PyJWKSet:
    """The keys of a JWKS document."""
    told = json.loads(document)
    if not isinstance(told, dict):
        raise jwt.PyJWKSetError("it is not a JSON object")
    return jwt.PyJWKSet.from_dict(told)


def find(keys: jwt.PyJWKSet | None, name: object) -> jwt.PyJWK | None:
    """The key of this name; without a name, the only one there is."""
    known = [key for key in keys or () if key.public_key_use in {"sig", None}]
    if name is None and len(known) == 1:
        return known[0]
    return next((key for key in known if name is not None and key.key_id == name), None)
