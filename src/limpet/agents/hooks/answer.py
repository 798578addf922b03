"""What an event asks for: look up, note, begin, end. Each role opens only what it needs.

A message and a start open the store by the API; a tool call and an answer are a line of the journal, without it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

from ... import registry
from ...folders import is_there
from ...model.dataclass import dataclass, replace
from ...pause import append, is_incognito, look, read_pauses
from ...text.blocks import plain_line, strip_blocks
from .client_adapters import CLIENT_ADAPTERS, NO_EXIT_STATUS, Call, notice, off, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.clock import Clock
    from ...settings import Settings
    from .injected import Offer

Say = Callable[[str], None]
# Settings are read, and their modules imported, only when the store is needed.
Find = Callable[[], "Settings"]
ASKED_CHARACTERS, SAID_CHARACTERS = 200, 400
# A message that is for limpet, in clients that tell no command whose session it is in.
INCOGNITO = "limpet pause --session"
# How a session begins: with an empty context, after which everything may be shown again; or with the one it had.
FORGETS, KEEPS = ("compact", "clear"), ("resume", "fork")


@dataclass(frozen=True, slots=True)
class Host:
    """The process that answers: the hook's own, or one that has the store open."""

    store: str | None = None  # as it was named
    scope: str | None = None
    clock: Clock | None = None
    memory: Limpet | None = None  # the open store
    folder: str | None = None  # that the hook was started in; this process's where it is None


def answer(call: Call, say: Say, host: Host) -> None:
    """Do what the event asks for; `say` takes what the client is to read, before anything slow is written.

    Raises whatever goes wrong: `entry.py` sees to it that the client never notices.
    """

    def find() -> Settings:
        from ...settings import read_settings

        folder = call.folder if os.path.isdir(call.folder) else host.folder  # noqa: PTH112
        settings = read_settings(host.store, host.scope, False, folder)
        here = call.folder or host.folder or os.getcwd()  # noqa: PTH109
        state = look(settings.path, here, _session(call), _now(host))
        if state.why:
            _note_incognito(call, settings)
            raise IsOff
        return replace(settings, ignore=state.ignore) if state.ignore else settings

    try:
        _ROLES[call.role](call, say, find, host)
    except IsOff:
        say(off(call))


class IsOff(Exception):
    """limpet is off for this event: nothing is looked up, noted or said."""


def _note_incognito(call: Call, settings: Settings) -> None:
    """What is incognito by its environment is so for the organizer too, which reads its transcript another time."""
    if call.session and is_incognito() and call.session not in read_pauses(settings.path).sessions:
        append(settings.path, [f"incognito {call.session}"])


def _message(call: Call, say: Say, find: Find, host: Host) -> None:
    from .gate import query_of

    text = strip_blocks(call.text)
    if _incognito(text, call, say, find):
        return
    query = query_of(text)
    if not query:
        return
    settings = find()
    if not is_there(settings.path):
        _say_missing(call, settings, say)
        return
    # What a client cannot show is neither looked up nor randomized.
    asked = _line(text, ASKED_CHARACTERS)
    if call.role not in CLIENT_ADAPTERS[call.client].answers:
        _note(call, settings, host, "asked", asked)
        return
    from .holdout import Holdout
    from .injected import MESSAGE_TOKENS, brief, brief_from_vectors

    holdout = Holdout(_session(call), settings.holdout)
    look_up = brief if host.memory is None else brief_from_vectors
    # Only read here: no need to wait for the disk. To close it may take a lock that another process has.
    with _open(replace(settings, durable=False), host) as memory:
        _expose(call, settings, host, look_up(memory, query, MESSAGE_TOKENS, holdout), say, asked)


def _incognito(text: str, call: Call, say: Say, find: Find) -> bool:
    """Handle a request to switch limpet off for this session. Return True if the message was one."""
    if text.strip().lower() != INCOGNITO:
        return False
    if not call.session:
        say(notice(call, "limpet cannot tell which session this is: `limpet pause` in a terminal switches it off."))
    else:
        append(find().path, [f"incognito {call.session}"])
        words = "limpet is off for this session: nothing of it is noted, stored or shown from here on."
        say(notice(call, words) or off(call))
    return True


def _tool(call: Call, _: Say, find: Find, host: Host) -> None:
    from .actions import describe_action

    _note_foreign(call, find, host)
    line = describe_action(call.tool, call.input, failed=call.failed)
    if line:
        _note(call, find(), host, "failed" if call.failed else "did", line)


def _note_foreign(call: Call, find: Find, host: Host) -> None:
    """What was read from outside is recognised when the agent stores it."""
    if not call.output:
        return
    from ..foreign_reads import note, origin_of

    origin = origin_of(call.tool, call.input)
    if origin is not None and is_there(find().path):
        note(find().path, origin, call.output, _now(host))


def _turn(call: Call, _: Say, find: Find, host: Host) -> None:
    from ...journal import end_turn

    settings, said = find(), strip_blocks(call.text)
    line = _closing(said)
    if not line and not is_there(settings.path):
        return
    turn = end_turn(settings, session=_session(call), at=_now(host), line=line, said=said)
    if turn.remembered or call.client in NO_EXIT_STATUS:
        return
    # Only where a result could be: opening the store costs more than all the rest.
    if not any(kind == "failed" or "git commit" in what for kind, what in turn.lines):
        return
    from ...remember.ambient import note_of

    note = note_of(turn.lines)
    if note is not None:
        with _open(settings, host) as memory:
            memory.remember(**note, session=_session(call), metadata={"client": call.client})


def _start(call: Call, say: Say, find: Find, host: Host) -> None:
    settings = find()
    if not is_there(settings.path):
        _say_missing(call, settings, say)
        return
    from .session_state import left_off

    if call.source in FORGETS:
        _note_compaction(call, settings)
    with _open(settings, host) as memory:
        registry.part("features.mirror").take_in_edits(memory)
        # What was resumed is still in front of the agent.
        if call.source not in KEEPS:
            offer = left_off(memory, call.client, _session(call), same=call.source == "compact")
            to_user = ""
            if memory.read_only and call.source not in FORGETS:
                from .notices import read_only

                to_user = read_only(settings.path)
            _expose(call, settings, host, offer, say, to_user=to_user)
        if call.session and not memory.read_only:
            memory.session_start(_session(call))


def _compact(call: Call, say: Say, find: Find, host: Host) -> None:
    settings = find()
    if not is_there(settings.path):
        return
    from .session_state import survival

    # What the summary is to keep is all there is, whether it was shown before or not; and then it is gone.
    _note_compaction(call, settings)
    with _open(settings, host) as memory:
        _expose(call, settings, host, survival(memory, call.client, _session(call)), say)
    _note_compaction(call, settings)


def _subagent(call: Call, say: Say, find: Find, host: Host) -> None:
    settings = find()
    if not is_there(settings.path):
        return
    from .gate import query_of
    from .holdout import Holdout
    from .session_state import for_subagent
    from .subagent import task_of

    with _open(replace(settings, durable=False), host) as memory:
        task = query_of(strip_blocks(task_of(call, memory)))
        offer = for_subagent(memory, task, Holdout(_session(call), settings.holdout))
        # It sees nothing of what its session was shown, and the session nothing of this.
        _expose(replace(call, session=f"{_session(call)}/{call.agent}"), settings, host, offer, say)


def _end(call: Call, _: Say, find: Find, host: Host) -> None:
    settings = find()
    if not call.session or not is_there(settings.path):
        return
    from ...model.errors import NotFound

    with _open(settings, host) as memory:
        with suppress(NotFound):  # it began before limpet was there
            memory.session_end(_session(call))
        # Only named here: `limpet organize` reads it when somebody, or a timer, calls that.
        transcript = _transcript(call)
        if transcript:
            registry.part("features.organize").note_transcript(memory, transcript)


_ROLES: dict[str, Callable[[Call, Say, Find, Host], None]] = {
    "message": _message, "tool": _tool, "turn": _turn, "start": _start, "compact": _compact, "end": _end,
    "subagent": _subagent,
}  # fmt: skip


def _open(settings: Settings, host: Host) -> Limpet:
    if host.memory is not None:
        there = settings.checkout
        return host.memory.in_scope(settings.scope) if there is None else host.memory.in_folder(there.folder)
    from ...api import Limpet

    return Limpet(settings, create=False, clock=host.clock)


def _transcript(call: Call) -> str:
    """Where the client keeps this session; Copilot CLI says so only at other events."""
    path = call.transcript
    if not path and call.client == "copilot":
        root = os.environ.get("COPILOT_HOME") or os.path.expanduser("~/.copilot")  # noqa: PTH111
        path = os.path.join(root, "session-state", os.path.basename(call.session), "events.jsonl")  # noqa: PTH118, PTH119
    return path if os.path.isabs(path) and os.path.isfile(path) else ""  # noqa: PTH113, PTH117


def _note(call: Call, settings: Settings, host: Host, kind: str, line: str) -> None:
    from ...journal import note_action

    note_action(settings, session=_session(call), at=_now(host), kind=kind, what=line)


def _expose(
    call: Call, settings: Settings, host: Host, offer: Offer, say: Say, asked: str = "", to_user: str = ""
) -> None:
    """Say what of an offer was not shown to this session, and keep its exposures with the line that it answers."""
    if call.role not in CLIENT_ADAPTERS[call.client].answers:
        return
    from ...journal import expose

    expose(
        settings, offer, lambda block: say(shape(call, block.text, to_user)), session=_session(call),
        client=call.client, at=_now(host), via=call.role, asked=asked, once=bool(call.session),
    )  # fmt: skip


def _say_missing(call: Call, settings: Settings, say: Say) -> None:
    from .notices import missing

    say(missing(call, settings.path))


def _note_compaction(call: Call, settings: Settings) -> None:
    if call.session:
        from ...journal import note_compaction

        note_compaction(settings, _session(call))


def _now(host: Host) -> int:
    return host.clock.now() if host.clock else time.time_ns() // 1000


def _session(call: Call) -> str:
    return call.session or call.client


def _closing(said: str) -> str:
    from ...text.secrets import redact
    from ...text.turns import closing

    # Redacted before anything is left out: half a secret is none that can be recognised.
    return plain_line(closing(redact(said[:20_000])[0], SAID_CHARACTERS), SAID_CHARACTERS)


def _line(text: str, limit: int) -> str:
    from ...text.secrets import redact

    return plain_line(redact(text[:20_000])[0], limit)
