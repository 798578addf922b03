"""The journal without opening a store: a line costs a connection and an insert, since a hook pays it at each tool call.

The last lines may be lost with the power, not with the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from ...model.dataclass import NamedTuple
from ...model.errors import StoreBusy
from ...model.ids import format_id, parse_id
from ...pause import is_ignored
from ...settings import Settings
from ...store import open_database
from ...store.records import OutsideRead
from ...store.sql import journal
from ...store.sql.checkouts import claim, scopes_of
from ...text.blocks import plain_line
from ...text.turns import is_edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...store.sql.store import Database
    from .injected import Block, Offer

# Milliseconds that a hook waits for its turn to write before it answers all the same, and then to keep what it said.
CLAIM_MS, KEEP_MS = 250, 60_000
# Words of a command that are kept of a session that has read from outside ("Bash: git commit"); characters of a name.
COMMAND_WORDS, NAME = 3, 100


class Turn(NamedTuple):
    """The actions of a session since the user's last message."""

    lines: tuple[tuple[str, str], ...]  # (kind, what)
    remembered: bool  # whether the scope got any memory meanwhile


class SessionJournal:
    """The journal of a session, written at one moment. `at`: microseconds UTC. Every method raises StoreError."""

    def __init__(self, settings: Settings, session: str, at: int) -> None:
        self._settings, self._session, self._at = settings, session, at

    def act(self, kind: str, what: str) -> None:
        """Add a line, unless it is to be ignored.

        Of a command in a session that has read from outside only its first words are kept: the rest may be a
        stranger's.
        """
        if is_ignored(what, self._settings.ignore):
            return
        with self._opened() as (database, scope), database.writing() as con:
            if kind in ("did", "failed") and not is_edit(what) and journal.has_read_outside(con, self._session):
                what = " ".join(what.split()[:COMMAND_WORDS])
            con.execute(journal.INSERT, (scope, self._session, self._at, kind, what))

    def read_outside(self, origin: str, what: str) -> None:
        """Note that the session's agent has read something from outside."""
        with self._opened() as (database, scope), database.writing() as con:
            journal.note_outside(con, OutsideRead(self._session, scope, self._at, origin, plain_line(what, NAME)))

    def start(self, *, forgets: bool) -> None:
        """Note that the session began with an empty context (`forgets`), or goes on with its old one."""
        self._mark(journal.forget_outside if forgets else partial(journal.set_ended, ended=False))

    def end(self) -> None:
        self._mark(partial(journal.set_ended, ended=True))

    def compact(self) -> None:
        """Note that the context was compacted or cleared: what the session was shown may be shown again."""
        self._mark(journal.compact)

    def _mark(self, write: Callable[[Any, str], None]) -> None:
        """Write, unless the store is only read: nothing of the session is kept there."""
        with self._opened() as (database, _):
            if not database.read_only:
                with database.writing() as con:
                    write(con, self._session)

    def expose(
        self, offer: Offer, say: Callable[[Block], None], *, client: str, via: str, asked: str = "", once: bool = True
    ) -> None:
        """Show the session what is not in front of it yet, by `say`, and store its exposures and the line `asked`.

        Memories are claimed before they are said, so that of two hooks at once only one shows a memory. If another
        process writes for long, they are said first and kept when possible. `once`: leave out what was shown before;
        not if nobody told which session it is.
        """
        session, at = self._session, self._at
        if is_ignored(asked, self._settings.ignore):
            asked = ""
        with self._opened() as (database, scope):

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

    def end_turn(self, line: str, answer: str) -> Turn:
        """Note the end of a turn: the agent's `line`, and whether each memory it was shown was used in its `answer` and
        its deeds."""
        from ...text.attribution import was_used

        session = self._session
        with self._opened() as (database, scope), database.writing() as con:
            turn = Turn(*journal.turn(con, scope, session))
            waiting = journal.waiting(con, scope, session)
            asked = "\n".join(what for kind, what in turn.lines if kind == "asked")
            work = "\n".join([answer, *(what for kind, what in turn.lines if kind in ("did", "failed"))])
            # Without the answer, the deeds alone would too often show no use.
            verdicts = [(was_used(text, work, asked) if answer else None, num) for num, text in waiting]
            journal.judge(con, [(journal.CANNOT_TELL if used is None else int(used), num) for used, num in verdicts])
            if line and not is_ignored(line, self._settings.ignore):
                # Later sessions are shown what was said, but not what may be a stranger's words.
                read = journal.has_read_outside(con, session)
                kind = f"said, after reading {read}" if read else "said"
                con.execute(journal.INSERT, (scope, session, self._at, kind, line))
        return turn

    @contextmanager
    def _opened(self) -> Iterator[tuple[Database, str]]:
        """Open the store's connections and yield them with the scope meant, which is the project's from then on."""
        database = open_database(self._settings.path)
        try:
            if self._settings.checkout is None:
                yield database, self._settings.scope
            else:
                if not database.read_only:
                    with suppress(StoreBusy):
                        claim(database, self._settings.checkout, self._at, wait_ms=CLAIM_MS)
                with database.reading() as con:
                    scope = next(scopes_of(con, self._settings.checkout))
                yield database, scope
        finally:
            database.close()
