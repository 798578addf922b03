"""Connecting: URLs, values, what a statement gives, and driver errors turned into ours."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import NumericBinaryLoader
from psycopg.types.string import TextBinaryLoader, TextLoader

from ...folders import shown
from ...model.errors import BadInput, LimpetError, StoreBusy, StoreError, StoreReadOnly
from ...store.sql.store import TimedOut
from .statements import IS_PLAIN, Prepared, translate

DEFAULT_TENANT = "default"
# Statements that are sent together.
TOGETHER = 500
# Characters of statements that wait for others.
MOST_WAITING = 1_000_000
# Inserted rows become one statement, which is parsed and planned once.
_ROWS = re.compile(r"(INSERT INTO \w+ \([^()]*\)\s+VALUES )(\(.*\))( ON CONFLICT DO NOTHING)?", re.DOTALL)
# Rows of a stream that are fetched together.
STREAMED = 5_000
# libpq's messages for a failed connection -> ours: theirs may hold a password.
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


class Ids(list[bytes]):
    """An array of ids."""

    TYPE = "bytea[]"

    def text(self) -> bytes:
        return b"{" + b",".join(b'"\\\\x%s"' % id.hex().encode() for id in self) + b"}"


class Numbers(list[int]):
    """An array of numbers."""

    TYPE = "bigint[]"

    def text(self) -> bytes:
        return b"{" + b",".join(b"%d" % number for number in self) + b"}"


class Words(list[str]):
    """An array of texts, in a third of the time that psycopg takes for a list."""

    TYPE = "text[]"

    def text(self) -> bytes:
        text = "\0".join(self).replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
        return f'{{"{text}"}}'.encode() if self else b"{}"


class _ArrayDumper(Dumper):
    def dump(self, obj: Any) -> bytes:
        text: bytes = obj.text()
        return text

    def quote(self, obj: Any) -> bytes:
        return b"'" + self.dump(obj).replace(b"'", b"''") + b"'::" + obj.TYPE.encode()


class Place(NamedTuple):
    """A URL, taken apart."""

    conninfo: str
    tenant: str
    shown: str  # without the password
    given: frozenset[str]  # options of libpq that it names
    replica: bool = False  # read from a standby
    wait: float | None = None  # for a server that is not there, in seconds


def place_of(url: str) -> Place:
    """Parse a URL. Raises BadInput."""
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


class _WholeLoader(Loader):
    """A loader of sums as whole numbers."""

    def load(self, data: Any) -> int:
        return int(bytes(data))


class _WholeBinaryLoader(NumericBinaryLoader):
    def load(self, data: Any) -> Any:
        return int(super().load(data))


def configure(con: psycopg.Connection[Any]) -> None:
    """Configure a connection to send whole statements, several at once, so that a pooler may stand between."""
    con.autocommit = True
    con.cursor_factory = psycopg.ClientCursor
    for kind in (Ids, Numbers, Words):
        con.adapters.register_dumper(kind, _ArrayDumper)
    con.adapters.register_loader("numeric", _WholeLoader)
    con.adapters.register_loader("numeric", _WholeBinaryLoader)
    con.adapters.register_loader("json", TextLoader)
    con.adapters.register_loader("json", TextBinaryLoader)


class Rows:
    """The rows of a statement. Reading them sends the statement, together with those before it."""

    __slots__ = ("_rows", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows: Iterator[Any] | None = None

    def filled(self, rows: list[Any]) -> None:
        self._rows = iter(rows)

    @property
    def get(self) -> Any:
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row

    def fetchone(self) -> Any:
        return next(iter(self), None)

    def fetchall(self) -> list[Any]:
        return list(self)

    def __iter__(self) -> Iterator[Any]:
        if self._rows is None:
            self._session.send()
        if self._rows is None:  # a statement before it failed
            raise StoreError("a statement was not run, since one before it had failed", hint="try again")
        return self._rows


class Session:
    """A connection as repositories use it. Statements wait until rows are read, and are sent together, which saves
    messages."""

    def __init__(self, con: psycopg.Connection[Any], before: str = "", prepared: Prepared | None = None) -> None:
        """Begin a session. `before`: sent with each statement, which is then a transaction of its own."""
        self._con = con
        self._before = before
        self._prepared = prepared
        self._values: psycopg.ClientCursor[Any] = psycopg.ClientCursor(con)
        self._changes = 0
        self._waiting: list[tuple[str, Rows]] = []
        self._size = 0

    def execute(self, statement: str, bound: Any = None, /) -> Rows:
        text, rows, bound = translate(statement), Rows(self), _named(bound)
        if self._before:
            self._waiting.append((self._before, Rows(self)))
        call = text if self._prepared is None else self._prepared.call(self._con, text, bound, self.send)
        self._wait(self._values.mogrify(call, bound), rows)
        if self._before or not IS_PLAIN.match(text):
            self.send()
        return rows

    def executemany(self, statement: str, bound: Iterable[Any], /) -> None:
        rows = _ROWS.fullmatch(translate(statement))
        head, text, tail = rows.groups() if rows else ("", translate(statement), "")
        coming = iter(bound)
        while part := list(islice(coming, TOGETHER)):
            if len(part) == 1:
                self.execute(statement, part[0])
            elif rows:
                values = ",".join(self._values.mogrify(text, _named(item)) for item in part)
                self._wait(f"{head}{values}{tail or ''}", Rows(self))
            else:
                for row in part:
                    self.execute(statement, row)

    def stream(self, statement: str) -> Iterator[Any]:
        """Yield the rows of a statement in parts, since psycopg holds all it received. Needs a transaction."""
        self.execute(f"DECLARE streamed NO SCROLL CURSOR FOR {statement}")
        try:
            while part := self.execute(f"FETCH {STREAMED} FROM streamed").fetchall():
                yield from part
        finally:
            with contextlib.suppress(psycopg.Error):  # a transaction that failed has none any more
                self.execute("CLOSE streamed")

    def total_changes(self) -> int:
        self.send()
        return self._changes

    def send(self, last: str = "") -> str:
        """Send all that waits, then `last`. Return the server's result of the last statement."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        if not waiting and not last:
            return ""
        statements = [statement for statement, _ in waiting] + ([last] if last else [])
        # Several statements need the text protocol. A single prepared one gives binary rows: vectors in half the bytes.
        binary = len(statements) == 1 and self._prepared is not None and statements[0].startswith("EXECUTE")
        cursor: Any = psycopg.Cursor(self._con) if binary else self._con.cursor()
        try:  # without values, it is sent as it is
            cursor.execute("\n; ".join(statements), prepare=False if binary else None, binary=binary)
        except psycopg.errors.FeatureNotSupported:
            if self._prepared is not None:
                self._prepared.outdated()
            raise
        for place, (_, rows) in enumerate(waiting):
            if place:
                cursor.nextset()
            if not (cursor.statusmessage or "").startswith("SELECT"):
                self._changes += max(0, cursor.rowcount)
            rows.filled(cursor.fetchall() if cursor.pgresult.nfields else [])
        while cursor.nextset():
            pass
        return cursor.statusmessage or ""

    def _wait(self, statement: str, rows: Rows) -> None:
        self._waiting.append((statement, rows))
        self._size += len(statement)
        if self._size > MOST_WAITING or len(self._waiting) > TOGETHER:
            self.send()


def _named(bound: Any) -> Mapping[str, Any]:
    if bound is None:
        return {}
    if type(bound) is dict or isinstance(bound, Mapping):
        return bound
    return {f"p{place}": value for place, value in enumerate(bound, 1)}


@contextlib.contextmanager
def translated(store: str) -> Iterator[None]:
    """Turn driver errors into limpet's. No message of the server is repeated: it may quote rows or a password."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise translation(error, store) from None


def translation(error: psycopg.Error | UnicodeEncodeError, store: str) -> LimpetError:
    if isinstance(error, UnicodeEncodeError):
        return BadInput("a text is not valid UTF-8: it holds half a character")
    code = error.sqlstate or ""
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
    """Return the error for a failed connection. `seconds`: the time waited for it."""
    unknown = ("", "it cannot be reached", "is the server running, and can it be reached?")
    _, why, hint = next((row for row in _WHY if row[0] in str(error)), unknown)
    waited = f" for {seconds:.0f} seconds" if seconds >= 1 else ""
    return StoreError(f"no connection to {store}{waited}: {why}", hint=hint)
