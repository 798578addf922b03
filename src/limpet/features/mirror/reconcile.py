"""Three-way comparison of folder, store and what both said when they were last compared: which entry is which memory,
and what a mirror does about each. It compares hashes, and changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...model.dataclass import dataclass, field
from ...model.memory import Memory
from ...remember.validation import ValidStatement
from ..transfer.records import digest
from .page import Entry, Page, comment_of, short, text_of

if TYPE_CHECKING:
    from .folder import SyncState

# The side that has changed since both were last compared; "" for neither.
FOLDER, STORE, BOTH = "folder", "store", "both"


class Synced(NamedTuple):
    """A memory and its entry when both sides were last compared."""

    memory: str
    file: str  # hash of what the folder said; "": nothing
    store: str  # hash of what the store said; "": nothing that holds
    place: str = ""  # the file in a mirror
    is_file: bool = False  # it was the whole file


@dataclass(slots=True, kw_only=True)
class View:
    """One file as this sync sees it."""

    name: str
    page: Page | None = None  # None: it is left alone this time
    is_new: bool = False  # made by this sync
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)  # as in the base, of this sync

    def refuses(self, entry: Entry) -> bool:
        """Return whether the store does not take what an entry says."""
        return entry.left or bool(self.refused.get(entry.hash, (0, ""))[1])


class Task(NamedTuple):
    """A change to make in the store. `id`: the memory it is about; None for a new one."""

    what: str  # where the report counts it: created, edited, archived, restored, conflicts
    id: str | None
    file: str
    entry: Entry | None
    # Set once it has passed validation and policy; no statement if the memory only goes or comes back.
    origin: str = ""
    statement: ValidStatement | None = None


def compare(entry: Entry | None, memory: Memory | None, was: Synced | None) -> str:
    """Return which side has changed since both were last compared. What has gone is None."""
    in_folder = was is None or was.file != (entry.hash if entry else "")
    in_store = was is None or was.store != store_hash(memory)
    return BOTH if in_folder and in_store else FOLDER if in_folder else STORE if in_store else ""


def store_hash(memory: Memory | None) -> str:
    """Return a hash of all that a page shows of a memory; "" for one that does not hold."""
    return digest(text_of(memory) + comment_of(memory)) if memory and memory.state == "active" else ""


def entry_text(memory: Memory, of: Page) -> str:
    """Return the text that an entry for this memory has when it is read from such a page."""
    return memory.content.strip() if of.topic is None else text_of(memory)


class Matcher:
    """The match of entries to memories, over all files of one sync."""

    def __init__(self, views: Mapping[str, View], base: SyncState, memories: Mapping[str, Memory]) -> None:
        self._views, self._was, self._refused, self._memories = views, base.entries, base.refused, memories
        self._whole = {was.place: id for id, was in base.entries.items() if was.is_file}
        self.place: dict[str, str] = {}  # id -> file
        self._marks: dict[str, str | None] = {}  # None: two memories have it
        for id in {**base.entries, **memories}:
            mark = short(id)
            self._marks[mark] = id if self._marks.get(mark, id) == id else None

    def match(self, resolve: Callable[[str], str | None]) -> None:
        """Match entries to memories. `resolve`: mark -> id of a memory that is neither in the base nor listed."""
        for id, was in self._was.items():  # files that are left alone come first
            if was.place in self._views and self._views[was.place].page is None:
                self.place[id] = was.place
        by_id, by_text = defaultdict[str, list[Entry]](list), defaultdict[str, list[Entry]](list)
        for view in self._views.values():
            for entry in view.page.entries if view.page else ():
                by_text[entry.hash].append(entry)
                if named := self._named(view, entry, resolve):
                    by_id[named].append(entry)
        for id, entries in by_id.items():
            self._take(id, entries, self._was[id].place if id in self._was else "")
        # An entry without a mark is a missing one of the same text: it was renamed, moved, or lost its mark.
        for is_home in (True, False):
            for id in [id for id in self._was if id not in self.place]:
                was = self._was[id]
                entries = [entry for entry in by_text[was.file] if entry.file == was.place or not is_home]
                self._take(id, entries)

    def _take(self, id: str, entries: list[Entry], home: str = "") -> None:
        """Give a memory that has none an entry that is free, first of all one in the file in which it was."""
        free = [entry for entry in entries if entry.id is None] if id not in self.place else []
        if free:
            entry = next((entry for entry in free if entry.file == home), free[0])
            entry.id, self.place[id] = id, entry.file

    def _named(self, view: View, entry: Entry, resolve: Callable[[str], str | None]) -> str | None:
        """Return the id that an entry's mark names; for a file that is one memory, the id that it had."""
        if view.page and view.page.topic is None:
            return self._whole.get(view.name)
        id = self._marks.get(entry.mark)
        # A known copy keeps the mark it was copied with.
        if id is None and entry.mark and entry.hash not in self._refused.get(view.name, ()):
            return resolve(entry.mark)
        return id

    def tasks(self, earlier: Callable[[str, str], str | None]) -> list[Task]:
        """Return the tasks for the store. `earlier(id, text)`: the state of a memory that is not listed or in no base:
        "active" if it once had this text, else its state; None for an unknown one."""
        tasks: list[Task] = []
        loose = {digest(text_of(stored)) for id, stored in self._memories.items() if id not in self.place}
        for view in self._views.values():
            for entry in view.page.entries if view.page else ():
                # A refused text is not judged again, unless a person has stored it since.
                before = self._refused.get(view.name, {}).get(entry.hash)
                if before and entry.hash not in loose and (before[1] or entry.id is None):
                    view.refused[entry.hash] = (entry.start + 1, before[1])
                elif what := self._change(entry, view.page, earlier):
                    tasks.append(Task(what, entry.id, view.name, entry))
        for id, was in self._was.items():
            memory = self._memories.get(id)
            if id not in self.place and memory is not None and compare(None, memory, was) == FOLDER:
                tasks.append(Task("archived", id, was.place, None))
        return tasks

    def _change(
        self, entry: Entry, of: Page | None, earlier: Callable[[str, str], str | None]
    ) -> str | None:  # fmt: skip
        if entry.id is None or of is None:
            return "created"
        memory, was = self._memories.get(entry.id), self._was.get(entry.id)
        side = compare(entry, memory, was)
        if side in ("", STORE):
            return None
        if memory is not None:
            if entry.text == entry_text(memory, of):
                return None
            if was is not None:
                return "edited" if side == FOLDER else "conflicts"
            return None if earlier(entry.id, entry.text) == "active" else "conflicts"
        state = earlier(entry.id, entry.text)
        if was is None and state == "archived":
            return "restored"
        if state in ("active", "waits"):
            return None  # the store has this text in its history, or it waits for a person
        if state is None:
            entry.id = None
            return "created"
        return "conflicts"
