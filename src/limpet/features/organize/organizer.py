"""Conversations into memories: scan, skip the unchanged, extract, leave out what is injected or known, write, propose.

What is taken has an id that follows from the scope, the conversation, the turn and the words, and the event that
stores or observes it has that id: so the ledger itself says what was taken, a run that was killed is completed by the
next one, and organizing twice is organizing once. What is noted of files only saves reading them again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.dataclass import dataclass, replace
from ...model.errors import BadInput, LimpetError
from ...model.ids import format_id
from ...model.memory import KINDS, TRUST
from ...pause import read_pauses
from ...remember.decide import observe, state
from ...remember.validation import ValidStatement, validate
from ...remember.write import Writer
from ...store.records import Filter, Proposal, Source
from ...text.normalise import normalise
from ..transfer.records import TransferReport, imported_id
from . import scan
from .conflicts import Near, conflict, is_part_of, repeats_injected, same_statement, says_already
from .corrections import corrected, correction
from .limits import limited, may_read
from .report import OrganizeReport
from .rules import Found
from .summaries import summarize
from .topics import subject_of, topics_of
from .turns import Conversation
from .work import extract

if TYPE_CHECKING:
    from ...context import Context
    from .reading import Reading

# The version of what reads: files that an older one has read are read again. Not raised for the models of ADR 33, which
# may cut sentences otherwise: what was purged would come back under another id.
RULES = "2"
# Statements in one transaction.
BATCH = 200
NEAREST = 12
FORMAT = "transcripts"
# "The database password is [redacted:password]": nothing is left to remember, unless so many words of other clauses
# stand before it: "We dropped Python 3.10, my password is [redacted:password]".
ELSE_WORDS = 4
_CLAUSE = re.compile(r"[.!?;,:][\"')*]*\s+|\s+(?:[-\u2013\u2014]+|and|und)\s+")
_TOLD_A_SECRET = re.compile(
    r"(?:\b(?:is|are|was|be|ist|sind|lautet|lauten|heißt)|[:=])\s*[\"'`]?\[redacted:[a-z-]+\][\"'`.! ]*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One that is on its way into the store."""

    found: Found
    valid: ValidStatement
    place: str
    # Its id, were it of another kind: an earlier version, or a model that was trained anew, may have named it so.
    otherwise: tuple[bytes, ...]

    @property
    def id(self) -> bytes:
        assert self.valid.id is not None
        return self.valid.id


class Organizer:
    """One run. `scope_of`: whose a folder is (None: nobody's)."""

    def __init__(
        self,
        context: Context,
        *,
        scope: str,
        scope_of: Callable[[str], str | None] | None,
        dry_run: bool,
        summaries: bool,
        reading: Reading | None,
        report: OrganizeReport,
    ) -> None:
        self._context = context
        self._scope = scope
        self._scope_of = scope_of
        self._dry_run = dry_run
        self._summaries = summaries
        self._reading = reading
        self._report = report
        self._pauses = read_pauses(context.store.path)
        self._topics: dict[str, list[str]] = {}

    def run(self, files: Sequence[Path], *, strict: bool = True) -> None:
        """Organize some files, one after the other. `strict`: what is no transcript is reported."""
        for number, path in enumerate(files, 1):
            self._report.at(number - 1, len(files))
            if not may_read(path, self._pauses):
                self._report.note("files whose path is ignored were left out")
                continue
            try:
                self._file(path, strict)
            except RecursionError:
                self._report.bad(str(path), "nested too deeply to be read")
            except OSError as error:
                self._report.bad(str(path), f"cannot be read: {error.strerror or error}")
            self._report.at(number, len(files))

    def _file(self, path: Path, strict: bool) -> None:
        key = str(path.absolute())
        before = self._context.store.sources.get(self._scope, key)
        mark = f"{RULES}{'' if self._scope_of is None else 'f'}-{scan.digest_of(path)}"
        reached: dict[str, str] = json.loads(before.reached) if before and before.reached else {}
        model = self._reading is not None
        if before and before.digest == mark and (not model or ("all" in reached and reached["all"] == mark)):
            self._report.files += 1
            self._report.unchanged += 1
            if not self._dry_run:
                self._context.store.sources.keep(before._replace(at=self._context.now()))
            return
        of_file = TransferReport()
        days: dict[str, set[int]] = {}
        complete = True
        try:
            for conversation in scan.read(path, of_file):
                if not limited(conversation, self._pauses):
                    self._report.note("conversations that are incognito, or of folders that are off, were left out")
                    continue
                scope = self._scope if self._scope_of is None else self._scope_of(conversation.folder)
                if scope is None:
                    self._report.note("conversations of folders that are gone were left out; give --scope to take them")
                    continue
                self._report.conversations += 1
                found = extract(conversation.turns, notes=conversation.client == "notes", changes=True)
                self._take(conversation, scope, found, days)
                if self._reading is not None:
                    self._reading.known = {one.turn.id for one in found if not one.if_corrects}
                    complete &= self._read(conversation, scope, reached, days, key, before)
        except BadInput as error:
            if strict or not error.message.endswith("that is known"):
                of_file.bad(path.name, error.message)
            else:
                self._report.note("files that are neither transcripts nor notes were left out")
                return
        self._report.files += 1
        self._report.rejected += [(f"{path.name}, {place}", reason) for place, reason in of_file.rejected]
        self._report.more_rejected += of_file.more_rejected
        self._report.notes += of_file.notes
        for scope in sorted(days) if self._summaries and not self._dry_run else []:
            self._report.summaries += summarize(self._context, scope, days[scope])
        if not self._dry_run:
            if model and complete:
                reached["all"] = mark
            self._keep(key, mark, reached)

    def _keep(self, key: str, mark: str | None, reached: dict[str, str]) -> None:
        text = json.dumps(reached, sort_keys=True) if reached else None
        self._context.store.sources.keep(Source(self._scope, key, mark, text, self._context.now()))

    def _take(self, one: Conversation, scope: str, found: Iterable[Found], days: dict[str, set[int]]) -> None:
        statements: list[Statement] = []
        ids: set[bytes] = set()
        subject = subject_of(one.turns, one.folder)
        order = {turn.id: place for place, turn in enumerate(one.turns)}
        for each in _whole(found):
            if each.turn.role == "agent" and repeats_injected(each.content, one.injected_lines):
                self._report.echoes += 1
                continue
            if any(at > order.get(each.turn.id, 0) and says_already(told, each.content) for at, told in one.remembered):
                self._report.known += 1
                continue
            place = f"{Path(one.path).name}, {each.turn.place}"
            try:
                ids_by_kind = {kind: id_of(each, one, scope, kind) for kind in KINDS}
                valid = self._validated(each, one, scope, subject, ids_by_kind[each.kind])
                others = tuple(id for kind, id in ids_by_kind.items() if kind != each.kind)
                statement = Statement(found=each, valid=valid, place=place, otherwise=others)
            except LimpetError as error:
                self._report.bad(place, error.message)
                continue
            if each.if_corrects:
                near = [*map(_as_near, statements), *self._near(statement, scope)]
                if corrected(statement.valid.content, near) is None:
                    continue
            if _says_a_secret_alone(statement.valid.content):
                self._report.redacted += 1
                self._report.note("statements of which a secret was all they said were left out")
                continue
            if statement.id not in ids:
                ids.add(statement.id)
                statements.append(statement)
        for begin in range(0, len(statements), BATCH):
            self._store(statements[begin : begin + BATCH], scope)
        for statement in statements:
            at = statement.valid.valid_from
            if at is not None:
                days.setdefault(scope, set()).add(at)

    def _validated(self, each: Found, one: Conversation, scope: str, subject: str | None, id: bytes) -> ValidStatement:
        now = self._context.now()
        turn = each.turn
        notes = one.client == "notes"
        return validate(
            {
                "content": each.content,
                "kind": each.kind,
                "origin": "import" if notes else each.origin,
                "source": source_of(one.path, turn.place),
                "session": None if notes else one.id,
                "valid_from": None if turn.at is None else min(turn.at, now),
                "importance": each.importance,
                "topics": topics_of(each, self._topics_of(scope), subject),
                "metadata": {
                    "organized": one.client,
                    "rule": each.rule,
                    **({"evidence": [more.place for more in each.more[:5]]} if each.more else {}),
                },
                "id": format_id(id),
            },
            scope=scope,
            now=now,
        )

    def _topics_of(self, scope: str) -> list[str]:
        """The topics that a scope has, the most used first."""
        if scope not in self._topics:
            from ...history.queries import History

            of_scope = self._context.in_scope(scope)
            self._topics[scope] = [one.topic for one in History(of_scope).topics(limit=200)]
        return self._topics[scope]

    # -- into the store

    def _store(self, part: Sequence[Statement], scope: str) -> None:
        every = [id for one in part for id in (one.id, *one.otherwise)]
        there = {event.id for event in self._context.store.ledger.events(ids=every)}
        fresh = [one for one in part if there.isdisjoint((one.id, *one.otherwise))]
        # In their own words people may say of themselves what nobody may guess about them.
        judged = self._context.policy.judged(
            [one.valid for one in fresh], [one.found.said or one.valid.content for one in fresh]
        )
        allowed = [replace(one, valid=valid) for one, valid in zip(fresh, judged, strict=True)]
        twins = self._twins(allowed, {one.id: self._near(one, scope) for one in allowed})
        outcomes: dict[bytes, tuple[str, str | None]] = {}

        def decide(writer: Writer) -> None:
            outcomes.clear()
            taken = {event.id for event in writer.reads.ledger.events(ids=[one.id for one in allowed])}
            for one in allowed:
                if one.id in taken:
                    outcomes[one.id] = ("known", None)
                    continue
                twin = twins.get(one.id)
                if twin is not None:
                    if twin.stronger:
                        outcomes[one.id] = ("observed", None)
                    else:
                        receipt = observe(writer, twin.id, _heard(one.valid), unused=one.id)
                        outcomes[one.id] = (receipt.status, receipt.id)
                    continue
                receipt = state(writer, one.valid, unused=one.id, again=_heard(one.valid))
                outcomes[one.id] = (receipt.status, receipt.id)

        if allowed:
            if self._dry_run:
                decide(Writer(self._context.store, lambda: bytes(16), self._context.now()))
            else:
                self._context.write(decide)
        self._report.known += len(part) - len(fresh)
        self._count(allowed, outcomes)
        if not self._dry_run:
            # Also about what an earlier run stored: it may have been killed before it came to this.
            self._propose(part, scope)

    def _count(self, allowed: Sequence[Statement], outcomes: dict[bytes, tuple[str, str | None]]) -> None:
        report = self._report
        for one in allowed:
            status, id = outcomes[one.id]
            if status != "known":
                report.scopes.add(one.valid.scope)
            if status in ("created", "quarantined"):
                report.new += 1
                report.rules[one.found.rule] += 1
                report.quarantined += status == "quarantined"
                report.redacted += bool(one.valid.secrets)
                if why := one.valid.demoted:
                    report.demoted.append((one.place, f"{why['rule']}: {one.valid.content[:120]}"))
                report.taken.append(
                    {"id": id, "kind": one.valid.kind, "content": one.valid.content, "scope": one.valid.scope}
                    | {"origin": one.valid.origin, "source": one.valid.source, "rule": one.found.rule}
                )
            elif status == "observed":
                report.observed += 1
            else:
                report.known += 1

    def _near(self, one: Statement, scope: str) -> list[Near]:
        """Memories of the scope that share words with a statement, the nearest first."""
        where = Filter(scopes=(scope,), as_of=self._context.now())
        # What it says is wrong is asked for apart: common words are passed over when rarer ones find enough.
        texts = [one.valid.content] + ([one.found.replaces] if one.found.replaces else [])
        hits = [hit for text in texts for hit in self._context.store.search.lexical(text, where, limit=NEAREST).hits]
        text_ids = list(dict.fromkeys(hit.text_id for hit in hits))
        found = {each.text_id: each for each in self._context.store.search.candidates(text_ids, where)}
        chosen = [found[text_id] for text_id in text_ids if text_id in found]
        return [
            Near(id=each.id, kind=each.kind, content=each.content, trust=each.trust, stronger=False)
            for each in chosen
            if each.key is None and each.id != one.id and each.kind != "episode"
        ]

    def _twins(self, fresh: Sequence[Statement], near: dict[bytes, list[Near]]) -> dict[bytes, Near]:
        """Statements that say what a memory, or an earlier one of them, says already."""
        found: dict[bytes, Near] = {}
        before: list[Near] = []
        for one in fresh:
            mine = TRUST[one.valid.origin]
            for other in (*near[one.id], *before):
                if other.kind == one.valid.kind and normalise(other.content) == normalise(one.valid.content):
                    continue  # the same words are found by the write itself
                theirs = TRUST.get(other.trust, 0)
                # What an agent noted of its user's words is confirmed by them; a page or a tool is not.
                if theirs < mine and other.trust != "agent":
                    continue
                same = same_statement(other.content, one.valid.content)
                if not same and not is_part_of(one.valid.content, other.content):
                    continue
                # What else a longer text says is not what is confirmed.
                found[one.id] = replace(found.get(other.id, other), stronger=theirs > mine or not same)
                break
            else:
                before.append(_as_near(one))
        return found

    def _propose(self, stated: Sequence[Statement], scope: str) -> None:
        """Pairs that cannot both hold go to the review list; that a pair is there already is no error."""
        now = self._context.now()
        proposals = []
        for one in stated:
            memory = self._context.store.memories.get(one.id)
            if memory is None or memory.state != "active":
                continue
            near = self._near(one, scope)
            # The ledger's order: a run takes less time than clocks tell apart.
            order = {
                event.id: event.seq
                for event in self._context.store.ledger.events(ids=[one.id, *(other.id for other in near)])
            }
            for other in near:
                old = self._context.store.memories.get(other.id)
                if old is None or old.created_at > memory.created_at or order.get(other.id, 0) > order[one.id]:
                    continue
                clash = conflict(other.content, one.valid.content, one.found.replaces)
                if clash is None and one.found.if_corrects:
                    clash = correction(one.valid.content, near, other)
                if clash is not None:
                    proposals.append(
                        Proposal(
                            id=self._context.new_id(),
                            kind=clash.kind,
                            scope=memory.scope,
                            memory=one.id,
                            other=other.id,
                            reason=clash.reason,
                            score=0.0,
                            created_at=now,
                        )
                    )
        if proposals:
            self._report.proposals += self._context.store.reviews.propose(proposals)

    # -- with a language model

    def _read(
        self,
        one: Conversation,
        scope: str,
        reached: dict[str, str],
        days: dict[str, set[int]],
        key: str,
        before: Source | None,
    ) -> bool:
        """Let the model read what it has not read of a conversation. Whether it came to the end."""
        assert self._reading is not None
        name = f"{one.client}/{one.id}"
        for through, found in self._reading.read(one, reached.get(name), self._report):
            self._take(one, scope, found, days)
            reached[name] = through
            # What was paid for is not paid again, whatever happens next.
            self._keep(key, before.digest if before else None, reached)
        return self._reading.complete


def id_of(each: Found, one: Conversation, scope: str, kind: str) -> bytes:
    """It follows from scope, conversation, turn, kind and words."""
    turn = each.turn
    # A lesson of work is the same one although an explanation came later; words are the same if they are.
    is_work = each.rule in ("retry", "command") and turn.role == "tool"
    words = each.rule if is_work else normalise(each.said or each.content)
    if is_work and each.rule == "command":
        words += normalise(each.content)
    notes = one.client == "notes"
    identity = (scope, one.client, one.path if notes else one.id, "" if notes else turn.id, kind, words)
    return imported_id(FORMAT, "\0".join(identity))


def _says_a_secret_alone(content: str) -> bool:
    told = _TOLD_A_SECRET.search(content)
    if told is None:
        return False
    *before, _ = _CLAUSE.split(content[: told.start()])
    return len(" ".join(before).split()) < ELSE_WORDS


def _heard(statement: ValidStatement) -> ValidStatement:
    """What a memory that is there already learns from it: who said so and where, not how rules weigh and file it."""
    return replace(statement, metadata={}, importance=None, topics=())


def _as_near(one: Statement) -> Near:
    return Near(id=one.id, kind=one.valid.kind, content=one.valid.content, trust=one.valid.origin, stronger=False)


def _whole(found: Iterable[Found]) -> list[Found]:
    """Without what another statement of the conversation says in the same words and more."""
    each = list(found)
    return [
        one
        for one in each
        if not any(
            other is not one
            and not other.if_corrects
            and TRUST[other.origin] >= TRUST[one.origin]
            and is_part_of(one.content, other.content)
            for other in each
        )
    ]


def source_of(path: str, place: str) -> str:
    """A pointer to the evidence: path:line, or path#part of a database."""
    kind, _, name = place.partition(" ")
    return f"{path[-1_800:]}:{name}" if kind == "line" else f"{path[-1_800:]}#{name}"
