"""Conversations into memories: find files, skip the unchanged, extract, leave out what is injected or known, store.

What is taken has an id that follows from the scope, the conversation, the turn and the words, and the event that
stores or observes it has that id: so the ledger itself says what was taken, a run that was killed is completed by the
next one, and organizing twice is organizing once. What is noted of files only saves reading them again. How a new
memory stands to older ones is read once both are stored (`limpet.relate`), for these as for all others.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checkout import checkout_of
from ...model.dataclass import dataclass, field, replace
from ...model.encode import OPTIONAL, rows
from ...model.errors import BadInput, LimpetError
from ...model.ids import format_id
from ...model.memory import TRUST, Filter
from ...pause import look, read_pauses
from ...remember.decide import state
from ...remember.restate import restate
from ...remember.validation import ValidStatement, validate
from ...remember.write import Writer
from ...store.records import Candidate as Stored
from ...text.lexicon import NEGATORS, content
from ...text.normalise import normalise
from ..mirror import mirrors_of, sync_folder
from ..transfer.records import TransferReport, imported_id
from . import Source, Sources, files
from .extract import extract
from .reading import Reading
from .topics import subject_of, topics_of
from .transcripts import FEWEST_WORDS, Candidate, Conversation

if TYPE_CHECKING:
    from ...api import Progress
    from ...context import Context

NEAREST = 12  # memories that are looked at beside a statement
REPEATED_SHARE = 0.75  # of a statement's words, which stand in a line that it repeats
# Of so few words that hold a secret nothing is left to remember: "The database password is [redacted:password]".
SECRET_WORDS = 9


@dataclass(slots=True, kw_only=True)
class OrganizeReport(TransferReport):
    """The report of organizing. `new`, `known` and so on count statements; an earlier run stored the known ones."""

    SHOWN = (
        "files", "unchanged", "conversations", "new", "observed", "known", "quarantined", "redacted", "echoes",
        "mirrors", "rules", "demoted", "rejected", "more_rejected", "notes", "taken", "model",
    )  # fmt: skip

    files: int = 0
    unchanged: int = 0  # files that were read before, to the same content
    conversations: int = 0
    observed: int = 0  # said before in other conversations, or stored otherwise
    echoes: int = 0  # an agent's words that limpet had put into the conversation
    mirrors: list[str] = field(default_factory=list)  # folders that were synced afterwards
    # (place, why): new ones kept as episodes by a rule
    demoted: list[tuple[str, str]] = field(default_factory=list, metadata=rows("place", "reason"))
    rules: Counter[str] = field(default_factory=Counter)  # which rule took how many of the new ones
    taken: list[dict[str, Any]] = field(default_factory=list, metadata={"name": "memories"})  # the new ones
    scopes: set[str] = field(default_factory=set)  # where something was stored or observed: an undo is of one of them
    model: dict[str, Any] | None = field(default=None, metadata=OPTIONAL)  # what a language model did, and what it cost


def organize(
    context: Context, paths: Sequence[str | os.PathLike[str]], clients: Sequence[str], *, by_folder: bool,
    dry_run: bool, models: Sequence[str], budget_tokens: int, progress: Progress | None,
) -> OrganizeReport:  # fmt: skip
    """Organize; see `limpet.features.organize.run`."""
    report = OrganizeReport()
    paused = look(context.store.path, os.getcwd(), "", context.now())  # noqa: PTH109
    if paused.why:
        report.note(f"{paused.why}: nothing was read")
        return report
    report.progress = progress
    reading = Reading(models, budget_tokens, dry_run=dry_run) if models else None
    to_read: list[_File] = []
    sources = Sources(context.store)
    try:
        with context.one_operation() as operation:
            if paths or clients:
                given = [Path(os.fspath(path)) for path in paths]
                to_read += [_File(path, context.scope, by_folder, path in given) for path in files.find(given, report)]
                kept = files.of_clients(clients)
                to_read += [_File(path, None if by_folder else context.scope, by_folder, False) for path in kept]
            else:
                # What hooks named, each into the scope of its hook; of every scope when none was asked for.
                for source in sources.waiting(None if by_folder else context.scope):
                    if Path(source.path).is_file():
                        to_read.append(_File(Path(source.path), source.scope, False, True))
                        continue
                    report.note("transcripts that hooks named are not there any more")
                    if not dry_run:
                        sources.keep(source._replace(digest=source.digest or "gone"))
            _Run(context, report, reading, dry_run).read_files(to_read)
        report.operation = format_id(operation[0]) if operation else None
    finally:
        if reading is not None:
            report.model = reading.as_dict()
            reading.close()
    report.progress = None
    for scope in () if dry_run else sorted({context.scope, *(memory["scope"] for memory in report.taken)}):
        of_scope = context.in_scope(scope)
        for folder in mirrors_of(of_scope):
            try:
                sync_folder(of_scope, folder)
                report.mirrors.append(folder)
            except LimpetError as error:
                report.note(f"the mirror {folder} was not synced: {error.message}")
    return report


class _File(NamedTuple):
    """A file to read."""

    path: Path
    scope: str | None  # of what names no folder that is there; None: that is left out
    by_folder: bool  # each conversation goes into the scope of its folder
    is_named: bool  # it is reported when it is no transcript


class _Statement(NamedTuple):
    """A candidate on its way into the store."""

    candidate: Candidate
    valid: ValidStatement
    place: str
    id: bytes


class _Run:
    """One run over some files."""

    def __init__(self, context: Context, report: OrganizeReport, reading: Reading | None, dry_run: bool) -> None:
        self._context, self._report, self._reading = context, report, reading
        self._dry_run = dry_run
        self._pauses = read_pauses(context.store.path)
        self._topics: dict[str, list[str]] = {}

    def read_files(self, files: Sequence[_File]) -> None:
        """Organize files, one after the other."""
        for number, file in enumerate(files):
            self._report.at(number, len(files))
            try:
                self._file(file)
            except RecursionError:
                self._report.bad(str(file.path), "nested too deeply to be read")
            except OSError as error:
                self._report.bad(str(file.path), f"cannot be read: {error.strerror or error}")
        self._report.at(len(files), len(files))

    def _file(self, file: _File) -> None:
        """Organize what is in a file, unless it was read before."""
        report, sources = self._report, Sources(self._context.store)
        key = (file.scope or self._context.scope, str(file.path.absolute()))
        before = sources.get(*key)
        mark = f"{'f' if file.by_folder else ''}-{files.digest_of(file.path)}"
        # How far a language model has read each conversation; "all": to the end of this content.
        reached: dict[str, str] = json.loads(before.reached) if before and before.reached else {}
        if before and before.digest == mark and (self._reading is None or reached.get("all") == mark):
            report.files += 1
            report.unchanged += 1
            if not self._dry_run:
                sources.keep(before._replace(at=self._context.now()))
            return

        def keep(digest: str | None) -> None:
            text = json.dumps(reached, sort_keys=True) if reached else None
            sources.keep(Source(*key, digest, text, self._context.now()))

        of_file = TransferReport()
        is_complete = self._reading is not None
        try:
            for chat in files.read(file.path, of_file, self._pauses):
                scope, folder = file.scope, chat.folder
                if file.by_folder and folder and os.path.isabs(folder) and os.path.isdir(folder):  # noqa: PTH112, PTH117
                    scope = self._context.store.checkouts.scopes_of(checkout_of(folder))[0]
                if scope is None:
                    report.note("conversations of folders that are gone were left out; give --scope to take them")
                    continue
                report.conversations += 1
                candidates = extract(chat.turns, notes=chat.client == "notes")
                self._take(chat, scope, candidates)
                if self._reading is None:
                    continue
                name = f"{chat.client}/{chat.id}"
                known = {candidate.turn.id for candidate in candidates if not candidate.if_corrects}
                for through, more in self._reading.read(chat, reached.get(name), known, report):
                    self._take(chat, scope, more)
                    reached[name] = through
                    # What was paid for is not paid again, whatever happens next.
                    keep(before.digest if before else None)
                is_complete &= self._reading.complete
        except BadInput as error:
            if not file.is_named and error.message.endswith("that is known"):
                report.note("files that are neither transcripts nor notes were left out")
                return
            of_file.bad(file.path.name, error.message)
        report.files += 1
        report.rejected += [(f"{file.path.name}, {place}", reason) for place, reason in of_file.rejected]
        report.more_rejected += of_file.more_rejected
        report.notes += of_file.notes
        if self._dry_run:
            return
        if is_complete:
            reached["all"] = mark
        keep(mark)

    def _take(self, chat: Conversation, scope: str, candidates: Sequence[Candidate]) -> None:
        """Store the candidates of a conversation."""
        subject = subject_of(chat.turns, chat.folder)
        place_of = {turn.id: place for place, turn in enumerate(chat.turns)}
        statements: dict[bytes, _Statement] = {}
        sure = [each for each in candidates if not each.if_corrects]
        counts: dict[tuple[str, ...], int] = {}
        for each in candidates:
            trust, words = TRUST[each.origin], content(each.content)
            others = [other for other in sure if other is not each and TRUST[other.origin] >= trust]
            if counts.get(words, -1) >= trust or any(is_part_of(each.content, other.content) for other in others):
                continue  # another one says it, or it and more
            counts[words] = trust
            if each.origin == "agent" and self._is_repeated(each.content, chat.injected_lines):
                self._report.echoes += 1
                continue
            if self._is_repeated(each.content, [text for at, text in chat.remembered if at > place_of[each.turn.id]]):
                self._report.known += 1
                continue
            place = f"{Path(chat.path).name}, {each.turn.place}"
            try:
                statement = self._statement(each, chat, scope, subject, place)
            except LimpetError as error:
                self._report.bad(place, error.message)
                continue
            if each.if_corrects:
                near = [other.valid.content for other in statements.values()]
                near += [other.content for other in self._near(statement.valid, scope)]
                if all(set(words).isdisjoint(content(text)) for text in near):
                    continue
            if statement.valid.secrets and len(statement.valid.content.split()) < SECRET_WORDS:
                self._report.redacted += 1
                self._report.note("statements of which a secret was all they said were left out")
                continue
            statements.setdefault(statement.id, statement)
        self._store(list(statements.values()), scope)

    def _statement(self, new: Candidate, chat: Conversation, scope: str, subject: str | None, place: str) -> _Statement:
        """Return a candidate with its evidence and topics. Raises LimpetError."""
        if scope not in self._topics:  # the most used first
            from ...recall.lookup import count_by

            here = self._context.in_scope(scope)
            self._topics[scope] = [topic for (topic,) in count_by(here, here.filter(), ("topic",), all_states=False)]
        turn, now, is_note = new.turn, self._context.now(), chat.client == "notes"
        # The id follows from scope, conversation, turn and words. A lesson of work is the same one although an
        # explanation came later.
        words = new.rule if new.rule == "retry" else normalise(new.content)
        identity = (scope, chat.client, chat.path if is_note else chat.id, "" if is_note else turn.id, words)
        id = imported_id("transcripts", "\0".join(identity))
        kind, _, name = turn.place.partition(" ")
        valid = validate(
            {
                "content": new.content,
                "kind": new.kind,
                "origin": "import" if is_note else new.origin,
                "source": f"{chat.path[-1_800:]}:{name}" if kind == "line" else f"{chat.path[-1_800:]}#{name}",
                "session": None if is_note else chat.id,
                "valid_from": None if turn.at is None else min(turn.at, now),
                "importance": new.importance,
                "topics": topics_of(new.content, self._topics[scope], subject),
                "metadata": {
                    "organized": chat.client,
                    "rule": new.rule,
                    **({"evidence": [more.place for more in new.more[:5]]} if new.more else {}),
                },
                "id": format_id(id),
            },
            scope=scope,
            now=now,
        )
        return _Statement(new, valid, place, id)

    def _near(self, valid: ValidStatement, scope: str) -> list[Stored]:
        """Return memories of people and agents in the scope that share words with a statement, the nearest first."""
        search, where = self._context.store.search, Filter(scopes=(scope,), as_of=self._context.now())
        text_ids = list(search.lexical(valid.content, where, limit=NEAREST).hits)
        near = sorted(search.candidates(text_ids, where), key=lambda row: text_ids.index(row.text_id))
        return [row for row in near if not row.key and row.kind != "episode" and row.trust in ("user", "agent")]

    def _is_repeated(self, text: str, lines: Sequence[str]) -> bool:
        """Return whether some line repeats most of a text, with the same numbers and negations."""
        stems = self._context.store.search.stems([text, *lines])

        def sure(text: str) -> set[str]:
            return {word for word in content(text) if any(map(str.isdigit, word)) or word in NEGATORS}

        return any(
            len(stems[text] & stems[line]) >= REPEATED_SHARE * len(stems[text]) > 0 and sure(text) == sure(line)
            for line in lines
        )

    def _store(self, statements: Sequence[_Statement], scope: str) -> None:
        """Store statements in one transaction, and add what became of them to the report."""
        context, report = self._context, self._report
        taken = {event.id for event in context.store.ledger.events(ids=[statement.id for statement in statements])}
        report.known += len(taken)
        fresh = [statement for statement in statements if statement.id not in taken]
        if not fresh:
            return
        if context.policy is not None:
            judged = context.policy.judged([new.valid for new in fresh])
            fresh = [new._replace(valid=valid) for new, valid in zip(fresh, judged, strict=True)]
        twins = {new.id: self._twin(new, scope) for new in fresh}

        def decide(writer: Writer) -> list[tuple[str, str | None]]:
            again = {event.id for event in writer.reads.ledger.events(ids=[new.id for new in fresh])}
            return [("known", None) if new.id in again else _write(writer, new, twins[new.id]) for new in fresh]

        if self._dry_run:
            outcomes = decide(Writer(context.store, lambda: bytes(16), context.now()))
        else:
            outcomes = context.write(decide)
        for (candidate, valid, place, _), (status, id) in zip(fresh, outcomes, strict=True):
            if status != "known":
                report.scopes.add(valid.scope)
            if status not in ("created", "quarantined"):
                report.observed += status == "observed"
                report.known += status != "observed"
                continue
            report.new += 1
            report.rules[candidate.rule] += 1
            report.quarantined += status == "quarantined"
            report.redacted += bool(valid.secrets)
            if valid.demoted:
                report.demoted.append((place, f"{valid.demoted['rule']}: {valid.content[:120]}"))
            report.taken.append(
                {"id": id, "kind": valid.kind, "content": valid.content, "scope": valid.scope, "origin": valid.origin,
                 "source": valid.source, "rule": candidate.rule}
            )  # fmt: skip

    def _twin(self, new: _Statement, scope: str) -> Stored | None:
        """Return a memory that says the same as a statement, or more, in other words.

        What an agent noted of its user's words is confirmed by them; a page or a tool is not.
        """
        for other in self._near(new.valid, scope):
            if other.kind == new.valid.kind and normalise(other.content) == normalise(new.valid.content):
                continue  # the same words are found by the write itself
            if TRUST[other.trust] < TRUST[new.valid.origin] and other.trust != "agent":
                continue
            if content(other.content) == content(new.valid.content) or is_part_of(new.valid.content, other.content):
                return other
        return None


def _write(writer: Writer, statement: _Statement, twin: Stored | None) -> tuple[str, str | None]:
    """Store a statement, or that a memory which says the same was stated again; (status, id)."""
    valid = statement.valid
    # What a memory that is there learns: who said so and where, not how it is weighed and filed.
    heard = replace(valid, metadata={}, importance=None, topics=())
    if twin is None:
        receipt = state(writer, valid, unused=statement.id, again=heard)
    elif content(twin.content) == content(valid.content) and TRUST[twin.trust] <= TRUST[valid.origin]:
        there = writer.as_it_is(twin.id)
        assert there is not None, "a memory that was read stays at least as a tombstone"
        receipt = restate(writer, there, heard, unused=statement.id)
    else:  # what else a longer text says, or a more trusted one, is not what is confirmed
        return "observed", None
    return receipt.status, receipt.id


def is_part_of(short: str, long: str) -> bool:
    """Return whether a longer text holds the words of a shorter one in a row."""
    mine, theirs = (" ".join(re.findall(r"\w+", normalise(text))) for text in (short, long))
    return len(mine) < len(theirs) and f" {mine} " in f" {theirs} " and len(mine.split()) >= FEWEST_WORDS
