"""Changes of the store into the folder: entries, new pages, and the index MEMORY.md.

The index has one line a file, the most useful first, up to a cap, between two marks. Lines around them are other
people's; only those that name a file which limpet has removed go.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ...model.dataclass import dataclass, field
from ...model.errors import counted
from ...model.ids import parse_id
from ...model.memory import KINDS, Memory
from ...remember.validation import RECORDS
from ...text.excerpt import one_line
from ...text.turns import cut
from ..install.change import BEGIN, END
from ..transfer.exports import ENTRY
from ..transfer.records import digest
from . import folder, page
from .folder import MirrorReport, SyncState
from .reconcile import Matcher, Synced, View, compare, entry_text, store_hash

if TYPE_CHECKING:
    from pathlib import Path

    from ...store import Store

# Entries of one page; more begin another page about the same.
PAGE_ENTRIES = 200
CHANGED = "changed just now: the next sync looks again"


@dataclass(slots=True, kw_only=True)
class Render:
    """The write of a folder, after the store has taken in the folder's changes."""

    root: Path
    base: SyncState
    store: Store
    views: dict[str, View]
    memories: dict[str, Memory]
    matcher: Matcher
    report: MirrorReport
    index: str  # its name in this folder
    dry_run: bool
    synced: dict[str, Synced] = field(default_factory=dict)  # what both sides say from now on
    changes: dict[str, list[page.Change]] = field(default_factory=lambda: defaultdict(list))  # by file

    def run(self) -> None:
        # Records of what happened are not written; those that a person has written stay.
        unplaced = {
            id: memory for id, memory in self.memories.items()
            if id not in self.matcher.place and memory.kind not in RECORDS
        }  # fmt: skip
        for view in self.views.values():
            if view.page is not None:
                self._update(view, view.page, unplaced)
            else:
                self._keep_base(view.name)
        self._add(unplaced)
        # Pages that had entries, and have none.
        emptied = {was.place for was in self.base.entries.values()} - {was.place for was in self.synced.values()}
        for view in list(self.views.values()):
            if view.page is not None:
                self._write_file(view, view.page, is_emptied=view.name in emptied)
        self._write_index()
        self.base.entries = self.synced
        self.base.refused = {name: view.refused for name, view in self.views.items() if view.refused}

    def _keep_base(self, name: str) -> None:
        """Leave a file to the next sync, which compares it with the last base."""
        entries = {id: was for id, was in self.synced.items() if was.place != name}
        self.synced = entries | {id: was for id, was in self.base.entries.items() if was.place == name}

    def _update(self, view: View, of: page.Page, unplaced: dict[str, Memory]) -> None:
        """Bring a file to the store's state."""
        for entry in of.entries:
            if entry.id is None:
                continue
            was, held = self.base.entries.get(entry.id), self.memories.get(entry.id)
            if view.refuses(entry):
                self.synced |= {entry.id: was} if was else {}
                continue
            stored = self.store.memories.get(parse_id(entry.id)) if held is None else None
            if stored is not None and stored.state == "quarantined":  # it waits for a person
                waits = Synced(entry.id, entry.hash, "", view.name, of.topic is None)
                self.synced[entry.id] = was or waits
                continue
            held = held or self._successor(entry.id, unplaced)
            if held is None:
                self.changes[view.name].append(page.Change(entry))
                self.report.removed += 1
                continue
            text, comment = entry_text(held, of), page.comment_of(held)
            if entry.text == text or (held.id == entry.id and not compare(entry, held, was)):
                text = entry.text
            else:
                self.report.updated += 1
            if text != entry.text or (comment != entry.comment and of.topic is not None):
                self.changes[view.name].append(page.Change(entry, text, comment))
            self.synced[held.id] = Synced(held.id, digest(text), store_hash(held), view.name, of.topic is None)

    def _successor(self, id: str, unplaced: dict[str, Memory]) -> Memory | None:
        """Return the unplaced memory that replaced this one, directly or over several steps; it takes its place."""
        for _ in range(100):
            gone = self.store.memories.get(parse_id(id))
            if gone is None or gone.superseded_by is None:
                return None
            id = gone.superseded_by
            if id in unplaced:
                return unplaced.pop(id)
        return None

    def _add(self, unplaced: dict[str, Memory]) -> None:
        """Add an entry for each memory that has none."""
        pages: dict[str, list[str]] = defaultdict(list)
        for view in self.views.values():
            if view.page and view.page.topic is not None:
                pages[view.page.topic].append(view.name)
        count = Counter(entry.place for entry in self.synced.values())
        taken = {folder.folded(name) for name in self.views}
        for new in sorted(unplaced.values(), key=lambda row: (KINDS.index(row.kind), page.short(row.id))):
            topic = one_line(new.topics[0]) if new.topics else ""
            file = next((name for name in pages[topic] if count[name] < PAGE_ENTRIES), "")
            if not file:
                name = folder.free_name(topic or "general", taken)
                file = f"{name}.md"
                taken.add(folder.folded(file))
                pages[topic].append(file)
                self.views[file] = View(name=file, page=page.new_page(name, topic), is_new=True)
            text = page.text_of(new)
            self.changes[file].append(page.Change(None, text, page.comment_of(new), new.kind))
            self.synced[new.id] = Synced(new.id, digest(text), store_hash(new), file)
            count[file] += 1
            self.report.added += 1

    def _write_file(self, view: View, of: page.Page, *, is_emptied: bool) -> None:
        changes = self.changes[view.name]
        text = page.revised(of, changes)
        if of.topic is None:
            vanishes = bool(changes) and not changes[0].text
        else:
            vanishes = is_emptied and page.is_bare(page.read(view.name, text))
        if text == of.source and not vanishes and not view.is_new:
            return
        self.report.files.append(view.name)
        if self.dry_run:
            return
        if vanishes and folder.take_away(self.root, view.name, of.source):
            del self.views[view.name]
        elif vanishes or not folder.write(self.root, view.name, text, None if view.is_new else of.source):
            self.report.files.remove(view.name)
            self.report.left.append((view.name, CHANGED))
            self._keep_base(view.name)

    # -- the index

    def _write_index(self) -> None:
        known, problem = None, None
        if os.path.lexists(self.root / self.index):
            known, problem = folder.read(self.root, self.index)
        if problem:
            self.report.left.append((self.index, problem))
            return
        memories: dict[str, list[Memory]] = {name: [] for name in self.views}
        for id, was in self.synced.items():
            if id in self.memories and was.place in memories:
                memories[was.place].append(self.memories[id])
        pointers = [self._pointer(view, memories[name]) for name, view in self.views.items()]
        gone = {was.place for was in self.base.entries.values()} - self.views.keys()
        text = with_block(known or "# Memory\n", pointers, gone)
        if text == known:
            return
        self.report.files.append(self.index)
        if not self.dry_run and not folder.write(self.root, self.index, text, known):
            self.report.left.append((self.index, CHANGED))

    def _pointer(self, view: View, memories: list[Memory]) -> Pointer:
        title, hook = view.name.removesuffix(".md"), ""
        if view.page and view.page.topic is not None:
            title, hook = view.page.topic or page.GENERAL, "nothing now"
            if memories:  # the kinds in the page, and the beginning of its weightiest entry
                counts = Counter(memory.kind for memory in memories)
                kinds = [counted(counts[kind], kind) for kind in KINDS if counts[kind]]
                first = max(memories, key=lambda row: (row.pinned, row.importance, row.valid_from, row.id))
                text = f"{first.key}: {first.content}" if first.key else first.content
                hook = f"{', '.join(kinds)}: {one_line(text)[:80].strip()}"
        elif memories:
            metadata = memories[0].metadata
            named = [metadata.get(field) for field in ("title", "name")]
            title = next((text for text in named if isinstance(text, str) and text.strip()), title)
            hooks = [metadata.get(field) for field in ("hook", "description")]
            hook = next((text for text in hooks if isinstance(text, str) and text.strip()), memories[0].content)
        # Pinned first, then by importance and use, then the newest.
        ranks = [(row.pinned, row.importance * (1 + min(row.uses, 20) / 10), row.valid_from_us) for row in memories]
        best = max(ranks, default=(False, 0.0, 0))
        return Pointer(view.name, title, hook, best)


# The longest that MEMORY.md may be: agents load it at every start.
INDEX_BYTES = 10_240
# Characters of a line that limpet writes: about 70 of them fill the default cap.
LINE_CHARACTERS = 140
_NO_BRACKETS = str.maketrans("[]", "()")
_ESCAPED = {ord(mark): f"%{ord(mark):02X}" for mark in " ()%<>\t"}


class Pointer(NamedTuple):
    """A line of the index for one file; `rank`: higher is more useful."""

    file: str
    title: str
    hook: str
    rank: tuple[float, ...]

    def line(self) -> str:
        title = one_line(self.title).translate(_NO_BRACKETS).strip()[:60] or self.file
        hook = one_line(self.hook)
        text = f"- [{title}]({self.file.translate(_ESCAPED)})"
        return f"{text} — {cut(hook, LINE_CHARACTERS - len(title) - 20)}" if hook else text


def with_block(text: str, pointers: list[Pointer], gone: set[str]) -> str:
    """Return an index with limpet's lines between the two marks, or at its end if they are not there.

    Files that a line around them names need no other. `gone`: files whose lines go.
    """
    end_of_line = "\r" if "\r\n" in text else ""
    lines = text.removesuffix("\n").split("\n")
    bare = [line.removesuffix("\r") for line in lines]
    begin = len(bare) - 1 - bare[::-1].index(BEGIN) if BEGIN in bare else len(bare)
    is_there = END in bare[begin:]
    begin, end = (begin, bare.index(END, begin) + 1) if is_there else (len(lines), len(lines))
    before, after = ([line for line in part if _file_of(line) not in gone] for part in (lines[:begin], lines[end:]))
    named = {_file_of(line) for line in (*before, *after)}
    own = [pointer for pointer in pointers if pointer.file not in named]
    own.sort(key=lambda pointer: (pointer.rank, pointer.file), reverse=True)
    shown = [pointer.line() for pointer in own]
    more = f"- and {len(shown):,} more files"
    space = INDEX_BYTES - sum(map(_size, (*before, *after, BEGIN, END, more)))
    count = sum(size <= space for size in accumulate(map(_size, shown)))
    rest = [f"- and {len(shown) - count:,} more files"] if count < len(shown) else []
    gap = [""] if not is_there and before and before[-1].strip() else []
    block = [line + end_of_line for line in (*gap, BEGIN, *shown[:count], *rest, END)]
    return "\n".join([*before, *block, *after]) + "\n"


def _size(line: str) -> int:
    return len(line.encode()) + 2  # with the longest line end


def _file_of(line: str) -> str:
    """Return the file that a line of an index names, or ""."""
    entry = ENTRY.match(line)
    return unquote(entry[2]).removeprefix("./") if entry else ""
