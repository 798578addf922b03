"""A primary and its standby, a link that can be cut, and writers that are at work when the primary is killed.

`make failover` does so 20 times; what came of it is in `benchmarks/results/failover.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import signal
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import limpet
from tests import postgres_server
from tests.postgres_server import Server

SCOPE = "project:api"
RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "failover.json"
Found = TypeVar("Found")


class Pair:
    """Two servers of one database: what is acknowledged is on both, unless it is said otherwise."""

    def __init__(self, *, synchronous: bool = True) -> None:
        self._synchronous = synchronous
        self.primary = self._new()
        self.primary.make()
        self.primary.start()
        postgres_server.furnish(self.primary.url)
        self._with_standby()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.primary.end()
        self.standby.end()

    @property
    def url(self) -> str:
        """Of both: whichever is the primary."""
        return f"postgresql://limpet@/limpet?host={self.primary.folder},{self.standby.folder}&tenant=team"

    @property
    def standby_url(self) -> str:
        return f"postgresql://limpet@/limpet?host={self.standby.folder}&tenant=team"

    def part(self) -> None:
        """The standby hears nothing any more."""
        self.standby.stop()

    def kill_and_promote(self) -> None:
        self.primary.stop(signal.SIGKILL)
        if not self.standby.runs:
            self.standby.start()
        # Before it takes writes: whom it would wait for is not there.
        self.standby.say("ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()")
        self.standby.promote()

    def renew(self) -> None:
        """The one that took over gets a standby, in the place of the one that was killed."""
        self.primary.end()
        self.primary = self.standby
        self._with_standby()

    def _with_standby(self) -> None:
        self.standby = self._new()
        self.standby.follow(self.primary)
        self.standby.start()
        if self._synchronous:
            self.primary.say("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        soon(lambda: self.primary.say("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"))

    def _new(self) -> Server:
        return Server(synchronous_commit="on", hot_standby="on", wal_receiver_status_interval="1")


class Outcome(NamedTuple):
    acknowledged: int
    lost: int  # of these
    refused: int  # errors that writers got
    unknown_to_reader: int  # what a process that read all the time does not find at the end
    recovery_seconds: float  # from the kill to the first write that was acknowledged after it
    promotion_seconds: float


def fail_over(pair: Pair, *, writers: int, each: int = 20) -> Outcome:
    """Kill the primary while all write, promote its standby, go on. `each`: writes of each writer, before and after."""
    stop, killed = threading.Event(), [0.0]
    acknowledged: list[list[tuple[float, str]]] = [[] for _ in range(writers)]
    refused: list[limpet.StoreError] = []

    def write(number: int) -> None:
        with limpet.open(pair.url, scope=SCOPE) as memory:
            while not stop.is_set():
                try:
                    id = memory.remember(f"writer {number} wrote {time.time_ns()}").id
                except limpet.StoreError as error:
                    refused.append(error)
                else:
                    acknowledged[number].append((time.monotonic(), id))

    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(writers)]
    with limpet.open(pair.url, scope=SCOPE) as reader:
        for thread in threads:
            thread.start()
        soon(lambda: all(len(one) >= each for one in acknowledged))
        reader.recall("writer 1", lexical_only=True)
        killed[0] = time.monotonic()
        pair.kill_and_promote()
        promoted = time.monotonic()
        soon(lambda: all(sum(at > promoted for at, _ in one) >= each for one in acknowledged))
        stop.set()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        ids = [id for one in acknowledged for _, id in one]
        seen = sum(one is not None for one in there(reader, ids))
    with limpet.open(pair.url, scope=SCOPE) as fresh:
        lost = sum(one is None for one in there(fresh, ids))
        assert fresh.verify() == []
    first = min(at for one in acknowledged for at, _ in one if at > promoted)
    return Outcome(len(ids), lost, len(refused), len(ids) - seen, first - killed[0], promoted - killed[0])


def there(memory: limpet.Limpet, ids: list[str]) -> list[limpet.Memory | None]:
    def get(id: str) -> limpet.Memory | None:
        with contextlib.suppress(limpet.NotFound):
            return memory.get(id)
        return None

    return [get(id) for id in ids]


def soon(ask: Callable[[], Found], seconds: float = 300.0) -> Found:
    """What is asked for, when it is there."""
    end = time.monotonic() + seconds
    while not (found := ask()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


class Link:
    """A listener that passes on to a server what it is sent, and back, until it is told to be silent."""

    def __init__(self, to: str) -> None:
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.silent = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        while self._open:
            with contextlib.suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._to)
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while said := one.recv(65_536):
                while self.silent:
                    time.sleep(0.01)
                other.sendall(said)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def between(url: str) -> Iterator[Link]:
    """A link to the server of a URL that names its folder."""
    postgres_server.database()
    folder = re.search(r"host=([^&]+)", url)
    assert folder
    link = Link(f"{folder[1]}/.s.PGSQL.5432")
    try:
        yield link
    finally:
        link.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--writers", type=int, default=8)
    given = parser.parse_args()
    outcomes = []
    with Pair() as pair:
        for _ in range(given.times):
            outcomes.append(fail_over(pair, writers=given.writers))
            sys.stdout.write(f"{outcomes[-1]}\n")
            pair.renew()
    recovery = sorted(one.recovery_seconds for one in outcomes)
    promotion = sorted(one.promotion_seconds for one in outcomes)
    found = {
        "date": time.strftime("%Y-%m-%d"), "failovers": len(outcomes), "writers": given.writers,
        "acknowledged": sum(one.acknowledged for one in outcomes), "lost": sum(one.lost for one in outcomes),
        "unknown_to_reader": sum(one.unknown_to_reader for one in outcomes),
        "refused": sum(one.refused for one in outcomes),
        "recovery_seconds_median": round(statistics.median(recovery), 2), "recovery_seconds_max": round(recovery[-1], 2),
        "of_this_promotion_median": round(statistics.median(promotion), 2),
    }  # fmt: skip
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
