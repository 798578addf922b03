"""Logins through the team's provider: its signed tokens (JWT) say who somebody is. Their rights are in the file of
tokens, so that they can be revoked at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt

from ...model.errors import BadInput

# Those with a public key: a shared secret of a provider would sign for everybody who has it.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
LEEWAY_SECONDS = 30


class Logins:
    """Tokens of an issuer for one resource. `keys`: the issuer's key set (JWKS), a file or a URL."""

    def __init__(self, issuer: str, resource: str, keys: str | None = None) -> None:
        self.issuer, self.resource = issuer, resource
        where = keys or f"{issuer.rstrip('/')}/.well-known/jwks.json"
        self._client: Any = None
        self._keys: Any = None
        if where.startswith("https://"):
            self._client = jwt.PyJWKClient(where, timeout=5)
            return
        try:
            self._keys = jwt.PyJWKSet.from_dict(json.loads(Path(where).read_bytes()))
        except (OSError, ValueError, jwt.PyJWTError) as error:
            raise BadInput(f"no key set of an issuer: {where}", hint="a file, or an https:// URL") from error

    def subject(self, token: str) -> str | None:
        """Return the subject of a valid token that the issuer signed for this resource. May ask the issuer for keys."""
        try:
            key = self._client.get_signing_key_from_jwt(token) if self._client else self._key(token)
            claims = jwt.decode(
                token, key, algorithms=ALGORITHMS, issuer=self.issuer, audience=self.resource, leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )  # fmt: skip
        except (jwt.PyJWTError, KeyError):
            return None
        return str(claims["sub"])

    def _key(self, token: str) -> Any:
        return self._keys[jwt.get_unverified_header(token)["kid"]]
