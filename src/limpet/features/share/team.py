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
from typing import TYPE_CHECKING, Any

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
from ...store.files import write_own
from ..mirror import folder, page
from ..mirror.page import Change, Entry, Page
from ..mirror.reconcile import FOLDER, STORE, Synced, compare, store_hash
from ..transfer.records import digest

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
PUBLIC = 0o644
ATTRIBUTES, UNION = ".gitattributes", "*.md merge=union\n"


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
    """The pages of a folder, read. `statements`: by mark; two texts of one mark are two statements."""

    def __init__(self, root: Path) -> None:
        self.pages: dict[str, Page] = {}
        self.statements: dict[str, Entry] = {}
        self.problems: list[tuple[str, str]] = []  # (place, reason)
        self.is_whole = True  # every file was read, and none is in the middle of a merge
        names = folder.names(root) if root.is_dir() else []
        for name in names[:MOST_FILES]:
            text, problem = folder.read(root, name)
            if problem:
                self._hold(name, problem)
            elif text and page.FOOT in (read := page.read(name, text)).lines:
                self._add(read)
        if len(names) > MOST_FILES or len(self.statements) > MOST:
            self._hold(str(root), f"more than {MOST:,} statements or {MOST_FILES:,} files: the first are read")
            self.statements = dict(islice(self.statements.items(), MOST))

    def _add(self, read: Page) -> None:
        self.pages[read.name] = read
        for at in read.conflicts:
            self._hold(f"{read.name}:{at + 1}", "git's conflict markers: both sides are read")
        for entry in read.entries:
            mark = entry.mark or mark_of(entry.text)
            other = self.statements.get(mark)
            if other is not None and other.text != entry.text:
                mark = mark_of(f"{mark} {entry.text}")
            if entry.kind in RECORDS:
                self.problems.append((entry.place, "an episode is nobody else's memory: not read"))
            else:
                self.statements.setdefault(mark, entry)

    def _hold(self, place: str, reason: str) -> None:
        self.problems.append((place, reason))
        self.is_whole = False


def mark_of(text: str) -> str:
    """Return the mark of a statement that is new: that of a value follows from its key alone."""
    return digest(page.keyed(text)[0] or text)


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
        synced: dict[str, list[Any]] = noted.get("synced", {}) if noted.get("scope") == scope else {}
        self._synced = {mark: Synced(*row) for mark, row in synced.items()}
        self._topics: dict[str, str] = {}  # of new files

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
        new = dict[str, Entry]()
        for mark, statement in self._files.statements.items():
            known = self._synced.get(mark)
            old = self._current(known.memory) if known else None
            if compare(statement, old, known) in ("", STORE) or (old and self._correct(mark, statement, old)):
                continue
            new[mark] = statement
        outcomes = remember_batch(self._context, map(_given, new.values()), quiet=True)
        for (mark, statement), receipt in zip(new.items(), outcomes, strict=True):
            if receipt.status == "rejected" or receipt.redacted:
                reason = receipt.reason or f"holds a secret ({', '.join(receipt.redacted)}), which is not stored"
                self.report.problems.append((statement.place, reason))
            if receipt.status == "rejected":
                continue
            status = receipt.status
            # It is back in this folder, with another branch: one that is behind has it still.
            if status == "unchanged" and mark in self._synced and self._ended_by(receipt.id) == ORIGIN:
                status = change.change(self._context, receipt.id, "restore", origin=ORIGIN).status
            self.report.new += status in ("created", "changed")
            self.report.waiting += status in ("quarantined", "proposed")
            self._keep(mark, statement, receipt.id)

    def _correct(self, mark: str, statement: Entry, old: Memory) -> bool:
        """Let a statement take the place of what the folder said before. Return False if that is not believed."""
        if not self._synced[mark].file or old.state != "active":
            return False
        if page.text_of(old) == statement.text:
            self._keep(mark, statement, old.id)
            return True
        kept = {name: value for name, value in _given(statement).items() if name not in ("kind", "topics")}
        try:
            receipt = change.correct(self._context, old.id, why=None, valid_from=None, **kept)
        except (BadInput, NotFound):
            return False
        waits = receipt.status in ("proposed", "quarantined")
        self.report.waiting += waits
        self.report.changed += receipt.status == "created"
        self._keep(mark, statement, old.id if waits else receipt.id)
        return True

    def _retract(self, is_asked: bool) -> None:
        """Retract what was removed from the folder."""
        there = self._files.statements.keys()
        gone = [mark for mark, known in self._synced.items() if known.file and mark not in there]
        if len(gone) > MANY_GONE and 2 * len(gone) > len(self._synced) and not is_asked:
            self.report.problems.append((str(self._root), f"{len(gone):,} are gone: `limpet share` takes that in"))
        elif self._files.is_whole:
            others = {known.memory for mark, known in self._synced.items() if mark in there}
            for mark in gone:
                self._synced[mark] = self._synced[mark]._replace(file="")
                memory = self._current(self._synced[mark].memory)
                if memory is not None and memory.state == "active" and memory.id not in others:
                    why = f"removed from {self._root.name}"
                    receipt = change.change(self._context, memory.id, "retract", origin=ORIGIN, why=why)
                    self.report.removed += receipt.status == "changed"
                    self.report.waiting += receipt.status == "proposed"

    def _keep(self, mark: str, statement: Entry, id: str) -> None:
        self._synced[mark] = Synced(id, statement.hash, store_hash(self._current(id)))

    # -- the store into the folder

    def write(self, *, dry_run: bool) -> ShareReport:
        """Write what people here have said, changed and taken back. Raises StoreError."""
        changes: dict[str, list[Change]] = {}
        for mark, name, one, memory in list(self._changes()):
            if not (name in self._files.pages and self._files.pages[name].conflicts):
                changes.setdefault(name, []).append(one)
                self.report.written.append((name, one.entry.text if one.entry else "", one.text))
                self._synced[mark] = Synced(memory.id, digest(one.text) if one.text else "", store_hash(memory))
        if dry_run or not changes:
            return self.report
        self._root.mkdir(parents=True, exist_ok=True)
        for name, made in changes.items():
            self._put(name, made)
        if not (self._root / ATTRIBUTES).exists():
            folder.write(self._root, ATTRIBUTES, UNION, None, mode=PUBLIC)
        self._save({})
        return self.report

    def _put(self, name: str, changes: list[Change]) -> None:
        """Write a file with changes, and comments above the items that have none."""
        there = self._files.pages.get(name)
        of = there or page.new_team_page(name, self._topics[name])
        changed = {id(one.entry) for one in changes}
        unmarked = (entry for entry in of.entries if not entry.mark and id(entry) not in changed)
        changes += [Change(entry, entry.text, comment_of(mark_of(entry.text))) for entry in unmarked]
        folder.write(
            self._root, name, page.revised(of, changes, keeps_marks=True), there.source if there else None, mode=PUBLIC
        )

    def _changes(self) -> Iterator[tuple[str, str, Change, Memory]]:
        """Yield (mark, file, change, memory) where the store says something else than when both sides were compared."""
        statements, pages = self._files.statements, self._files.pages
        marks: dict[str, str] = {}
        for mark, known in self._synced.items():
            memory, was = self._current(known.memory), statements.get(mark)
            if memory is not None and memory.state == "active":
                marks[memory.id] = mark
            elif memory is not None and was and known.store and self._ended_by(memory.id) not in ("", ORIGIN):
                yield mark, was.file, Change(was, "", comment_of(mark)), memory
        texts = {statement.text for statement in statements.values()}
        taken = {mark for of in pages.values() for _, mark, _ in of.marks}
        file_of = {caseless(of.topic or ""): name for name, of in pages.items()}
        names = {folder.folded(path.name) for path in self._root.glob("*")}
        added: list[tuple[str, str, Change, Memory]] = []
        for memory in self._own():
            mark, text = marks.get(memory.id, ""), page.text_of(memory)
            was = statements.get(mark)
            if mark and compare(was, memory, self._synced[mark]) in ("", FOLDER):
                continue
            if was:
                if was.text != text:
                    yield mark, was.file, Change(was, text, was.comment or comment_of(mark)), memory
            elif text not in texts:
                mark = mark_of(text)
                while mark in taken:
                    mark = digest(mark)
                topic = caseless(memory.topics[0]) if memory.topics else ""
                if topic not in file_of:
                    file_of[topic] = f"{folder.free_name(topic or 'general', names)}.md"
                    self._topics[file_of[topic]] = memory.topics[0] if memory.topics else ""
                taken.add(mark)
                names.add(folder.folded(file_of[topic]))
                added.append((mark, file_of[topic], Change(None, text, comment_of(mark, memory), memory.kind), memory))
        yield from sorted(added, key=lambda each: each[0])

    def _own(self) -> Iterator[Memory]:
        """Yield what people have said or confirmed in this scope, and holds without an end. A secret is a problem."""
        where = Filter(scopes=(self.report.scope,), as_of=self._context.now())
        for memory in self._context.store.listings.each(where, descending=False):
            if memory.trust != "user" or memory.kind in RECORDS or memory.speaker or memory.valid_to_us is not None:
                continue
            names = (*redact_value(memory.key, memory.content)[1], *redact("\n".join(memory.topics))[1])
            if names:
                self.report.problems.append((memory.id, f"holds a secret ({', '.join(names)}): not written"))
            else:
                yield memory

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


def _given(statement: Entry) -> dict[str, Any]:
    """Return the arguments of `remember` for a statement."""
    key, content = page.keyed(statement.text)
    topics = list(unlike_topics(statement.topics))
    return {"content": content, "kind": statement.kind, "topics": topics, "key": key, "origin": ORIGIN,
            "source": statement.file}  # fmt: skip


def comment_of(mark: str, memory: Memory | None = None) -> str:
    """Return the comment above a statement, with the topics that a new one has besides that of its page."""
    topics = ", ".join(
        topic for topic in (memory.topics[1:] if memory else ()) if "," not in topic and "--" not in topic
    )
    return f"<!-- limpet {mark}{f' {topics}' if topics else ''} -->"
