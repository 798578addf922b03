"""A folder that a team shares against the store: what each side has changed since both were last compared.

What the folder says is of origin `team`: it replaces what agents and the team have said, and waits for review where a
person here says otherwise. What both said is noted beside the store, for each folder, and of words only hashes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import folders
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm, rows
from ...model.errors import BadInput, LimpetError, NotFound
from ...model.ids import parse_id
from ...model.memory import GLOBAL_SCOPE, Filter, Memory, caseless, unlike_topics
from ...remember import change
from ...remember.batch import remember_batch
from ...remember.validation import RECORDS, validate
from ...secrets import redact, redact_value
from ...store.files import partial_file, publish, write_own, writing
from ..mirror import folder
from ..mirror.page import keyed, shown
from ..transfer.records import digest
from . import topic_file
from .topic_file import Change, Statement, TopicFile

if TYPE_CHECKING:
    from ...context import Context

ORIGIN = "team"
# States, and events, of what holds no longer because somebody says so.
ENDS = ("retracted", "purged")
# Files and statements that are read: more are nothing that people review.
MOST_FILES, MOST = 1_000, 10_000
# More than this, and more than half, are not retracted unless a person asks: the folder may be of another branch.
MANY_GONE = 10
# Replacements of replacements that are followed.
MOST_STEPS = 100
# Where git cannot tell two changes apart it keeps the lines of both.
ATTRIBUTES, UNION = ".gitattributes", "*.md merge=union\n"


class Synced(NamedTuple):
    """A statement when folder and store were last compared."""

    memory: str
    file: str  # hash of what the folder said; "": the team has removed it
    store: str  # hash of what the store said; "": nothing that holds


@dataclass(slots=True, kw_only=True)
class ShareReport(JsonForm):
    """The report of what was taken in and written. `problems`: (place, reason) of what was left as it is."""

    folder: str
    scope: str
    new: int = 0
    changed: int = 0
    removed: int = 0
    waiting: int = 0  # for review: the team says otherwise than a person here
    written: list[tuple[str, str, str]] = field(default_factory=list, metadata=rows("file", "was", "now"))
    problems: list[tuple[str, str]] = field(default_factory=list, metadata=rows("place", "reason"))


class Files:
    """The files of a folder, read. `statements`: by id; two texts of one id are two statements."""

    def __init__(self, root: Path) -> None:
        self.by_name: dict[str, TopicFile] = {}
        self.statements: dict[str, Statement] = {}
        self.problems: list[tuple[str, str]] = []  # (place, reason)
        self.is_whole = True  # every file was read, and none is in the middle of a merge
        names = folder.names(root) if root.is_dir() else []
        for name in names[:MOST_FILES]:
            text, problem = folder.read(root, name)
            if problem:
                self._hold(name, problem)
            elif text and (file := topic_file.read(name, text)):
                self._add(file)
        if len(names) > MOST_FILES or len(self.statements) > MOST:
            self._hold(str(root), f"more than {MOST:,} statements or {MOST_FILES:,} files: the first are read")
            self.statements = dict(islice(self.statements.items(), MOST))

    def _add(self, file: TopicFile) -> None:
        self.by_name[file.name] = file
        for at in file.conflicts:
            self._hold(f"{file.name}:{at + 1}", "git's conflict markers: both sides are read")
        for statement in file.statements:
            id, other = statement.id, self.statements.get(statement.id)
            if other is not None and other.said != statement.said:
                id = topic_file.id_of(f"{id} {statement.said}")
            if statement.kind in RECORDS:
                self.problems.append((statement.place, "an episode is nobody else's memory: not read"))
            else:
                self.statements.setdefault(id, statement._replace(id=id))

    def _hold(self, place: str, reason: str) -> None:
        self.problems.append((place, reason))
        self.is_whole = False


def check(root: Path) -> list[tuple[str, str]]:
    """Return the problems of a folder, (place, reason), with what a store would not take in. Needs no store.
    Raises BadInput, StoreError."""
    if not root.is_dir():
        raise BadInput(f"no folder {root}")
    files = Files(root)
    for statement in files.statements.values():
        try:
            valid = validate(_given(statement), scope=GLOBAL_SCOPE, now=0)
        except LimpetError as error:
            files.problems.append((statement.place, error.message))
            continue
        if valid.secrets or valid.quarantine:
            reason = f"holds a secret ({', '.join(valid.secrets)})" if valid.secrets else f"it {valid.quarantine}"
            files.problems.append((statement.place, reason))
    return files.problems


class Team:
    """A folder and a store, once."""

    def __init__(self, context: Context, scope: str, root: str) -> None:
        self._root, self._caller = Path(root), context
        self._context = context.in_scope(scope)
        self._context.project = None  # the folder is of the branch: what is read from it was not learned there
        self.report = ShareReport(folder=root, scope=scope)
        self._notes = folders.beside(context.store.path) + ".shared" if context.store.path != ":memory:" else ""
        noted = self._noted().get(root, {})
        self._stamps: dict[str, list[int]] = noted.get("files", {})
        synced: dict[str, list[str]] = noted.get("synced", {}) if noted.get("scope") == scope else {}
        self._synced = {id: Synced(*row) for id, row in synced.items()}

    @cached_property
    def _files(self) -> Files:
        files = Files(self._root)
        self.report.problems += files.problems
        return files

    # -- the folder into the store

    def take_in(self, *, is_asked: bool = False) -> ShareReport:
        """Store what the folder says, as one operation. `is_asked`: also if nothing has changed, or most is gone.
        Raises StoreError, OSError."""
        if not self._root.is_dir():  # as on an older branch
            return self.report
        with os.scandir(self._root) as found:
            stats = {each.name: each.stat(follow_symlinks=False) for each in found if each.name.endswith(".md")}
        stamps = {name: [stat.st_mtime_ns, stat.st_size] for name, stat in sorted(stats.items())}
        if stamps == self._stamps and not is_asked:
            return self.report
        with folders.locked(self._notes) if self._notes else nullcontext(True) as is_free:
            if is_free:
                with self._context.one_operation():
                    self._state()
                    self._retract(is_asked)
                self._caller.claim(self._caller.scope)
                self._save(stamps if self._files.is_whole else {})
        return self.report

    def _state(self) -> None:
        """Store what is new or says something else."""
        new = list[Statement]()
        for id, statement in self._files.statements.items():
            known = self._synced.get(id)
            if known is None or (known.file != digest(statement.said) and not self._correct(known, statement)):
                new.append(statement)
        outcomes = remember_batch(self._context, map(_given, new), quiet=True)
        for statement, receipt in zip(new, outcomes, strict=True):
            if receipt.status == "rejected" or receipt.redacted:
                reason = receipt.reason or f"holds a secret ({', '.join(receipt.redacted)}), which is not stored"
                self.report.problems.append((statement.place, reason))
            if receipt.status == "rejected":
                continue
            status = receipt.status
            # It is back in this folder, with another branch: one that is behind has it still.
            if status == "unchanged" and statement.id in self._synced and self._ended_by(receipt.id) == ORIGIN:
                status = change.change(self._context, receipt.id, "restore", origin=ORIGIN).status
            self.report.new += status in ("created", "changed")
            self.report.waiting += status in ("quarantined", "proposed")
            self._keep(statement, receipt.id)

    def _correct(self, known: Synced, statement: Statement) -> bool:
        """Let a statement take the place of what the folder said before. Return False if that is not believed."""
        old = self._current(known.memory)
        if not known.file or old is None or old.state != "active":
            return False
        if _said(old) == statement.said:
            self._keep(statement, old.id)
            return True
        kept = {name: value for name, value in _given(statement).items() if name not in ("kind", "topics")}
        try:
            receipt = change.correct(self._context, old.id, why=None, valid_from=None, **kept)
        except (BadInput, NotFound):
            return False
        waits = receipt.status in ("proposed", "quarantined")
        self.report.waiting += waits
        self.report.changed += receipt.status == "created"
        self._keep(statement, old.id if waits else receipt.id)
        return True

    def _retract(self, is_asked: bool) -> None:
        """Retract what was removed from the folder."""
        there = self._files.statements.keys()
        gone = [id for id, known in self._synced.items() if known.file and id not in there]
        if len(gone) > MANY_GONE and 2 * len(gone) > len(self._synced) and not is_asked:
            self.report.problems.append((str(self._root), f"{len(gone):,} are gone: `limpet share` takes that in"))
        elif self._files.is_whole:
            others = {known.memory for id, known in self._synced.items() if id in there}
            for id in gone:
                self._synced[id] = self._synced[id]._replace(file="")
                memory = self._current(self._synced[id].memory)
                if memory is not None and memory.state == "active" and memory.id not in others:
                    why = f"removed from {self._root.name}"
                    receipt = change.change(self._context, memory.id, "retract", origin=ORIGIN, why=why)
                    self.report.removed += receipt.status == "changed"
                    self.report.waiting += receipt.status == "proposed"

    def _keep(self, statement: Statement, id: str) -> None:
        memory = self._current(id)
        store = digest(_said(memory)) if memory is not None and memory.state == "active" else ""
        self._synced[statement.id] = Synced(id, digest(statement.said), store)

    # -- the store into the folder

    def write(self, *, dry_run: bool) -> ShareReport:
        """Write what people here have said, changed and taken back. Raises StoreError."""
        changes: dict[str, list[Change]] = {}
        for one, memory in self._changes():
            file = self._files.by_name.get(one.file)
            if file is None or not file.conflicts:
                changes.setdefault(one.file, []).append(one)
                self.report.written.append((one.file, one.was.said if one.was else "", one.said))
                self._synced[one.id] = Synced(memory.id, digest(one.said) if one.said else "", digest(_said(memory)))
        if dry_run or not changes:
            return self.report
        for name, made in changes.items():
            file = self._files.by_name.get(name) or topic_file.new_file(name, next(iter(made[0].topics), None))
            self._put(name, topic_file.revised(file, made))
        if not (self._root / ATTRIBUTES).exists():
            self._put(ATTRIBUTES, UNION)
        self._save({})
        return self.report

    def _changes(self) -> Iterator[tuple[Change, Memory]]:
        """Yield what differs from when both sides were last compared."""
        statements, files = self._files.statements, self._files.by_name
        ids: dict[str, str] = {}
        for id, known in self._synced.items():
            memory, was = self._current(known.memory), statements.get(id)
            if memory is not None and memory.state == "active":
                ids[memory.id] = id
            elif memory is not None and was and known.store and self._ended_by(memory.id) not in ("", ORIGIN):
                yield Change(id, "", was.kind, (), was.file, was), memory
        said_there = {statement.said for statement in statements.values()}
        taken = {id for file in files.values() for _, id, _ in file.ids}
        file_of = {caseless(file.topic or ""): name for name, file in files.items()}
        names = {folder.folded(path.name) for path in self._root.glob("*")}
        for memory in self._own():
            id, said = ids.get(memory.id, ""), topic_file.text_of(_said(memory))
            if id and self._synced[id].store == digest(_said(memory)):
                continue
            if was := statements.get(id):
                if was.said != said:
                    yield Change(id, said, was.kind, (), was.file, was), memory
            elif said not in said_there:
                id = topic_file.id_of(said)
                while id in taken:
                    id = digest(id)
                topic = caseless(memory.topics[0]) if memory.topics else ""
                if topic not in file_of:
                    file_of[topic] = folder.free_name(topic or "general", names)[0]
                taken.add(id)
                names.add(folder.folded(file_of[topic]))
                yield Change(id, said, memory.kind, memory.topics, file_of[topic], None), memory

    def _own(self) -> Iterator[Memory]:
        """Yield what people have said or confirmed in this scope, and holds without an end. A secret is a problem."""
        where = Filter(scopes=(self.report.scope,), as_of=self._context.now())
        for memory in self._context.store.listings.each(where, descending=False):
            if memory.trust != "user" or memory.kind in RECORDS or memory.speaker or memory.valid_to_us is not None:
                continue
            names = (*redact_value(memory.key, memory.content)[1], *redact("\n".join(memory.topics))[1])
            if names:
                self.report.problems.append((memory.id, f"holds a secret ({', '.join(names)}): not written"))
            elif not topic_file.text_of(_said(memory)):
                self.report.problems.append((memory.id, "no item of a list can hold it: not written"))
            else:
                yield memory

    def _put(self, name: str, text: str) -> None:
        with writing(self._root / name):
            self._root.mkdir(parents=True, exist_ok=True)
            with partial_file(self._root / folders.partial_name()) as file:
                file.write(text.encode())
                Path(file.name).chmod(0o644)
                publish(file, self._root / name, force=True)

    # -- what both sides share

    def _current(self, id: str) -> Memory | None:
        """Return what took the place of a memory, or the memory itself."""
        memory = self._context.store.memories.get(parse_id(id))
        for _ in range(MOST_STEPS):
            if memory is None or not memory.superseded_by:
                break
            memory = self._context.store.memories.get(parse_id(memory.superseded_by))
        return memory

    def _ended_by(self, id: str) -> str:
        """Return the origin of what retracted or purged a memory; "" if nothing did."""
        memory = self._current(id)
        events = self._context.store.ledger.events(memory=parse_id(memory.id)) if memory else ()
        ends = [event.origin for event in events if event.type in ENDS]
        return ends[-1] if memory and ends and memory.state in ENDS else ""

    def _noted(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            noted = json.loads(Path(self._notes).read_bytes())
            return noted if isinstance(noted, dict) else {}
        return {}

    def _save(self, stamps: dict[str, list[int]]) -> None:
        if self._notes:
            mine = {"scope": self.report.scope, "files": stamps, "synced": self._synced}
            noted = self._noted() | {str(self._root): mine}
            write_own(Path(self._notes), json.dumps(noted, separators=(",", ":")).encode())


def _said(memory: Memory) -> str:
    return shown(memory.content, memory.key)


def _given(statement: Statement) -> dict[str, Any]:
    """Return the arguments of `remember` for a statement."""
    key, content = keyed(statement.said)
    topics = list(unlike_topics(statement.topics))
    return {"content": content, "kind": statement.kind, "topics": topics, "key": key, "origin": ORIGIN,
            "source": statement.place.rpartition(":")[0]}  # fmt: skip
