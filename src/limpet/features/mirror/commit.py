"""Changes of the folder into the store: each task becomes events, under the policy of every other write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.clock import parse_time
from ...model.dataclass import replace
from ...model.errors import BadInput, LimpetError, NotFound
from ...model.ids import parse_id
from ...model.memory import Memory, is_below, unlike_topics
from ...remember.decide import correct, state
from ...remember.validation import ValidStatement
from ...remember.write import Writer
from ...store.records import Proposal
from ...text.normalise import fingerprint
from ..transfer import claude_memory
from ..transfer.records import TransferReport
from . import page
from .reconcile import Task, View
from .report import MirrorReport
from .state import SyncState

if TYPE_CHECKING:
    from ...context import Context

# Tasks in one transaction: few enough that other writers wait for milliseconds.
BATCH = 500
REASON = "changed in the folder and in the store since they were last alike"
_COUNTED = {"new": "created", "edit": "edited", "archive": "archived", "restore": "restored", "tag": "tagged",
            "conflict": "conflicts"}  # fmt: skip


class Prepared(NamedTuple):
    """A task with the statement that passed validation and policy, if it needs one."""

    task: Task
    origin: str
    statement: ValidStatement | None
    tags: tuple[tuple[str, ...], dict[str, Any]] | None = None


class Commit:
    """One sync's way into the store. `place`: which memory is in which file already."""

    def __init__(
        self, context: Context,
        *, root: Path, base: SyncState, views: Mapping[str, View], memories: Mapping[str, Memory],
        place: dict[str, str], report: MirrorReport, dry_run: bool,
    ) -> None:  # fmt: skip
        self._context, self._now = context, context.now()
        self._root, self._base, self._views, self._memories = root, base, views, memories
        self._place, self._report, self._dry_run = place, report, dry_run
        self.refused: set[int] = set()  # entries (by identity) that stay in the file and nowhere else

    def run(self, tasks: Sequence[Task]) -> None:
        """Tell the store everything. What it does not take stays in the file, and is in the report."""
        order = sorted(tasks, key=lambda one: one.what in ("archive", "tag"))  # what is moved is there before it goes
        for start in range(0, len(order), BATCH):
            prepared = [one for task in order[start : start + BATCH] if (one := self._prepare(task)) is not None]
            if self._dry_run:
                for one in prepared:
                    self._count(one)
            elif prepared:
                self._commit(prepared)

    # -- validation and policy

    def _prepare(self, task: Task) -> Prepared | None:
        view = self._views.get(task.file)
        author = (view.page.author() if view and view.page else None) or self._base.author
        if task.what in ("archive", "restore"):
            return Prepared(task, author, None)
        assert task.entry is not None and view is not None and view.page is not None
        try:
            given = self._given(task, view, task.entry)
            statement = self._context.validate({**given, "origin": author})
        except (LimpetError, ValueError, OverflowError) as error:
            self._refuse(task, error.message if isinstance(error, LimpetError) else f"not usable: {error}")
            return None
        if statement.secrets:
            self._refuse(task, f"holds a secret ({', '.join(statement.secrets)}), which is not stored")
            return None
        if task.what == "tag":
            return Prepared(task, author, None, (statement.topics, statement.metadata))
        return Prepared(task, author, statement)

    def _given(self, task: Task, view: View, entry: page.Entry) -> dict[str, Any]:
        """The arguments of `remember` for what an entry says."""
        assert view.page is not None
        old = self._memories.get(task.id) if task.id else None
        if old is None and task.id:
            old = self._context.store.memories.get(parse_id(task.id))
        if old is not None and old.state != "purged" and task.what != "tag":
            key, value = page.keyed(entry.text) if view.page.group else (None, entry.text)
            kept = {"kind": old.kind, "topics": old.topics, "metadata": old.metadata, "speaker": old.speaker,
                    "importance": old.importance, "pin": old.pinned, "scope": old.scope}  # fmt: skip
            if task.what == "edit" and old.key:
                return {**kept, "key": old.key, "content": value if key == old.key else entry.text}
            return {**kept, "content": entry.text}
        if not view.page.group:
            return self._alone(view, entry)
        group = page.group(view.page.group)
        key, value = page.keyed(entry.text)
        scope = group.scope if group.scope in self._base.scopes else self._base.scopes[0]
        given: dict[str, Any] = {"content": value, "key": key, "scope": scope, "source": view.name}
        if group.topic:
            given["topics"] = [group.topic]
        given["kind"] = "episode" if group.month else page.kind_of(entry.heading) or "fact"
        if group.month:
            day = entry.heading if entry.heading.startswith(group.month) else f"{group.month}-01"
            try:
                given["valid_from"] = min(parse_time(day, now=self._now), self._now)
            except BadInput:
                given["valid_from"] = self._now
        return given

    def _alone(self, view: View, entry: page.Entry) -> dict[str, Any]:
        """A file that is one memory, read as an import reads it."""
        assert view.page is not None
        lines = [line.removesuffix("\r") for line in view.page.lines]
        found = claude_memory.record(self._root / view.name, lines, None, {}, TransferReport())
        start = None if found.created is None else min(found.created, self._now)
        return {"content": entry.text, "kind": found.kind, "topics": found.topics, "valid_from": start,
                "source": view.name, "metadata": found.metadata, "scope": self._base.scopes[0]}  # fmt: skip

    def _refuse(self, task: Task, reason: str) -> None:
        if task.entry is None:
            return
        self.refused.add(id(task.entry))
        self._views[task.file].refused[task.entry.hash] = (task.entry.start + 1, reason)

    def _count(self, one: Prepared) -> None:
        name = _COUNTED[one.task.what]
        setattr(self._report, name, getattr(self._report, name) + 1)

    # -- events

    def _commit(self, prepared: list[Prepared]) -> None:
        outcomes: list[tuple[Prepared, str, str | None]] = []

        def decide(writer: Writer) -> None:
            said: dict[int, str] = {}
            outcomes[:] = [(one, *self._one(writer, one, said)) for one in prepared]

        self._context.write(decide)
        proposals = []
        for one, outcome, memory in outcomes:
            entry = one.task.entry
            if outcome == "done":
                self._count(one)
                if one.task.what == "conflict":
                    proposals.append((one.task.id, memory))
            elif outcome == "later":
                self._report.left.append((one.task.file, "changed in the store meanwhile: the next sync looks again"))
                if entry is not None:
                    self.refused.add(id(entry))
            elif outcome == "more trusted" and one.task.id is not None:
                # Counted like feedback: it comes up for review, and its line comes back.
                self._context.store.usage.record([parse_id(one.task.id)], self._now, "wrong")
                self._report.left.append((one.task.file, f"{one.task.id} is trusted more than the folder: kept"))
            elif outcome == "repeat" and entry is not None:
                self._views[one.task.file].repeats.append(entry.hash)
                entry.id = None
            elif outcome not in ("done", "known"):
                self._refuse(one.task, outcome)
            if memory is not None and entry is not None and outcome in ("done", "known"):
                if one.task.what == "conflict" and one.task.id in self._place:
                    del self._place[one.task.id]  # the store's text gets an entry of its own
                entry.id = memory
                self._place[memory] = one.task.file
        self._propose(proposals)

    def _one(self, writer: Writer, one: Prepared, said: dict[int, str]) -> tuple[str, str | None]:
        """(done, known, repeat, later, more trusted or why not; id of the memory that the entry is from now on)."""
        task = one.task
        if task.what in ("new", "conflict"):
            return self._new(writer, one, said)
        assert task.id is not None
        old = writer.reads.memories.get(parse_id(task.id))
        if task.what == "restore":
            if old is None or old.state != "archived":
                return "later", None
            writer.event("restored", parse_id(task.id), origin=one.origin)
            return "done", task.id
        seen = self._memories.get(task.id)
        if old is None or seen is None or old.state != "active" or old.content != seen.content or old.key != seen.key:
            return "later", None
        if task.what == "archive" and is_below(one.origin, old.trust):
            return "more trusted", None
        if task.what == "archive":
            writer.event("archived", parse_id(task.id), origin=one.origin)
            return "done", None
        if task.what == "tag":
            return self._tag(writer, old, one)
        assert one.statement is not None
        if old.key or is_below(one.origin, old.trust):
            # Another value is another memory, and the one before held until now. What is trusted more is not edited.
            try:
                made = correct(writer, old, one.statement, None)
            except (BadInput, NotFound) as error:
                return error.message, None
            return ("done", made.id) if made.status != "proposed" else (str(made.reason), None)
        writer.event("edited", parse_id(task.id), origin=one.origin, content=one.statement.content)
        return "done", task.id

    def _tag(self, writer: Writer, old: Memory, one: Prepared) -> tuple[str, str | None]:
        assert one.tags is not None
        topics = list(unlike_topics((*one.tags[0], *old.topics)))[:50]
        below = is_below(one.origin, old.trust)
        metadata = {**one.tags[1], **old.metadata} if below else {**old.metadata, **one.tags[1]}
        if metadata == old.metadata and topics == list(old.topics):
            return "known", old.id
        writer.event("tagged", parse_id(old.id), origin=one.origin, topics=topics, metadata=metadata)
        return "done", old.id

    def _new(self, writer: Writer, one: Prepared, said: dict[int, str]) -> tuple[str, str | None]:
        statement = one.statement
        assert statement is not None
        if one.task.what == "conflict" and statement.key:
            statement = replace(statement, key=None)
        mark = fingerprint(
            statement.scope, statement.kind, statement.speaker, statement.key, statement.content
        )  # fmt: skip
        there = writer.reads.memories.same_statement(statement.scope, mark, writer.now)
        id = there.id if there else said.get(mark)
        if id is not None and id != one.task.id:
            alike = there is None or there.content == statement.content
            if alike and (id in self._place or id in said.values()):
                return "repeat", None
            if alike:
                said[mark] = id
                return "known", id
        try:
            made = state(writer, statement, fresh=True)
        except (BadInput, NotFound) as error:
            return error.message, None
        if made.status == "proposed":
            return str(made.reason), None
        assert made.id is not None
        said[mark] = made.id
        return "done", made.id

    def _propose(self, pairs: Sequence[tuple[str | None, str | None]]) -> None:
        found = []
        for old, new in pairs:
            other = self._context.store.memories.get(parse_id(old)) if old else None
            if other is not None and new is not None and other.state == "active" and other.superseded_by is None:
                found.append(
                    Proposal(
                        id=self._context.new_id(), kind="conflict", scope=other.scope, memory=parse_id(new),
                        other=parse_id(other.id), reason=REASON, score=0.0, created_at=self._now,
                    )
                )  # fmt: skip
        if found:
            self._context.store.reviews.propose(found)
