"""Tokens and the roles and scopes they grant, stored as digests in a private file that each request reads."""

from __future__ import annotations

import json
import logging
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...folders import beside, locked
from ...model.clock import format_time
from ...model.errors import BadInput, ChangedSince, LimpetError, NotFound, StoreError, StoreReadOnly
from ...model.memory import GLOBAL_SCOPE, check_scope
from ...store.files import write_own, writing

if TYPE_CHECKING:
    from ...api import Limpet

# Each may do what those before it may.
ROLES = ("read", "write", "review", "admin")
EVERY_SCOPE = "*"
PREFIX = "limpet_"
MOST_NAME = 120
log = logging.getLogger("limpet.features.serve")
NOT_FOR = "the token is not for this scope"


class Forbidden(LimpetError):
    """An error: the token is valid, but not for this."""

    code = "forbidden"


def status_of(error: LimpetError) -> int | None:
    """Return the HTTP status of an error that its sender can do something about."""
    for kind, status in {NotFound: 404, ChangedSince: 409, BadInput: 400}.items():
        if isinstance(error, kind):
            return status
    return 403 if isinstance(error, StoreReadOnly | Forbidden) else None


def for_team(error: LimpetError) -> LimpetError:
    """Return an error as somebody of a team sees it. One of the store may name paths of the server, so it is logged
    instead."""
    if status_of(error) is not None and not isinstance(error, StoreError):
        return error
    log.error("%s: %s", error.code, error.message)
    shown = LimpetError(f"the store cannot {'be written' if isinstance(error, StoreReadOnly) else 'do this now'}")
    shown.code = error.code
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The rights of one token. Times are microseconds UTC."""

    id: str
    name: str
    role: str
    scopes: tuple[str, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    sha256: str = ""  # of the token

    def holds(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def may(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def need(self, role: str) -> None:
        """Check the grant. Raises Forbidden."""
        if not self.may(role):
            raise Forbidden(f"this takes the role {role}; the token has {self.role}")

    def sees(self, scope: str) -> bool:
        return EVERY_SCOPE in self.scopes or scope in self.scopes

    def scope(self, asked: str | None, usual: str) -> str:
        """Return the scope of a request. One that is not granted is refused, whether it exists or not."""
        scope = check_scope(asked or (usual if EVERY_SCOPE in self.scopes else self.scopes[0]))
        if not self.sees(scope):
            raise Forbidden(NOT_FOR)
        return scope

    def as_dict(self) -> dict[str, Any]:
        """Return the grant as it is listed: without the digest."""
        shown: dict[str, Any] = {"id": self.id, "name": self.name, "role": self.role, "scopes": list(self.scopes)}
        times = {"created_at": self.created_at, "expires_at": self.expires_at, "revoked_at": self.revoked_at}
        return shown | {name: None if at is None else format_time(at) for name, at in times.items()}


def own(memory: Limpet, sees: Callable[[str], bool], *ids: str) -> None:
    """Check that somebody may change these. Raises NotFound, Forbidden."""
    for id in ids:
        own_scope(sees, memory.get(id).scope)


def own_scope(sees: Callable[[str], bool], scope: str) -> None:
    """Check that somebody may change a scope: `global`, which each token reads, takes one for it. Raises Forbidden."""
    if not sees(scope):
        of_global = f"this is of `{GLOBAL_SCOPE}`, which the token may read and not change"
        raise Forbidden(of_global if scope == GLOBAL_SCOPE else NOT_FOR)


class Tokens:
    """The grants of one file. Thread-safe; what another process changes counts with the next question."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._seen: tuple[int, ...] | None = None
        self._grants: list[Grant] = []
        self._lock = threading.Lock()

    def create(self, name: str, *, role: str, scopes: Sequence[str], seconds: int | None) -> tuple[Grant, str]:
        """Return a new grant and its token, which is stored nowhere. Raises BadInput, StoreError."""
        if not name.strip() or len(name) > MOST_NAME or not name.isprintable():
            raise BadInput(f"a token's name is a printable text of at most {MOST_NAME} characters")
        if role not in ROLES:
            raise BadInput(f"unknown role: {role!r:.60}", hint=f"one of: {', '.join(ROLES)}")
        if not scopes:
            raise BadInput("the token is for no scope", hint="--scope project:api, or --scope '*' for every one")
        kept = tuple(dict.fromkeys(scope if scope == EVERY_SCOPE else check_scope(scope) for scope in scopes))
        now, token = now_us(), PREFIX + secrets.token_urlsafe(32)
        grant = Grant(
            id=secrets.token_hex(4), name=name, role=role, scopes=kept, created_at=now,
            expires_at=None if seconds is None else now + seconds * 1_000_000, sha256=_digest(token),
        )  # fmt: skip
        with self._changing() as grants:
            if any(other.name == name and other.holds(now) for other in grants):
                raise BadInput(f"there is a token {name!r} already", hint="revoke it, or take another name")
            grants.append(grant)
        return grant, token

    def revoke(self, name: str) -> list[Grant]:
        """Revoke the grants of an id or a name. Raises NotFound, StoreError."""
        now, revoked = now_us(), []
        with self._changing() as grants:
            for at, grant in enumerate(grants):
                if name in (grant.id, grant.name) and grant.revoked_at is None:
                    grants[at] = replace(grant, revoked_at=now)
                    revoked.append(grants[at])
            if not revoked:
                raise NotFound(
                    f"no token {name!r:.130} that is not revoked", hint="`limpet serve token list` lists them"
                )
        return revoked

    def grants(self) -> list[Grant]:
        """Return all grants, also those no longer valid. Raises StoreError when the file is not what it should be."""
        with self._lock:
            try:
                status = self.path.lstat()
            except FileNotFoundError:
                self._seen, self._grants = None, []
                return []
            except OSError as error:
                raise StoreError(f"the file of tokens {self.path} cannot be read: {error.strerror}") from None
            seen = (status.st_mtime_ns, status.st_ino, status.st_size, status.st_mode)
            if seen != self._seen:
                if stat.S_IMODE(status.st_mode) & 0o022:
                    raise StoreError(f"the file of tokens {self.path} can be written by others", hint="chmod 600")
                try:
                    rows = json.loads(self.path.read_bytes())["tokens"]
                    self._grants = [Grant(**(row | {"scopes": tuple(row["scopes"])})) for row in rows]
                except (OSError, ValueError, TypeError, KeyError) as error:
                    message = f"the file of tokens {self.path} cannot be read: {type(error).__name__}"
                    raise StoreError(message, hint="restore it, or remove it") from None
                self._seen = seen
            return list(self._grants)

    def any(self) -> bool:
        """Return whether any grant holds."""
        return any(grant.holds(now_us()) for grant in self.grants())

    def find(self, token: str) -> Grant | None:
        """Return the grant of a token if it holds."""
        wanted, now = _digest(token), now_us()
        # The token has 256 random bits: the time of a comparison reveals nothing useful.
        return next((grant for grant in self.grants() if grant.sha256 == wanted and grant.holds(now)), None)

    @contextmanager
    def _changing(self) -> Iterator[list[Grant]]:
        """Yield the grants and write them if they changed. One process at a time: else a revocation could be lost."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = f"{self.path}.lock"
        with writing(place), locked(place, wait=True):
            grants = self.grants()
            yield grants
            write_own(
                self.path, json.dumps({"version": 1, "tokens": [asdict(grant) for grant in grants]}, indent=1).encode()
            )


def tokens_of(store: str) -> Tokens:
    """Return the tokens of a store, which are in a file beside it (for a server's: in the user's data folder)."""
    return Tokens(f"{beside(store)}.tokens")


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def now_us() -> int:
    return time.time_ns() // 1_000
