"""One sync: compare both sides, write to the store, write the files, save the state. A sync that was stopped at any
point is completed by the next one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import folders
from ...model.dataclass import replace
from ...model.errors import BadInput, LimpetError, NotFound, message_of
from ...model.ids import parse_id
from ...model.memory import ORIGINS, STATES, Filter, Memory, is_below
from ...remember.change import apply_change
from ...remember.decide import correct, proposed, state
from ...remember.write import Receipt, Writer, changed, mark_of, rejected
from ...store.records import Proposal
from ..transfer.exports import claude_memory_record
from ..transfer.records import TransferReport
from . import OWN, STATE, folder, page
from .folder import MirrorReport, SyncState
from .reconcile import Matcher, Task, View
from .render import Render

if TYPE_CHECKING:
    from ...context import Context

# A sync that would archive more memories than this, and more than half, asks first: the folder may not be mounted.
MANY_ARCHIVED = 10
# Tasks in one transaction: few enough that other writers wait for milliseconds.
BATCH = 500
REASON = "changed in the folder and in the store since they were last alike"
# Outcomes of a task that are none of `remember`: another entry says it, or the store has changed meanwhile.
COPY, LATER = "copy", "later"


class Sync:
    """A folder and a store, once."""

    def __init__(self, root: Path, base: SyncState, context: Context) -> None:
        self._root, self._base, self._context = root, base, context
        self._now = context.now()
        self._memories: dict[str, Memory] = {}
        self._views: dict[str, View] = {}
        self._place: dict[str, str] = {}  # which memory is in which file already
        self._report = MirrorReport(folder=str(root), scope=base.scope)
        self._index = folder.INDEX

    def run(self, *, dry_run: bool, forget: bool) -> MirrorReport:
        """Sync, with the options of `mirror.sync`. Raises BadInput, StoreError."""
        began = time.time_ns()
        folders.remove_abandoned(str(self._root))
        self._memories = self._listed()
        self._read()
        known = self._base.entries
        matcher = Matcher(self._views, self._base, self._memories)
        matcher.match(lambda mark: self._all_marks.get(mark))  # noqa: PLW0108 - most syncs need none of them
        tasks = matcher.tasks(self._earlier)
        gone = sum(task.what == "archived" for task in tasks)
        if gone > MANY_ARCHIVED and 2 * gone > len(known) and not forget and not dry_run:
            raise BadInput(
                f"{gone:,} of {len(known):,} entries are gone from {self._root}: nothing was done",
                hint="bring the files back, or forget=True archives the entries; `limpet undo` and another sync then "
                "write them anew",
            )
        self._place = matcher.place
        self._tell(tasks, dry_run)
        if tasks and not dry_run:
            self._memories = self._listed()
        for view in self._views.values():
            self._report.left += [(f"{view.name}:{line}", why) for line, why in view.refused.values() if why]
        Render(
            root=self._root, base=self._base, store=self._context.store, views=self._views, memories=self._memories,
            matcher=matcher, report=self._report, index=self._index, dry_run=dry_run,
        ).run()  # fmt: skip
        self._report.files.sort()
        self._report.left.sort()
        if not dry_run:
            folder.save(self._root, self._base)
            os.utime(self._root / OWN / STATE, ns=(began, began))  # what changes from now on, the next sync takes in
        return self._report

    def _read(self) -> None:
        """Read every file but the index, whose name may be in another case. One that cannot be read, was emptied or is
        in the middle of a merge is left alone: it may be half written."""
        had_entries = {was.place for was in self._base.entries.values()}
        for name in folder.names(self._root):
            if folder.folded(name) == folder.folded(folder.INDEX):
                self._index = name
                continue
            text, problem = folder.read(self._root, name)
            self._views[name] = view = View(name=name)
            if text is not None:
                view.page = page.read(name, text)
                if view.page.conflicts:
                    problem = "holds git's conflict markers"
                elif name in had_entries and not text.strip(page.BOM + " \r\n\t"):
                    problem = "is empty: half written? Remove the file to forget what it said"
            if problem is not None:
                view.page = None
                self._report.left.append((name, problem))

    # -- the store's side

    def _listed(self) -> dict[str, Memory]:
        """Return the active memories of the mirror's scope by id, oldest first."""
        where = Filter(scopes=(self._base.scope,), as_of=self._context.now())
        return {memory.id: memory for memory in self._context.store.listings.each(where, descending=False)}

    @cached_property
    def _all_marks(self) -> dict[str, str]:
        """The ids of all memories ever stored, by the marks that their entries may have."""
        marks: dict[str, str] = {}
        for memory in self._context.store.listings.each(Filter(scopes=(self._base.scope,), states=STATES)):
            marks[page.short(memory.id)] = memory.id
        return marks

    def _earlier(self, id: str, text: str) -> str | None:
        memories = self._context.store.memories
        versions = memories.versions(parse_id(id)) if memories.get(parse_id(id)) else []
        if not versions or versions[-1].scope != self._base.scope:
            return None
        state = versions[-1].state
        if state == "quarantined":
            return "waits"
        kept = (version for version in versions if version.state != "purged")
        same = any(text in (page.text_of(version), version.content.strip()) for version in kept)
        return "other" if not same else "archived" if state == "archived" else "active"

    # -- changes of the folder into the store: each task becomes events, under the policy of every other write

    def _tell(self, tasks: Sequence[Task], dry_run: bool) -> None:
        """Store all changes of the folder. One that is refused stays in the file, and is in the report."""
        order = sorted(tasks, key=lambda task: task.what == "archived")  # what is moved is there before it goes
        for start in range(0, len(order), BATCH):
            prepared = [item for task in order[start : start + BATCH] if (item := self._prepare(task)) is not None]
            if dry_run:
                for task in prepared:
                    self._count(task)
            elif prepared:
                self._commit(prepared)

    # -- validation and policy

    def _prepare(self, task: Task) -> Task | None:
        view = self._views.get(task.file)
        named = view.page.front.values.get("author") if view and view.page else None
        author = str(named) if named in ORIGINS else self._base.author
        if task.what in ("archived", "restored"):
            return task._replace(origin=author)
        assert task.entry is not None and view is not None
        try:
            statement = self._context.validate({**self._given(task, view, task.entry), "origin": author})
        except (LimpetError, ValueError, OverflowError) as error:
            self._refuse(task, message_of(error))
            return None
        if statement.secrets:
            self._refuse(task, f"holds a secret ({', '.join(statement.secrets)}), which is not stored")
            return None
        return task._replace(origin=author, statement=statement)

    def _given(self, task: Task, view: View, entry: page.Entry) -> dict[str, Any]:
        """Return the arguments of `remember` for an entry's text."""
        assert view.page is not None
        key, value = page.keyed(entry.text) if view.page.topic is not None else (None, entry.text)
        old = self._context.store.memories.get(parse_id(task.id)) if task.id else None
        if old is not None and old.state != "purged":
            given: dict[str, Any] = {
                "kind": old.kind, "topics": old.topics, "metadata": old.metadata, "speaker": old.speaker,
                "importance": old.importance, "pin": old.pinned, "scope": old.scope,
            }  # fmt: skip
            if task.what == "edited" and old.key:
                return {**given, "key": old.key, "content": value if key == old.key else entry.text}
            return {**given, "content": entry.text}
        if view.page.topic is None:  # a file that is one memory, read as an import reads it
            record = claude_memory_record(self._root / view.name, view.page.lines, None, {}, TransferReport())
            start = None if record.created is None else min(record.created, self._now)
            return {"content": entry.text, "kind": record.kind, "topics": record.topics, "valid_from": start,
                    "source": view.name, "metadata": record.metadata, "scope": self._base.scope}  # fmt: skip
        return {"content": value, "key": key, "kind": entry.kind, "topics": entry.topics, "source": view.name,
                "scope": self._base.scope}  # fmt: skip

    def _refuse(self, task: Task, reason: str) -> None:
        if task.entry is None:
            self._report.left.append((task.file, f"{task.id}: {reason}"))
        else:
            task.entry.left = True
            self._views[task.file].refused[task.entry.hash] = (task.entry.start + 1, reason)

    def _count(self, task: Task) -> None:
        setattr(self._report, task.what, getattr(self._report, task.what) + 1)

    # -- events

    def _commit(self, prepared: list[Task]) -> None:
        outcomes: list[Receipt] = []

        def decide(writer: Writer) -> None:
            outcomes.clear()
            made: dict[int, str] = {}
            for task in prepared:
                try:
                    outcomes.append(self._decide(writer, task, made))
                except (BadInput, NotFound) as error:
                    outcomes.append(rejected(error, task.id))

        self._context.write(decide)
        for task, receipt in zip(prepared, outcomes, strict=True):
            entry = task.entry
            if receipt.status == LATER:
                self._report.left.append((task.file, "changed in the store meanwhile: the next sync looks again"))
                if entry is not None:
                    entry.left = True
            elif receipt.status in ("proposed", "rejected"):
                self._refuse(task, str(receipt.reason))
                if entry is None:  # its line comes back, and it comes up for review
                    self._context.count_as_wrong(receipt)
            elif receipt.status == COPY and entry is not None:
                self._views[task.file].refused[entry.hash] = (entry.start + 1, "")
                entry.id = None
            else:
                if receipt.status != "unchanged":
                    self._count(task)
                if entry is not None:
                    if task.what == "conflicts" and task.id is not None:
                        self._place.pop(task.id, None)  # the store's text gets an entry of its own
                        if receipt.status != "unchanged":
                            self._propose(task.id, receipt.id)
                    entry.id = receipt.id
                    self._place[receipt.id] = task.file

    def _propose(self, old: str, new: str) -> None:
        """Ask a person which of two texts holds."""
        other = self._context.store.memories.get(parse_id(old))
        if other is not None and other.state == "active" and other.superseded_by is None:
            proposal = Proposal(
                id=self._context.new_id(), kind="conflict", scope=other.scope, memory=parse_id(new),
                other=parse_id(old), reason=REASON, score=0.0, created_at=self._now,
            )  # fmt: skip
            self._context.store.reviews.propose([proposal])

    def _decide(self, writer: Writer, task: Task, made: dict[int, str]) -> Receipt:
        """Do a task inside a write. The receipt names the memory of its entry from now on. `made`: memories of this
        write, by their fingerprints."""
        if task.what in ("created", "conflicts"):
            return self._decide_new(writer, task, made)
        assert task.id is not None
        if task.what == "restored":
            return apply_change(writer, task.id, "restore", task.origin)
        raw = parse_id(task.id)
        old, seen = writer.reads.memories.get(raw), self._memories.get(task.id)
        if old is None or seen is None or (old.state, old.content, old.key) != ("active", seen.content, seen.key):
            return Receipt(id=task.id, status=LATER)
        if task.statement is None:
            waits = proposed(writer, old, task.origin)
            return waits or changed(writer.event("archived", raw, origin=task.origin))
        if old.key or is_below(task.origin, old.trust):
            # A new value of a key is a new memory. A memory that is trusted more is not edited.
            return correct(writer, old, task.statement, None)
        return changed(writer.event("edited", raw, origin=task.origin, content=task.statement.content))

    def _decide_new(self, writer: Writer, task: Task, made: dict[int, str]) -> Receipt:
        statement = task.statement
        assert statement is not None
        if task.what == "conflicts" and statement.key:
            statement = replace(statement, key=None)
        mark = mark_of(statement)
        there = writer.reads.memories.same_statement(statement.scope, mark, writer.now)
        id = there.id if there else made.get(mark)
        if id is not None and id != task.id and (there is None or there.content == statement.content):
            is_copy = id in self._place or id in made.values()
            made[mark] = id
            return Receipt(id=id, status=COPY if is_copy else "unchanged")
        receipt = state(writer, statement, fresh=True)
        if receipt.status != "proposed":
            made[mark] = receipt.id
        return receipt
