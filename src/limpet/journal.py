"""The journal without opening a store: a line costs a connection and an insert, since a hook pays it at each tool call.

The second place that names a concrete store, beside `api.py`. The last lines may be lost with the power, not with
the process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .model.ids import parse_id
from .settings import Settings
from .store.sqlite import exposures, journal
from .store.sqlite.checkouts import scope_of
from .store.sqlite.connection import open_connection, translated

if TYPE_CHECKING:
    import apsw


class Turn(NamedTuple):
    """What a session did from the user's last message on."""

    lines: tuple[tuple[str, str], ...]  # (kind, what)
    remembered: bool  # whether the scope got any memory meanwhile


def note_action(settings: Settings, *, session: str, at: int, kind: str, what: str) -> None:
    """Add a line to the journal. Raises StoreError."""
    with _written(settings) as (con, scope):
        con.execute(journal.INSERT, (scope, session, at, kind, what))


def note_exposures(
    settings: Settings,
    items: Iterable[tuple[str, int]],
    *,
    session: str,
    client: str,
    at: int,
    via: str,
    withheld: Iterable[str] = (),
    drawn: Collection[str] = (),
    asked: str = "",
) -> None:
    """Keep what was put before an agent, as `Limpet.note_exposures` does. Raises StoreError."""
    head = (session, client, at, via)
    rows = [(*head, parse_id(id), tokens, True, id in drawn, None) for id, tokens in items]
    rows += [(*head, parse_id(id), 0, False, True, None) for id in withheld]
    if not rows and not asked:
        return
    with _written(settings) as (con, scope), con:
        if asked:
            con.execute(journal.INSERT, (scope, session, at, "asked", asked))
        con.executemany(exposures.INSERT, [(scope, *row) for row in rows])


def end_turn(settings: Settings, *, session: str, at: int, line: str, said: str) -> Turn:
    """A turn is over: note the agent's `line`, and judge for each memory it was shown whether it showed up in the work:
    in what the agent `said`, and in what it did. Raises StoreError.
    """
    from .text.attribution import was_used

    with _written(settings) as (con, scope), con:
        turn = Turn(*journal.turn(con, scope, session))
        waiting = exposures.waiting(con, scope, session)
        asked = "\n".join(what for kind, what in turn.lines if kind == "asked")
        work = "\n".join([said, *(what for kind, what in turn.lines if kind in ("did", "failed"))])
        # Where the client hands over no answer, the deeds alone would say too often that nothing showed up.
        verdicts = [(was_used(one.content, work, asked) if said else None, one.num) for one in waiting]
        exposures.judge(con, [(exposures.CANNOT_TELL if one is None else int(one), num) for one, num in verdicts])
        if line:
            con.execute(journal.INSERT, (scope, session, at, "said", line))
    return turn


@contextmanager
def _written(settings: Settings) -> Iterator[tuple[apsw.Connection, str]]:
    """A connection, and the scope that is meant."""
    connection = open_connection(settings.path, read_only=False, durable=False)
    try:
        with translated(settings.path):
            yield connection, settings.scope if settings.checkout is None else scope_of(connection, settings.checkout)
    finally:
        connection.close()
