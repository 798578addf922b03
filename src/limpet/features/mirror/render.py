"""Changes of the store into the folder: entries, new pages, and the index MEMORY.md.

The index has one line a file, the most useful first, up to a cap; a second file has the others. Lines written by a
person or an agent stay in place unless the cap moves them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ...model.clock import format_time
from ...model.dataclass import dataclass
from ...model.ids import parse_id
from ...model.memory import KINDS, Memory
from ...text.excerpt import one_line
from ...text.turns import cut
from ..transfer.exports import ENTRY
from ..transfer.records import digest
from . import folder, page
from .folder import MirrorReport, SyncedEntry, SyncedFile, SyncState
from .reconcile import Matcher, View, entry_text, store_hash

if TYPE_CHECKING:
    from pathlib import Path

    from ...store import Store

# Entries of one page; more begin another page about the same.
PAGE_ENTRIES = 200


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

    def run(self) -> None:
        unplaced = {id: memory for id, memory in self.memories.items() if id not in self.matcher.place}
        files: dict[str, SyncedFile] = {}
        removed = set[str]()
        for view in list(self.views.values()):
            if view.page is not None:
                files[view.name], vanishes = self._file(view, view.page, unplaced)
                if vanishes:
                    removed.add(view.name)
            elif view.base:
                files[view.name] = view.base
        self._add(unplaced, files)
        # Of the pages that were emptied some have something new.
        removed = {name for name in removed if not (files[name].group and files[name].entries)}
        self._write_files(files, removed)
        self._write_index(files)
        self.base.files = files

    def _file(self, view: View, parsed: page.Page, unplaced: dict[str, Memory]) -> tuple[SyncedFile, bool]:
        """Update a file to the store's state; return whether it is to be removed."""
        made = SyncedFile(
            group=parsed.group, repeats=list(dict.fromkeys(view.repeats)), refused=view.refused,
        )  # fmt: skip
        vanishes = False
        for entry in list(parsed.entries):
            if entry.id is None:
                continue
            was, held = self.matcher.was.get(entry.id), self.memories.get(entry.id)
            if entry.left or entry.hash in view.refused:
                made.entries += [was] if was else []
                continue
            stored = self.store.memories.get(parse_id(entry.id)) if held is None else None
            if stored is not None and stored.state == "quarantined":  # it waits for a person
                made.entries.append(was or SyncedEntry(entry.id, entry.hash, ""))
                continue
            held = held or self._successor(entry.id, unplaced)
            if held is not None:
                made.entries.append(self._entry(view, entry, held, was if held.id == entry.id else None))
                continue
            self.report.removed += 1
            if parsed.group:
                page.drop(parsed, entry)
            else:
                vanishes = True
        if parsed.group and not parsed.entries and view.base and view.base.entries and not page.has_prose(parsed):
            vanishes = True
        return made, vanishes

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

    def _entry(self, view: View, entry: page.Entry, held: Memory, was: SyncedEntry | None) -> SyncedEntry:
        assert view.page is not None
        now, mark = store_hash(held), page.marked(self.matcher.mark(held.id), held)
        agreed = was is not None and entry.hash == was.file and now == was.store
        if not agreed and entry.text != (text := entry_text(held, grouped=view.group is not None)):
            page.set_entry(view.page, entry, page.shown(held.content, held.key) if view.group else held.content, mark)
            entry.text = text
            self.report.updated += 1
        elif view.group and f"{entry.mark} {entry.note}".rstrip() != mark:
            page.set_entry(view.page, entry, entry.text, mark)
        return SyncedEntry(held.id, entry.hash, now)

    def _add(self, unplaced: dict[str, Memory], files: dict[str, SyncedFile]) -> None:
        """Add an entry for each memory that has none."""
        if not unplaced:
            return
        pages: dict[page.Group, list[str]] = {}
        for name, made in files.items():
            if made.group and not self.views[name].held:
                pages.setdefault(made.group, []).append(name)
        taken = {folder.folded(name) for name in self.views}
        order = {kind: place for place, kind in enumerate(KINDS)} | {"episode": 0}
        for new in sorted(unplaced.values(), key=lambda row: (order[row.kind], row.valid_from, row.id)):
            day = (format_time(new.valid_from) or "")[:10]
            if new.kind == "episode":
                group = page.Group(month=day[:7])
            else:
                group = page.Group(topic=one_line(new.topics[0]) if new.topics else None)
            space = (place for place in pages.get(group, ()) if len(files[place].entries) < PAGE_ENTRIES)
            name = next(space, "")
            if not name:
                name, slug = folder.free_name(
                    f"episodes-{group.month}" if group.month else group.topic or "general", taken
                )
                taken.add(folder.folded(name))
                self.views[name] = View(name=name, base=None, page=page.new_page(group, slug))
                files[name] = SyncedFile(group=group)
                pages.setdefault(group, []).append(name)
            view = self.views[name]
            assert view.page is not None
            heading = day if group.month else page.HEADINGS[new.kind]
            made_entry = page.add(
                view.page, heading, page.shown(new.content, new.key), page.marked(self.matcher.mark(new.id), new)
            )
            made_entry.id = new.id
            files[name].entries.append(SyncedEntry(new.id, made_entry.hash, store_hash(new)))
            self.report.added += 1

    def _write_files(self, files: dict[str, SyncedFile], removed: set[str]) -> None:
        for name in sorted(files):
            view = self.views[name]
            if view.page is None:
                continue
            text = view.page.text()
            if name not in removed and text == view.text:
                continue
            self.report.files.append(name)
            if self.dry_run:
                continue
            if name in removed:
                if folder.take_away(self.root, name, view.text or ""):
                    del files[name]
                    continue
            elif folder.write(self.root, name, text, view.text):
                continue
            # It was written to during the sync: it stays, and the next sync compares it with the last base.
            self.report.files.remove(name)
            self.report.left.append((name, "changed just now: the next sync looks again"))
            if name in self.base.files:
                files[name] = self.base.files[name]
            else:
                del files[name]

    def _write_index(self, files: dict[str, SyncedFile]) -> None:
        texts: dict[str, str | None] = {self.index: None, folder.MORE: None}
        for name in texts:
            if os.path.lexists(self.root / name):
                texts[name], problem = folder.read(self.root, name)
                if problem:
                    self.report.left.append((name, problem))
                    return
        there = [name for name, view in self.views.items() if name in files or view.held]
        pointers = {name: self._pointer(name, files.get(name)) for name in there}
        gone = set(self.base.files) - set(there)
        index, more, ours = compose(texts[self.index], texts[folder.MORE], pointers, self.base.lines, gone)
        for (name, known), text in zip(texts.items(), (index, more), strict=True):
            if text == known:
                continue
            self.report.files.append(name)
            if self.dry_run:
                continue
            if text is None:
                folder.take_away(self.root, name, known or "")
            elif not folder.write(self.root, name, text, known):
                self.report.left.append((name, "changed just now: the next sync looks again"))
                return
        self.base.lines = ours

    def _pointer(self, name: str, made: SyncedFile | None) -> Pointer:
        memories = [self.memories[entry.id] for entry in made.entries if entry.id in self.memories] if made else []
        title, hook = name.removesuffix(".md"), ""
        if made and made.group:
            title, hook = made.group.title, "nothing now"
            if memories:  # the kinds in the page, and the beginning of its weightiest entry
                counts = Counter(memory.kind for memory in memories)
                kinds = [
                    f"{counts[kind]} {page.HEADINGS[kind].lower() if counts[kind] > 1 else kind}"
                    for kind in KINDS if counts[kind]
                ]  # fmt: skip
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
        return Pointer(name, title, hook, best)


# -- the index, as text

# The longest that MEMORY.md may be: agents load it at every start.
INDEX_BYTES = 10_240
# Characters of a line that limpet writes: about 70 of them fill the default cap.
LINE_CHARACTERS = 140
_NEW = "# Memory\n\n"
_NEW_MORE = "# More memory\n\nFiles that [MEMORY.md](MEMORY.md) has no room for, the most useful first.\n\n"


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


_NO_BRACKETS = str.maketrans("[]", "()")
_ESCAPED = {ord(mark): f"%{ord(mark):02X}" for mark in " ()%<>\t"}


def compose(
    index: str | None, more: str | None, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str]
) -> tuple[str, str | None, dict[str, str]]:  # fmt: skip
    """Return the new index, the second file (None if one is enough), and hashes of the lines that limpet wrote.

    `index`, `more`: the present texts. `ours`: hashes of the last time. `gone`: files whose lines go with them.
    """
    first = _ByHand(index if index is not None else _NEW, pointers, ours, gone)
    second = _ByHand(more if more is not None else _NEW_MORE, pointers, ours, gone)
    names = pointers.keys() - first.files - second.files
    # What is in the second file may come back: all is laid out anew, the most useful first.
    own = {name: pointers[name].line() for name in sorted(names, key=lambda name: (pointers[name].rank, name))[::-1]}
    used = list(accumulate(map(_size, own.values())))
    space, last = INDEX_BYTES - sum(map(_size, first.lines)), list[str]()
    count = len(own)
    if used and used[-1] > space:
        space -= _size(f"- [More]({folder.MORE}) — {len(own):,} more files")
        count = sum(size <= space for size in used)
        last = [f"- [More]({folder.MORE}) — {len(own) - count:,} more files"]
    lines = list(own.values())
    text = first.laid([*lines[:count], *last])
    rest = second.laid(lines[count:])
    eol = "\r\n" if "\r\n" in (index or "") else "\n"
    written = {name: digest(line) for name, line in own.items()}
    return text.replace("\n", eol), None if rest == _NEW_MORE else rest, written


def _size(line: str) -> int:
    return len(line.encode()) + 2  # with the longest line end


class _ByHand:
    """The lines of an index that people wrote, the files that these point to, and the place of limpet's lines."""

    def __init__(self, text: str, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str]) -> None:
        self.lines: list[str] = []
        self.files: set[str] = set()
        place = after = None
        for raw in text.removesuffix("\n").split("\n"):
            line = raw.removesuffix("\r")
            entry = ENTRY.match(line)
            file = unquote(entry[2]).removeprefix("./") if entry else ""
            if entry and ours.get(file) == digest(line):
                place = len(self.lines) if place is None else place
            elif file != folder.MORE and file not in gone:
                self.lines.append(line)
                if file in pointers:
                    self.files.add(file)
                    after = len(self.lines)
        # Where the first of them was, else after the last entry.
        self._place = next((at for at in (place, after) if at is not None), len(self.lines))

    def laid(self, own: list[str]) -> str:
        return "\n".join([*self.lines[: self._place], *own, *self.lines[self._place :]]) + "\n"
