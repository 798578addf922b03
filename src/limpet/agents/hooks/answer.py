"""Answers to hook events: look up, note, begin, end. Each role opens only what it needs.

A message and a start open the store by the API; a tool call and an answer are a line of the journal, without it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ... import registry
from ...folders import is_there, shown
from ...model.dataclass import dataclass, replace
from ...model.errors import NotFound
from ...pause import append, is_incognito, look, read_pauses
from ...text.blocks import plain_line, split_typed, strip_blocks
from .client_adapters import CLIENT_ADAPTERS, NO_EXIT_STATUS, Call, off, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ...api import Limpet
    from ...model.clock import Clock
    from ...settings import Settings
    from .injected import Offer
    from .journal import SessionJournal

ASKED_CHARACTERS, SAID_CHARACTERS = 1_000, 400
# The message that pauses limpet in clients whose commands do not tell which session they run in.
INCOGNITO = "limpet pause --session"
# Ways in which a session begins: with an empty context, so that everything may be shown again; or with its old one.
FORGETS, KEEPS = ("compact", "clear"), ("resume", "fork")
# Lines of the journal that are searched for the last message of a sub-agent's session.
LINES = 50


@dataclass(frozen=True, slots=True)
class Host:
    """The process that answers: the hook's own, or one that has the store open."""

    store: str | None = None  # as it was named
    scope: str | None = None
    clock: Clock | None = None
    memory: Limpet | None = None  # the open store
    folder: str | None = None  # where the hook was started; None: where this process was


class IsOff(Exception):
    """An event while limpet is off: nothing is looked up, noted or said."""


def answer(call: Call, say: Callable[[str], None], host: Host) -> None:
    """Do what the event asks for. `say` gets what the client is to read, before anything slow is written.

    Raises whatever goes wrong: `entry.py` sees to it that the client never notices.
    """
    try:
        getattr(_Event(call, say, host), call.role)()
    except IsOff:
        say(off(call))


class _Event:
    """One event; a method for each role. Settings are read, and their modules imported, when the store is needed."""

    def __init__(self, call: Call, say: Callable[[str], None], host: Host) -> None:
        self.call, self.say, self.host = call, say, host
        self.now = host.clock.now() if host.clock else time.time_ns() // 1_000
        self.session = call.session or call.client
        self.is_shown = call.role in CLIENT_ADAPTERS[call.client].answers
        self.to_user = ""  # what the client shows to its user beside the answer
        self._settings: Settings | None = None

    @property
    def settings(self) -> Settings:
        """The settings. Raises IsOff."""
        if self._settings is None:
            from ...settings import read_settings

            folder = self.call.folder if os.path.isdir(self.call.folder) else self.host.folder  # noqa: PTH112
            settings = read_settings(self.host.store, self.host.scope, False, folder)
            here = self.call.folder or self.host.folder or os.getcwd()  # noqa: PTH109
            state = look(settings.path, here, self.session, self.now)
            if state.why:
                # `limpet organize`, which reads the transcript later, does not have this environment.
                session = self.call.session
                if session and is_incognito() and session not in read_pauses(settings.path).sessions:
                    append(settings.path, [f"incognito {session}"])
                raise IsOff
            self._settings = replace(settings, ignore=state.ignore)
        return self._settings

    @property
    def journal(self) -> SessionJournal:
        """The session's journal. Raises IsOff."""
        from .journal import SessionJournal

        return SessionJournal(self.settings, self.session, self.now)

    # -- roles

    def message(self) -> None:
        from .gate import query_of

        text = strip_blocks(self.call.text)
        if text.strip().lower() == INCOGNITO:
            if not self.call.session:
                cannot = "limpet cannot tell which session this is: `limpet pause` in a terminal switches it off."
                self.say(shape(self.call, "", cannot))
                return
            append(self.settings.path, [f"incognito {self.session}"])
            done = "limpet is off for this session: nothing of it is noted, stored or shown from here on."
            self.say(shape(self.call, "", done) or off(self.call))
            return
        query = query_of(text)
        if not query or not is_there(self.settings.path):
            return
        typed, pasted = split_typed(text)
        if pasted:
            with suppress(registry.FeatureMissing):
                self.journal.read_outside(*registry.part("features.outside").PASTED)
        asked = plain_line(_redacted(typed), ASKED_CHARACTERS)
        # A client that shows nothing needs no look-up and no holdout.
        if not self.is_shown:
            self.journal.act("asked", asked)
            return
        from ...settings import holdout_share
        from .injected import MESSAGE_TOKENS, Holdout, brief

        has_models = self.host.memory is not None
        with self._opened(is_read=True) as memory:
            offer = brief(memory, query, MESSAGE_TOKENS, Holdout(self.session, holdout_share()), has_models=has_models)
            self._expose(offer, asked)

    def edit(self) -> None:
        """Tell an agent that is about to change a file what was decided and learned about it, once a session."""
        from .actions import file_of

        path = file_of(self.call.input)
        if not path or not is_there(self.settings.path):
            return
        from .session_state import of_file

        with self._opened(is_read=True) as memory:
            offer = of_file(memory, path, self.session)
            if offer.ids:
                self._expose(offer)

    def tool(self) -> None:
        from .actions import describe_action

        call = self.call
        # Noted because what the agent stores later may rest on it.
        with suppress(registry.FeatureMissing):
            read = registry.part("features.outside").read_by(call.tool, call.input, call.folder)
            if read is not None and is_there(self.settings.path):
                self.journal.read_outside(*read)
        line = describe_action(call.tool, call.input, failed=call.failed)
        if line:
            self.journal.act("failed" if call.failed else "did", line)

    def turn(self) -> None:
        from ...text.turns import closing

        text = strip_blocks(self.call.text)
        # Redacted before anything is left out: half a secret is none that can be recognised.
        line = plain_line(closing(_redacted(text), SAID_CHARACTERS), SAID_CHARACTERS)
        if not line and not is_there(self.settings.path):
            return
        turn = self.journal.end_turn(line, text)
        if turn.remembered or self.call.client in NO_EXIT_STATUS:
            return
        from ...remember.beliefs import mended, note_of

        if result := mended(turn.lines):  # opening the store costs more than all else
            with self._opened() as memory:
                reader = memory._context.reader()
                note = reader and note_of(turn.lines, result, _redacted(text), reader)
                if note:
                    registry.call("taint", memory._context, self.session, note, note["content"])
                    memory.remember(**note, session=self.session, metadata={"client": self.call.client})

    def start(self) -> None:
        if not is_there(self.settings.path):
            return
        from .session_state import left_off

        call = self.call
        if call.source in FORGETS:
            self._forget()
        if call.session:
            # A summary of the context may hold what was read: only an empty one does not.
            self.journal.start(forgets=call.source not in (*KEEPS, "compact"))
        with self._opened() as memory:
            with suppress(registry.FeatureMissing):
                registry.part("features.mirror").take_in_edits(memory)
            if (team := registry.call("team", memory)) and team.problems:
                self.to_user = plain_line("limpet: {}: {}".format(*team.problems[0]), 200)
            if memory.read_only and call.source not in FORGETS:
                place = plain_line(shown(self.settings.path), 200)
                self.to_user = f"limpet can read its memory at {place} and cannot write it: nothing is remembered."
            # What was resumed is still in front of the agent.
            if call.source not in KEEPS:
                self._expose(left_off(memory, self.session, same=call.source == "compact"))
            if call.session and not memory.read_only:
                memory.session_start(self.session)

    def compact(self) -> None:
        if not is_there(self.settings.path):
            return
        from .session_state import survival

        # The summary needs everything, also what was shown before; after it, the context is new.
        self._forget()
        with self._opened() as memory:
            self._expose(survival(memory, self.session))
        self._forget()

    def subagent(self) -> None:
        """Brief a sub-agent for the user's last message: the client does not tell its task."""
        if not is_there(self.settings.path):
            return
        from ...settings import holdout_share
        from .gate import query_of
        from .injected import Holdout
        from .session_state import for_subagent

        with self._opened(is_read=True) as memory:
            lines = memory.journal(session=self.session, limit=LINES)
            asked = next((line.what for line in reversed(lines) if line.kind == "asked"), "")
            holdout = Holdout(self.session, holdout_share())
            # A sub-agent does not see what its session was shown, nor the other way round.
            self.session = f"{self.session}/{self.call.agent}"
            self._expose(for_subagent(memory, query_of(strip_blocks(self.call.text) or asked), holdout))

    def end(self) -> None:
        if not self.call.session or not is_there(self.settings.path):
            return
        self.journal.end()
        with self._opened() as memory:
            with suppress(NotFound):  # it began before limpet was there
                memory.session_end(self.session)
            # Only note the file: `limpet organize` reads it when a person or a timer calls it.
            path = self.call.transcript
            if not path and self.call.client == "copilot":  # it names the file only at other events
                root = os.environ.get("COPILOT_HOME") or os.path.expanduser("~/.copilot")  # noqa: PTH111
                parts = "session-state", os.path.basename(self.call.session), "events.jsonl"  # noqa: PTH119
                path = os.path.join(root, *parts)  # noqa: PTH118
            if os.path.isabs(path) and os.path.isfile(path):  # noqa: PTH113, PTH117
                registry.part("features.organize").note_transcript(memory, path)
                registry.call("ended", memory)
            if self.host.memory is None:  # else a server has the store, and works the queue itself
                from ...work.later import leave

                leave(memory._context)

    # -- what roles share

    def _opened(self, *, is_read: bool = False) -> Limpet:
        """Open the store. `is_read`: to read only, without waiting for the disk; closing may take another's lock."""
        settings, memory = self.settings, self.host.memory
        if memory is not None:
            there = settings.checkout
            return memory.in_scope(settings.scope) if there is None else memory._in_project(there)
        from ...api import Limpet

        return Limpet(replace(settings, durable=False) if is_read else settings, create=False, clock=self.host.clock)

    def _expose(self, offer: Offer, asked: str = "") -> None:
        """Say the part of an offer not yet shown to this session, and store its exposures with the line it answers."""
        if self.is_shown:
            self.journal.expose(
                offer, lambda block: self.say(shape(self.call, block.text, self.to_user)), client=self.call.client,
                via=self.call.role, asked=asked, once=bool(self.call.session),
            )  # fmt: skip

    def _forget(self) -> None:
        """Note that the session's context is new: what it was shown may be shown again."""
        if self.call.session:
            self.journal.compact()


def _redacted(text: str) -> str:
    from ...secrets import redact

    return redact(text[:20_000])[0]
