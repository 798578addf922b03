"""Histories into memories: each turn an episode of its session, once however many copies there are.

A memory's id follows from the turn. Where a client keeps the time of each message in every copy of a conversation
(resumed, forked, compacted), that is who, when and what; elsewhere the conversation it began in and all that was said
up to it. So reading twice is reading once, and a run that was killed is completed by the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.dataclass import dataclass
from ...model.errors import BadInput, LimpetError
from ...model.ids import format_id, session_mark
from ...model.memory import GLOBAL_SCOPE
from ...pause import ignored_in, is_ignored, look, read_pauses
from ...remember.decide import state
from ...remember.validation import ValidStatement, validate
from ...remember.write import Writer
from ..organize import Source, Sources, files
from ..organize.clients import CLIENTS
from ..organize.lessons import command_text, program
from ..organize.transcripts import Conversation, Turn
from ..transfer.importer import Importer, hold_again
from ..transfer.records import TransferReport, imported_id
from ..transfer.service import records
from . import NAME, NOTED, consent
from .found import GONE, MEMORY_SUFFIX, RULES_NAME, KeptHistory, find, history_of, is_read, scope_of

if TYPE_CHECKING:
    from ...api import Progress
    from ...context import Context

# Turns that are read and stored at once: what is held of a transcript, however long.
PART = 500
# Characters of what nobody here said: a tool's output, something pasted. Its end says how it ended.
MOST_OF_OTHERS = 2_000
# Bad places of a file that are listed.
MOST_LISTED = 100
SPEAKERS = {"user": "user", "agent": "assistant", "tool": "tool", "pasted": "pasted"}


@dataclass(slots=True, kw_only=True)
class StartReport(TransferReport):
    """The report of a reading. `new`, `known` and so on count turns, and statements of rules and notes."""

    SHOWN = (
        "files", "conversations", "new", "changed", "known", "redacted", "rejected", "more_rejected", "notes",
        "operation",
    )  # fmt: skip

    files: int = 0
    conversations: int = 0


def read(
    context: Context, only: Sequence[str], since: int | None, *, by_folder: bool, progress: Progress | None
) -> StartReport:
    """Read what is found; see `limpet.features.starting.run`."""
    report, before = StartReport(), consent(context)
    if why := look(context.store.path, "", "", context.now()).why:
        report.note(f"{why}: nothing was read")
        return report
    found = find(context, only, since, by_folder=by_folder)
    report.notes += found.left_out
    with context.one_operation() as operation:
        if before is not None and before.digest and before.reached:  # it was killed
            operation.append(bytes.fromhex(before.digest))
        elif found.histories:
            context.write(_begin)
        else:
            return report
        note = Source(NOTED, "", operation[0].hex(), "reading", context.now())
        Sources(context.store).keep(note)
        run = _Run(context, report, operation, since, scope=None if by_folder else context.scope)
        try:
            for number, history in enumerate(found.histories):
                if progress:
                    progress(number, len(found.histories))
                run.read(history)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{report.new:,} are stored; the same command goes on from there") from None
        Sources(context.store).keep(note._replace(reached=None))
    report.operation = format_id(operation[0])
    return report


def _begin(writer: Writer) -> None:
    mark = session_mark(GLOBAL_SCOPE, NAME)
    writer.event("session_started", mark, origin="user", scope=GLOBAL_SCOPE, name=NAME, whole=True)


def read_waiting(context: Context) -> None:
    """Read the transcripts that hooks have named since they were read, each as an operation in the background."""
    sources = Sources(context.store)
    for source in sources.waiting() if not look(context.store.path, "", "", context.now()).why else ():
        history = history_of("", Path(source.path), "")
        if history.path.is_file() and not is_read(context, sources, history, None):
            with context.one_operation() as operation:
                _Run(context, StartReport(), operation, scope=source.scope, background=True).read(history)


class _Run:
    """A reading of some histories."""

    def __init__(
        self, context: Context, report: StartReport, operation: list[bytes], since: int | None = None, *,
        scope: str | None, background: bool = False,
    ) -> None:  # fmt: skip
        """Set up a reading. `scope`: where all of it goes; None: each conversation into that of its folder.
        `background`: nobody asked for it just now, so `undo` passes it over."""
        self._context, self._report, self._operation, self._since = context, report, operation, since
        self._scope, self._background = scope, background
        self._scope_of = cache(partial(scope_of, context))
        self._pauses = read_pauses(context.store.path)

    def read(self, history: KeptHistory) -> None:
        """Read a history and note that it was read."""
        of_file, path, first = TransferReport(), history.path, None
        try:
            if history.client == RULES_NAME or history.client.endswith(MEMORY_SUFFIX):
                first = self._import(history, of_file)
            else:
                for memory in self._conversations(path, of_file):
                    first = first or memory
        except (BadInput, RecursionError, OSError) as error:
            of_file.bad("file", getattr(error, "message", "") or f"cannot be read: {error}")
        self._report.files += 1
        self._report.rejected += [(f"{path.name}, {place}", why) for place, why in of_file.rejected[:MOST_LISTED]]
        self._report.notes += of_file.notes
        for count in ("new", "changed", "known", "redacted"):
            setattr(self._report, count, getattr(self._report, count) + getattr(of_file, count))
        reached = json.dumps({"memory": first.hex() if first else None, "since": self._since})
        noted = Source(NOTED, str(path), history.mark, reached, self._context.now())
        Sources(self._context.store).keep(noted)

    # -- conversations

    def _conversations(self, path: Path, report: TransferReport) -> Iterator[bytes]:
        """Store the turns of a file's conversations. Yields the ids that they have."""
        chat, identity, told = None, _Identity(), set[str]()
        for part in files.read(path, report, self._pauses, part=PART):
            if part is not chat:
                chat, identity, told = part, _Identity(), set()
                self._report.conversations += bool(part.turns)
            scope, statements = self._scope or self._scope_of(part.folder), dict[bytes, ValidStatement]()
            for turn, id in zip(part.turns, identity.of(part), strict=True):
                if scope and (self._since is None or (turn.at or 0) >= self._since):
                    valid = self._statement(part, turn, id, scope, told, report)
                    if valid is not None:
                        statements.setdefault(id, valid)
            if scope is None:
                report.note(f"conversations {GONE}")
            if statements:
                self._store(statements, report)
                yield from statements

    def _statement(
        self, chat: Conversation, turn: Turn, id: bytes, scope: str, told: set[str], report: TransferReport
    ) -> ValidStatement | None:  # fmt: skip
        """Return a turn as a statement; None for one that is not stored."""
        origin, text = turn.outside or turn.role, turn.text
        if turn.role == "tool" and not (text := _told(turn, told)):
            return None
        if turn.role in ("tool", "pasted") and len(text) > MOST_OF_OTHERS:
            text = f"{text[: MOST_OF_OTHERS // 2]}\n…\n{text[-MOST_OF_OTHERS // 2 :]}"
        kind, _, name = turn.place.partition(" ")
        now = self._context.now()
        try:
            valid = validate(
                {
                    "content": text, "kind": "episode", "origin": origin, "session": chat.id,
                    "speaker": SPEAKERS[turn.role], "valid_from": None if turn.at is None else min(turn.at, now),
                    "source": f"{chat.path[-1_800:]}{':' if kind == 'line' else '#'}{name}",
                    "metadata": {"client": chat.client}, "id": id,
                },
                scope=scope, now=now,
            )  # fmt: skip
        except LimpetError as error:
            report.note(f"turns that cannot be stored: {error.message.partition(' (')[0]}")
            return None
        if valid.quarantine:
            report.note("of tools, pages and what was pasted: reads like an instruction, left out")
            return None
        return valid

    def _store(self, statements: dict[bytes, ValidStatement], report: TransferReport) -> None:
        """Store turns that are not there, and those that were taken back; not in the background."""

        def store(writer: Writer) -> list[ValidStatement]:
            known, new = writer.reads.ledger.known(list(statements)), list[ValidStatement]()
            for id, valid in statements.items():
                memory = writer.reads.memories.get(id) if id in known and not self._background else None
                if id not in known:
                    state(writer, valid, fresh=True, unused=id)
                    new.append(valid)
                elif memory is not None and memory.reason == "undone":
                    hold_again(writer, id)
                    new.append(valid)
            for event in writer.events[:1] if self._background else ():
                event.data["background"] = True
            return new

        new = self._context.write(store)
        report.new += len(new)
        report.known += len(statements) - len(new)
        report.redacted += sum(bool(valid.secrets) for valid in new)

    # -- rules and notes

    def _import(self, history: KeptHistory, report: TransferReport) -> bytes | None:
        """Import a file of rules, or a client's own memories. Return the id of the first statement."""
        scope = self._scope or (self._scope_of(history.folder) if history.folder else GLOBAL_SCOPE)
        assert scope is not None, "histories of folders that are gone are not found"
        context = self._context.in_scope(scope)
        format = "markdown" if history.client == RULES_NAME else "claude-memory"
        patterns = (*self._pauses.ignore, *ignored_in(history.folder))
        given = [each for each in records(format, history.path, report) if not is_ignored(each.content, patterns)]
        with context.one_operation() as operation:
            operation.extend(self._operation)
            importer = Importer(context, format=format, report=report, trusted=True)
            importer.run(iter(given))
        return importer.id_of(given[0].id) if given else None


def _told(turn: Turn, told: set[str]) -> str:
    """Return what a command told that is worth keeping, or an empty text: how it failed; and once, if it does not only
    look around, that it worked or which errors it showed. `told`: the latter so far."""
    if turn.failed and turn.command:
        return f"`{turn.command}` failed:\n{turn.output}"
    if not turn.command or not program(turn.command):
        return ""
    text = command_text(turn.command, turn.output)
    if text in told:
        return ""
    told.add(text)
    return text


class _Identity:
    """The ids of the turns of a conversation, read part by part."""

    def __init__(self) -> None:
        self._root, self._said = "", b""

    def of(self, chat: Conversation) -> Iterator[bytes]:
        """Yield an id for each turn that is there now."""
        if not self._root:
            # A client that tells of no origin: the first exchange is one.
            first = next((at for at, turn in enumerate(chat.turns) if turn.role == "agent"), None)
            beginning = [chat.id] if first is None else [turn.text for turn in chat.turns[: first + 1]]
            self._root = chat.root or "\0".join(beginning)
        for turn in chat.turns:
            words = turn.text or f"{turn.command}\0{turn.output}"
            if CLIENTS[chat.client].dated and turn.at is not None:
                place = str(turn.at)
            else:
                place = f"{self._root}\0{self._said.hex()}"
                if turn.role in ("user", "agent"):
                    said = f"{turn.role}\0{words}".encode("utf-8", "surrogatepass")
                    self._said = sha256(self._said + said).digest()
            yield imported_id("turns", f"{chat.client}\0{place}\0{turn.role}\0{words}")
