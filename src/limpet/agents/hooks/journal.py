"""The journal without opening a store: a line costs a connection and an insert, since a hook pays it at each tool call.

The last lines may be lost with the power, not with the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...model.dataclass import NamedTuple
from ...model.errors import StoreBusy
from ...model.ids import format_id, parse_id
from ...pause import is_ignored
from ...settings import Settings
from ...store import open_database
from ...store.records import OutsideRead
from ...store.sql import journal
from ...store.sql.checkouts import scope_of
from ...text.turns import is_edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...store.sql.store import Database
    from .injected import Block, Offer

# Milliseconds that a hook waits for its turn to write before it answers all the same, and then to keep what it said.
CLAIM_MS, KEEP_MS = 250, 60_000
# Words of a command that are kept of a session that has read from outside: "Bash: git commit".
COMMAND_WORDS = 3


class Turn(NamedTuple):
    """The actions of a session since the user's last message."""

    lines: tuple[tuple[str, str], ...]  # (kind, what)
    remembered: bool  # whether the scope got any memory meanwhile


def note_action(settings: Settings, *, session: str, at: int, kind: str, what: str) -> None:
    """Add a line to the journal, unless it is to be ignored. Raises StoreError.

    Of a command in a session that has read from outside only its first words are kept: the rest may be a stranger's.
    """
    if is_ignored(what, settings.ignore):
        return
    with _opened(settings) as (database, scope), database.writing() as con:
        if kind in ("did", "failed") and not is_edit(what) and journal.has_read_outside(con, session):
            what = " ".join(what.split()[:COMMAND_WORDS])
        con.execute(journal.INSERT, (scope, session, at, kind, what))


def note_outside(settings: Settings, *, session: str, at: int, origin: str, what: str) -> None:
    """Note that a session's agent has read something from outside. Raises StoreError."""
    with _opened(settings) as (database, scope), database.writing() as con:
        journal.note_outside(con, OutsideRead(session, scope, at, origin, what))


def note_start(settings: Settings, session: str, *, forgets: bool) -> None:
    """Note that a session began with an empty context (`forgets`), or goes on with its old one. Raises StoreError."""
    with _opened(settings) as (database, _):
        if not database.read_only:
            with database.writing() as con:
                journal.forget_outside(con, session) if forgets else journal.set_ended(con, session, ended=False)


def note_end(settings: Settings, session: str) -> None:
    """Note that a session has ended. Raises StoreError."""
    with _opened(settings) as (database, _):
        if not database.read_only:
            with database.writing() as con:
                journal.set_ended(con, session, ended=True)


def expose(
    settings: Settings,
    offer: Offer,
    say: Callable[[Block], None],
    *,
    session: str,
    client: str,
    at: int,
    via: str,
    asked: str = "",
    once: bool = True,
) -> None:
    """Show a session what is not in front of it yet, by `say`, and store its exposures and the line `asked`.

    Memories are claimed before they are said, so that of two hooks at once only one shows a memory. If another process
    writes for long, they are said first and kept when possible. `once`: leave out what was shown before; not if nobody
    told which session it is. Raises StoreError.
    """
    if is_ignored(asked, settings.ignore):
        asked = ""
    with _opened(settings) as (database, scope):

        def chosen(con: Any) -> Block:
            seen = journal.in_front(con, session, map(parse_id, offer.ids)) if once else set()
            return offer.block(frozenset(map(format_id, seen)))

        def keep(con: Any, block: Block) -> None:
            rows = [(scope, session, client, at, via, parse_id(id), tokens, True, id in offer.drawn, None)
                    for id, tokens in block.items]  # fmt: skip
            rows += [(scope, session, client, at, via, parse_id(id), 0, False, True, None) for id in offer.withheld]
            if asked:
                con.execute(journal.INSERT, (scope, session, at, "asked", asked))
            con.executemany(journal.INSERT_EXPOSURE, rows)

        if database.read_only or not (asked or offer.ids):
            with database.reading() as con:
                block = chosen(con)
            say(block)
            return
        try:
            with database.writing(wait_ms=CLAIM_MS) as con:
                block = chosen(con)
                keep(con, block)
        except StoreBusy:
            with database.reading() as con:
                block = chosen(con)
            say(block)
            with database.writing(wait_ms=KEEP_MS) as con:
                keep(con, block)
            return
        say(block)


def note_compaction(settings: Settings, session: str) -> None:
    """Note that the session's context was compacted or cleared and may be shown the same again. Raises StoreError.

    In a store that is only read nothing is kept, and this changes nothing.
    """
    with _opened(settings) as (database, _):
        if not database.read_only:
            with database.writing() as con:
                journal.compact(con, session)


def end_turn(settings: Settings, *, session: str, at: int, line: str, answer: str) -> Turn:
    """Note the end of a turn: the agent's `line`, and whether each memory it was shown was used in its `answer` and its
    deeds. Raises StoreError.
    """
    from ...text.attribution import was_used

    with _opened(settings) as (database, scope), database.writing() as con:
        turn = Turn(*journal.turn(con, scope, session))
        waiting = journal.waiting(con, scope, session)
        asked = "\n".join(what for kind, what in turn.lines if kind == "asked")
        work = "\n".join([answer, *(what for kind, what in turn.lines if kind in ("did", "failed"))])
        # Without the answer, the deeds alone would too often show no use.
        verdicts = [(was_used(text, work, asked) if answer else None, num) for num, text in waiting]
        journal.judge(con, [(journal.CANNOT_TELL if used is None else int(used), num) for used, num in verdicts])
        if line and not is_ignored(line, settings.ignore):
            # Later sessions are shown what was said, but not what may be a stranger's words.
            read = journal.has_read_outside(con, session)
            con.execute(journal.INSERT, (scope, session, at, f"said, after reading {read}" if read else "said", line))
    return turn


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[Database, str]]:
    """Open the store's connections and yield them with the scope meant."""
    database = open_database(settings.path)
    try:
        if settings.checkout is None:
            yield database, settings.scope
        else:
            with database.reading() as con:
                scope = scope_of(con, settings.checkout)
            yield database, scope
    finally:
        database.close()
