"""Three-way comparison of folder, store and sync state: which entry is which memory, and what to do about each.

It compares hashes of the entry now, of the memory now, and of both at the last sync. Nothing is changed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...model.dataclass import dataclass, field
from ...model.memory import Memory
from ...remember.validation import ValidStatement
from ..transfer.records import digest
from . import page
from .folder import SyncedEntry, SyncedFile, SyncState
from .page import Group


@dataclass(slots=True, kw_only=True)
class View:
    """One file as this sync sees it."""

    name: str
    base: SyncedFile | None
    held: str | None = None  # why it is left alone this time
    page: page.Page | None = None  # None: it is held
    text: str | None = None  # as it was read
    repeats: list[str] = field(default_factory=list)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def group(self) -> Group | None:
        return self.page.group if self.page else self.base.group if self.base else None


class Task(NamedTuple):
    """A change to make in the store. `id`: the memory it is about; None for a new one."""

    what: str  # where the report counts it: created, edited, archived, restored, conflicts
    id: str | None
    file: str
    entry: page.Entry | None
    # Set once it has passed validation and policy; no statement if the memory only goes or comes back.
    origin: str = ""
    statement: ValidStatement | None = None


def store_hash(memory: Memory) -> str:
    """Return a hash of all that a file shows of a memory."""
    return digest(page.shown(memory.content, memory.key) + page.marked("", memory))


def entry_text(memory: Memory, *, grouped: bool) -> str:
    """Return the text that an entry for this memory has when it is read, in a page of entries or as a file."""
    if grouped:
        return page.read_item(page.item(page.shown(memory.content, memory.key), "0" * 12, ""))
    return memory.content.strip()


class Matcher:
    """The match of entries to memories, over all files of one sync."""

    def __init__(self, views: Mapping[str, View], base: SyncState, memories: Mapping[str, Memory]) -> None:
        self._views, self._memories = views, memories
        self.place: dict[str, str] = {}  # id -> file
        self.was: dict[str, SyncedEntry] = {entry.id: entry for file in base.files.values() for entry in file.entries}
        self.home = {entry.id: name for name, file in base.files.items() for entry in file.entries}
        self._marks: dict[str, str | None] = {}
        for id in dict.fromkeys((*self.was, *memories)):
            self.know(id)
            self._marks[id.replace("-", "")] = id

    def mark(self, id: str) -> str:
        """Return the mark of an id in a file: its last twelve digits, unless another memory here has the same."""
        return page.short(id) if self._marks.get(page.short(id), id) == id else id.replace("-", "")

    def know(self, id: str) -> None:
        """Note a memory that was stored during the sync."""
        mark = page.short(id)
        self._marks[mark] = id if self._marks.get(mark, id) == id else None

    def match(self, resolve: Callable[[str], str | None]) -> None:
        """Match entries to memories. `resolve`: mark -> id of a memory that is neither in the base nor listed."""
        for view in self._views.values():  # files that are held come first
            for was in view.base.entries if view.held and view.base else ():
                self.place.setdefault(was.id, view.name)
        for home, view, entry in self._unmatched():
            id = self._marked(view, entry, None if home else resolve)
            if id is not None and id not in self.place and (not home or self.home.get(id) == view.name):
                entry.id = id
                self.place[id] = view.name
        # An entry without a mark is a missing one of the same text: it was renamed, moved, or lost its mark.
        missing: dict[str, list[str]] = defaultdict(list)
        for id, was in self.was.items():
            if id not in self.place:
                missing[was.file].append(id)
        for home, view, entry in self._unmatched():
            ids = missing[entry.hash]
            id = next((old for old in ids if not home or self.home[old] == view.name), None)
            if id is not None:
                ids.remove(id)
                entry.id = id
                self.place[id] = view.name

    def _unmatched(self) -> Iterator[tuple[bool, View, page.Entry]]:
        """Yield (home, view, entry) of the entries without a memory, twice: first to get one that was in this file."""
        for home in (True, False):
            for view in self._views.values():
                for entry in view.page.entries if view.page else ():
                    if entry.id is None:
                        yield home, view, entry

    def _marked(self, view: View, entry: page.Entry, resolve: Callable[[str], str | None] | None) -> str | None:
        """Return the id that an entry's mark names; for a file that is one memory, the id that it had."""
        if not view.group:
            return view.base.entries[0].id if view.base and view.base.entries and not view.base.group else None
        id = self._marks.get(entry.mark) if entry.mark else None
        # A known repeat keeps the mark it was copied with.
        repeated = view.base is not None and entry.hash in view.base.repeats
        return resolve(entry.mark) if id is None and entry.mark and resolve and not repeated else id

    def tasks(self, earlier: Callable[[str, str], str | None]) -> list[Task]:
        """Return the tasks for the store. `earlier(id, text)`: the state of a memory that is not listed or in no base:
        "active" if it once had this text, else its state; None for an unknown one."""
        tasks: list[Task] = []
        loose = {
            digest(entry_text(stored, grouped=True)) for id, stored in self._memories.items() if id not in self.place
        }
        for view in self._views.values():
            if view.page is None:
                continue
            for entry in view.page.entries:
                # A refused text is not judged again, unless a person has stored it since.
                before = view.base.refused.get(entry.hash) if view.base else None
                if before and entry.hash not in loose:
                    view.refused[entry.hash] = (entry.start + 1, before[1])
                    continue
                what = self._change(view, entry, earlier)
                if what:
                    tasks.append(Task(what, entry.id, view.name, entry))
        for id, was in self.was.items():
            memory = self._memories.get(id)
            if id not in self.place and memory is not None and store_hash(memory) == was.store:
                tasks.append(Task("archived", id, self.home[id], None))
        return tasks

    def _change(self, view: View, entry: page.Entry, earlier: Callable[[str, str], str | None]) -> str | None:
        if entry.id is None:
            if view.base and entry.hash in view.base.repeats:
                view.repeats.append(entry.hash)
                return None
            return "created"
        memory, was = self._memories.get(entry.id), self.was.get(entry.id)
        same_here = was is not None and entry.hash == was.file
        if memory is not None:
            if same_here or entry.text == entry_text(memory, grouped=view.group is not None):
                return None
            if was is not None and store_hash(memory) == was.store:
                return "edited"
            known = earlier(entry.id, entry.text) if was is None else None
            return None if known == "active" else "conflicts"
        if same_here:
            return None
        state = earlier(entry.id, entry.text)
        if was is None and state == "archived":
            return "restored"
        if state in ("active", "waits"):
            return None  # the store has this text in its history, or it waits for a person
        if state is None:
            entry.id = None
            return "created"
        return "conflicts"
