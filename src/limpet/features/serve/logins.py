"""Logins through the team's provider: its signed tokens (JWT) say who somebody is. Their rights are in the file of
tokens, so that they can be revoked at once. Its keys are fetched ahead: no login waits for the provider."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from pathlib import Path

import jwt

from ...model.errors import BadInput

# Those with a public key: a shared secret of a provider would sign for everybody who has it.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
LEEWAY_SECONDS = 30
# Seconds between two fetches of keys, at least (for a key that nobody knows) and at most; until keys hold no more if no
# others come; and for an answer.
SOONEST_SECONDS, REFRESH_SECONDS, KEPT_SECONDS, FETCH_SECONDS = 10.0, 300.0, 3_600.0, 5.0
log = logging.getLogger("limpet.features.serve")


class Logins:
    """Tokens of an issuer for one resource. `keys`: the issuer's key set (JWKS), a file or a URL."""

    def __init__(self, issuer: str, resource: str, keys: str | None = None) -> None:
        self.issuer, self.resource = issuer, resource
        where = keys or f"{issuer.rstrip('/')}/.well-known/jwks.json"
        self._keys, self._until = dict[str, jwt.PyJWK](), math.inf
        self._unknown, self.fetched = threading.Event(), threading.Event()
        if where.startswith("https://"):
            client = jwt.PyJWKClient(where, timeout=FETCH_SECONDS)
            threading.Thread(target=self._fetch, args=(client,), name="limpet-keys", daemon=True).start()
            return
        self.fetched.set()
        try:
            self._keys = _by_name(jwt.PyJWKSet.from_dict(json.loads(Path(where).read_bytes())))
        except (OSError, ValueError, jwt.PyJWTError) as error:
            raise BadInput(f"no key set of an issuer: {where}", hint="a file, or an https:// URL") from error

    def subject(self, token: str) -> str | None:
        """Return the subject of a valid token that the issuer signed for this resource, by the keys that are there."""
        try:
            name = jwt.get_unverified_header(token)["kid"]
            if name not in self._keys or self._until < time.monotonic():
                self._unknown.set()
                return None
            claims = jwt.decode(
                token, self._keys[name], algorithms=ALGORITHMS, issuer=self.issuer, audience=self.resource,
                leeway=LEEWAY_SECONDS, options={"require": ["exp", "iss", "aud", "sub"]},
            )  # fmt: skip
        except (jwt.PyJWTError, KeyError, TypeError):
            return None
        return str(claims["sub"])

    def _fetch(self, client: jwt.PyJWKClient) -> None:
        while True:
            try:
                self._keys = _by_name(client.get_jwk_set(refresh=True))
                self._until = time.monotonic() + KEPT_SECONDS
            except Exception as error:  # whatever the provider answers, it is asked again
                log.warning("the issuer's keys cannot be fetched: %s", type(error).__name__)
            self.fetched.set()
            time.sleep(SOONEST_SECONDS)
            self._unknown.wait(REFRESH_SECONDS)
            self._unknown.clear()


def _by_name(keys: jwt.PyJWKSet) -> dict[str, jwt.PyJWK]:
    return {key.key_id: key for key in keys.keys if key.key_id}
