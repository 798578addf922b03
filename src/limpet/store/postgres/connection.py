"""Connecting: URLs, the pool, what a statement gives, and driver errors turned into ours."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.types.string import TextLoader

from ...folders import shown
from ...model.errors import BadInput, LimpetError, StoreBusy, StoreError, StoreReadOnly
from .statements import translate

DEFAULT_TENANT = "default"
# Statements that are sent together.
TOGETHER = 500
# Rows that are inserted are one statement, which is parsed and planned once.
_ROWS = re.compile(r"(INSERT INTO \w+ \([^()]*\)\s+VALUES )(\(.*\))( ON CONFLICT DO NOTHING)?", re.DOTALL)
# Rows of a stream that are fetched together.
STREAMED = 5_000
# What libpq says when there is no connection, and what of it is said: the rest may hold a password.
_WHY = (
    ("refused", "it refuses connections", "is the server running?"),
    ("No such file", "no server listens there", "is the server running?"),
    ("starting up", "the server is starting", "try again"),
    ("shutting down", "the server is stopping", "try again"),
    ("read-only", "no host of it can be written", "was a standby promoted?"),
    ("hot standby mode", "no host of it is as `target_session_attrs` says", "is a standby running?"),
    ("timeout", "it does not answer", "can the server be reached?"),
    ("resolve", "its host's name is not known", "is the name right?"),
    ("authentication", "it does not let this user in", "check the user and its password (PGPASSWORD)"),
    ("password", "it does not let this user in", "check the user and its password (PGPASSWORD)"),
    ("does not exist", "there is no such database or user", "`createdb` makes a database"),
)
# Options of a URL that are limpet's own.
OWN = ("tenant", "replica", "wait")
# The server went, or never was.
GONE = ("57P01", "57P02", "57P03")


class TimedOut(StoreError):
    """A statement was ended at its deadline."""


class Place(NamedTuple):
    """A URL, taken apart."""

    conninfo: str
    tenant: str
    shown: str  # without the password
    given: frozenset[str]  # options of libpq that it names
    replica: bool = False  # read from a standby
    wait: float | None = None  # for a server that is not there, in seconds

    def usual(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of some options that the URL says nothing of."""
        return {name: value for name, value in options.items() if name not in self.given}


def place_of(url: str) -> Place:
    """Raises BadInput."""
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    tenant, replica, wait = (given.pop(name, None) for name in OWN)
    tenant = DEFAULT_TENANT if tenant is None else tenant
    if not tenant or len(tenant) > 63 or not tenant.isprintable():
        raise BadInput("the tenant of a store is a name of up to 63 characters", hint="?tenant=team at the URL's end")
    if replica not in (None, "yes", "no"):
        raise BadInput("replica is yes or no", hint="?replica=yes reads from a standby, and writes nothing")
    if wait is not None and not (wait.isdecimal() and len(wait) < 6):
        raise BadInput("wait is a number of seconds", hint="?wait=30 goes on trying to connect for that long")
    if replica == "yes":
        given.setdefault("target_session_attrs", "prefer-standby")
    elif "," in given.get("host", parts.netloc.rpartition("@")[2]):
        given.setdefault("target_session_attrs", "read-write")  # of several, the one that is not a standby
    return Place(
        urlunsplit(parts._replace(query=urlencode(given))), tenant, shown(url), frozenset(given), replica == "yes",
        None if wait is None else float(wait),
    )  # fmt: skip


class Ids(list[bytes]):
    """An array of ids."""


class Numbers(list[int]):
    """An array of numbers."""


class _IdsDumper(Dumper):
    def dump(self, obj: Ids) -> bytes:
        return b"{" + b",".join(b'"\\\\x%s"' % one.hex().encode() for one in obj) + b"}"

    def quote(self, obj: Ids) -> bytes:
        return b"'{" + b",".join(b'"\\\\x%s"' % one.hex().encode() for one in obj) + b"}'::bytea[]"


class _NumbersDumper(Dumper):
    def dump(self, obj: Numbers) -> bytes:
        return b"{" + b",".join(b"%d" % one for one in obj) + b"}"

    def quote(self, obj: Numbers) -> bytes:
        return b"'" + self.dump(obj) + b"'::bigint[]"


class Words(list[str]):
    """An array of texts, in a third of the time that psycopg takes for a list."""


class _WordsDumper(Dumper):
    def dump(self, obj: Words) -> bytes:
        said = "\0".join(obj).replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
        return f'{{"{said}"}}'.encode() if obj else b"{}"

    def quote(self, obj: Words) -> bytes:
        return b"'" + self.dump(obj).replace(b"'", b"''") + b"'::text[]"


class _WholeLoader(Loader):
    """Sums of numbers are whole numbers."""

    def load(self, data: Any) -> int:
        return int(bytes(data))


def configure(con: psycopg.Connection[Any]) -> None:
    """Statements are sent whole, so that a pooler may stand between, and several of them at once."""
    con.autocommit = True
    con.cursor_factory = psycopg.ClientCursor
    con.adapters.register_dumper(Ids, _IdsDumper)
    con.adapters.register_dumper(Numbers, _NumbersDumper)
    con.adapters.register_dumper(Words, _WordsDumper)
    con.adapters.register_loader("numeric", _WholeLoader)
    con.adapters.register_loader("json", TextLoader)


class Rows:
    """What a statement gave."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: psycopg.Cursor[Any]) -> None:
        self._cursor = cursor

    @property
    def get(self) -> Any:
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row

    def fetchone(self) -> Any:
        return self._cursor.fetchone() if self._cursor.description else None

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall() if self._cursor.description else []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class Session:
    """A connection as repositories use it."""

    def __init__(self, con: psycopg.Connection[Any], before: str = "") -> None:
        """`before`: what is sent with each statement, which is then a transaction of its own."""
        self._con = con
        self._before = before
        self._changes = 0

    def execute(self, statement: str, bound: Any = None, /) -> Rows:
        text = translate(statement)
        cursor = self._con.cursor()
        if self._before:
            cursor.execute(f"{self._before}; {text}", _named(bound))
            cursor.nextset()
        else:
            cursor.execute(text, _named(bound))
        self._count(cursor)
        return Rows(cursor)

    def executemany(self, statement: str, bound: Iterable[Any], /) -> None:
        rows = _ROWS.fullmatch(translate(statement))
        head, text, tail = rows.groups() if rows else ("", translate(statement), "")
        coming = iter(bound)
        while part := list(islice(coming, TOGETHER)):
            cursor: Any = self._con.cursor()
            several = ("," if rows else ";").join(cursor.mogrify(text, _named(one)) for one in part)
            cursor.execute(f"{head}{several}{tail or ''}")  # without values, it is sent as it is
            self._count(cursor)
            while cursor.nextset():
                self._count(cursor)

    def stream(self, statement: str) -> Iterator[Any]:
        """The rows of a statement, not all of them at once: psycopg keeps what came. Needs a transaction."""
        self.execute(f"DECLARE streamed NO SCROLL CURSOR FOR {statement}")
        try:
            while part := self.execute(f"FETCH {STREAMED} FROM streamed").fetchall():
                yield from part
        finally:
            with contextlib.suppress(psycopg.Error):  # a transaction that failed has none any more
                self.execute("CLOSE streamed")

    def total_changes(self) -> int:
        return self._changes

    def _count(self, cursor: psycopg.Cursor[Any]) -> None:
        if not (cursor.statusmessage or "").startswith("SELECT"):
            self._changes += max(0, cursor.rowcount)


def _named(bound: Any) -> Mapping[str, Any]:
    if bound is None:
        return {}
    return bound if isinstance(bound, Mapping) else {f"p{place}": value for place, value in enumerate(bound, 1)}


@contextlib.contextmanager
def translated(store: str) -> Iterator[None]:
    """Driver errors become limpet's, with words and what to do next. No message of the server is repeated: it may quote
    rows, and a connection string its password."""
    try:
        yield
    except psycopg.Error as error:
        raise translation(error, store) from None


def translation(error: psycopg.Error, store: str) -> LimpetError:
    code = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
        return StoreBusy(f"another process has been writing to {store} for too long", hint="try again")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return TimedOut(f"{store} did not answer in time", hint="try again")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction | psycopg.errors.InsufficientPrivilege):
        return StoreReadOnly(f"{store} cannot be written", hint="is it a standby, or may this user not write?")
    if isinstance(error, psycopg.errors.InvalidPassword | psycopg.errors.InvalidAuthorizationSpecification):
        return StoreError(f"{store} does not let this user in", hint="check the user and its password (PGPASSWORD)")
    if isinstance(error, psycopg.DataError) and "NUL" in str(error):
        return BadInput("a text holds a NUL character, which Postgres cannot store", hint="take it out")
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreError(f"the disk of {store} is full; nothing was stored", hint="free some space, try again")
    if code in GONE or (isinstance(error, psycopg.OperationalError) and not code):
        return StoreError(f"the connection to {store} was lost; nothing was stored", hint="try again")
    return StoreError(f"{store} failed: {type(error).__name__} {code}".rstrip())


def unreachable(error: psycopg.Error, store: str, seconds: float) -> StoreError:
    """Why there is no connection. `seconds`: how long one was waited for."""
    said = str(error)
    found = (one for one in _WHY if one[0] in said)
    _, why, hint = next(found, ("", "it cannot be reached", "is the server running, and can it be reached?"))
    waited = f" for {seconds:.0f} seconds" if seconds >= 1 else ""
    return StoreError(f"no connection to {store}{waited}: {why}", hint=hint)
