"""One sync: look at both sides, tell the store, write the files, remember what both said.

Stopped at any point, the next sync goes on: what the store was told already it recognises, and a file appears whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.clock import format_time
from ..model.errors import BadInput
from ..model.ids import parse_id
from ..model.memory import KINDS, STATES, Memory
from ..remember.admit import Admitted
from ..remember.door import Door
from ..remember.write import Writer
from ..store.records import Filter
from ..text.excerpt import one_line
from ..transfer.record import digest
from . import base as bases
from . import folder, index, page
from .base import Base, FileBase, Was
from .commit import Commit
from .reconcile import Matcher, View, decide, load, said_in, store_hash, views
from .report import MirrorReport

if TYPE_CHECKING:
    from ..store.contract import Store

# Entries of one page; more begin another page about the same.
PAGE_ENTRIES = 200
# A sync that would archive more than this many memories, and more than half of all, asks first: a folder that was not
# mounted, or a checkout of another branch, is no wish to forget.
MANY_ARCHIVED = 10
PAGE = 5_000
NEVER = 1 << 62


class Sync:
    """A folder and a store, once."""

    def __init__(
        self, root: Path, base: Base, store: Store, door: Door, admit: Callable[[Mapping[str, Any]], Admitted],
        write: Callable[[Callable[[Writer], Any]], Any], make_id: Callable[[], bytes], now: Callable[[], int],
    ) -> None:  # fmt: skip
        self._root, self._base, self._store = root, base, store
        self._door, self._admit, self._write, self._make_id, self._now = door, admit, write, make_id, now
        self._memories: dict[str, Memory] = {}
        self._views: dict[str, View] = {}
        self._was: dict[str, Was] = {}
        self._report = MirrorReport(folder=str(root), scope=base.scopes[0])
        self._index, self._more = folder.INDEX, folder.MORE
        self._ledger, self._listed_at = "", 0

    def run(self, *, dry_run: bool = False, forget: bool = False, full: bool = False) -> MirrorReport:
        """`dry_run`: only say what would be done. `forget`: archive also when most of the entries are gone.
        `full`: read every file and compare everything, whatever time stamps say.

        Raises BadInput, StoreError.
        """
        began = time.time_ns()
        there = folder.look(self._root)
        trusted = 0 if full else self._trusted()
        if self._still(there, trusted):
            if not dry_run:
                self._looked(began)
            return self._report
        for name in there:
            if folder.folded(name) == folder.folded(folder.INDEX):
                self._index = name
        self._memories = self._listed()
        self._views = views(self._root, there, self._base, trusted, (self._index, self._more))
        for view in self._views.values():
            if view.held:
                self._report.left.append((view.name, view.held))
        matcher = Matcher(self._views, self._base, self._memories)
        matcher.match(self._resolve)
        tasks = decide(self._views, matcher, self._memories, self._earlier)
        gone = sum(task.what == "archive" for task in tasks)
        if gone > MANY_ARCHIVED and 2 * gone > len(matcher.was) and not forget and not dry_run:
            raise BadInput(
                f"{gone:,} of {len(matcher.was):,} entries are gone from {self._root}: nothing was done",
                hint="`--forget` archives them; or bring the files back",
            )
        self._was = matcher.was
        commit = Commit(
            self._store, self._door, self._admit, self._write, self._make_id, self._now(), root=self._root,
            base=self._base, views=self._views, memories=self._memories, place=matcher.place, report=self._report,
            dry_run=dry_run,
        )  # fmt: skip
        commit.run(tasks)
        if tasks and not dry_run:
            self._memories = self._listed()
            for id in self._memories:
                matcher.know(id)
        for view in self._views.values():
            self._report.left += [(f"{view.name}:{line}", why) for line, why in view.refused.values()]
        self._render(matcher, commit, dry_run)
        self._report.files.sort()
        self._report.left.sort()
        if not dry_run:
            folder.forget_removed(self._root, self._purged)
            self._remember_stand()
            bases.save(self._root, self._base)
            self._looked(began)
        return self._report

    # -- whether there is anything to do

    def _still(self, there: Mapping[str, folder.Seen], trusted: int) -> bool:
        """Neither side has moved since both were alike. Looks at time stamps and at one row of the store."""
        base = self._base
        if not base.ledger or not base.alike[0] <= self._now() < base.alike[1] or len(there) != len(base.files) + len(
            base.index
        ):  # fmt: skip
            return False
        for name, seen in there.items():
            known = base.files.get(name)
            mark = known.mark if known else base.index.get(name)
            if mark != seen.mark or seen.problem or seen.mark[0] >= trusted:
                return False
        return base.ledger == self._store.ledger.watermark()

    def _remember_stand(self) -> None:
        """What both sides are like now, when nothing is left to be said again."""
        base = self._base
        base.ledger, base.index, base.alike = "", {}, (0, 0)
        if self._report.left or any(one.repeats or one.refused for one in base.files.values()):
            return
        for name in (self._index, self._more):
            if os.path.lexists(self._root / name):
                base.index[name] = folder.mark_of(self._root / name)
        base.ledger = self._ledger
        base.alike = (self._listed_at, self._store.listings.next_change(self._listed_at) or NEVER)

    def _looked(self, began: int) -> None:
        """Files older than this need not be read next time."""
        os.utime(self._root / folder.OWN / "mirror.json", ns=(began, began))

    # -- the store's side

    def _listed(self) -> dict[str, Memory]:
        """What is held now in the mirror's scopes, oldest first."""
        found: dict[str, Memory] = {}
        # What is told meanwhile is told after this mark: the next sync looks.
        self._ledger, self._listed_at = self._store.ledger.watermark(), self._now()
        where = Filter(scopes=self._base.scopes, as_of=self._listed_at)
        cursor = None
        while True:
            part = self._store.listings.page(where, sort="created", limit=PAGE, cursor=cursor, descending=False)
            found.update((one.id, one) for one in part.memories)
            cursor = part.cursor
            if cursor is None:
                return found

    def _trusted(self) -> int:
        """Files that were changed before this are as the base says when their marks are."""
        try:
            return (self._root / folder.OWN / "mirror.json").stat().st_mtime_ns - folder.FRESH_NS
        except OSError:
            return 0

    def _resolve(self, mark: str) -> str | None:
        """A memory that is no longer held, by the mark of an entry that the base does not know."""
        if not hasattr(self, "_all_marks"):
            where = Filter(scopes=self._base.scopes, states=STATES)
            self._all_marks: dict[str, str] = {}
            cursor = None
            while True:
                part = self._store.listings.page(where, sort="created", limit=PAGE, cursor=cursor)
                for one in part.memories:
                    plain = one.id.replace("-", "")
                    self._all_marks[plain] = self._all_marks[plain[-12:]] = one.id
                cursor = part.cursor
                if cursor is None:
                    break
        return self._all_marks.get(mark)

    def _earlier(self, id: str, text: str) -> str | None:
        versions = self._store.memories.versions(parse_id(id)) if self._store.memories.get(parse_id(id)) else []
        if not versions or versions[-1].scope not in self._base.scopes:
            return None
        last = versions[-1]
        if last.state == "quarantined":
            return "waits"
        said = any(text in (said_in(one, "topic"), said_in(one, "")) for one in versions if one.state != "purged")
        if last.state == "archived" and said:
            return "archived"
        return "active" if said else "other"

    # -- the folder's side

    def _render(self, matcher: Matcher, commit: Commit, dry_run: bool) -> None:
        before: dict[str, str | None] = {}
        unplaced = {id: one for id, one in self._memories.items() if id not in matcher.place}
        files: dict[str, FileBase] = {}
        removed: dict[str, str | None] = {}
        for view in list(self._views.values()):
            before[view.name] = view.text
            if view.held:
                if view.base:
                    files[view.name] = view.base
                continue
            if view.page is None:
                if not self._stale(view):
                    assert view.base is not None
                    view.base.mark = view.mark
                    files[view.name] = view.base
                    continue
                load(self._root, view)
                assert view.base is not None
                if view.page is None or [e.hash for e in view.page.entries] != [was.file for was in view.base.entries]:
                    files[view.name] = view.base
                    self._report.left.append((view.name, view.held or "changed just now: the next sync looks again"))
                    view.held = view.held or "changed"
                    continue
                before[view.name] = view.text
                for entry, was in zip(view.page.entries, view.base.entries, strict=True):
                    entry.id = was.id
            made, vanishes, kept = self._file(view, matcher, commit, unplaced)
            files[view.name] = made
            if vanishes:
                removed[view.name] = kept
        self._add(unplaced, files, matcher)
        for name in [name for name in removed if files[name].group and files[name].entries]:
            del removed[name]  # it was empty, and has something new
        self._describe(files)
        self._write_files(files, before, removed, dry_run)
        self._write_index(files, dry_run)
        self._base.files = files

    def _stale(self, view: View) -> bool:
        """Whether the store says something else than at the last sync about anything in a file."""
        assert view.base is not None
        for was in view.base.entries:
            one = self._memories.get(was.id)
            if one is None or store_hash(one) != was.store:
                return one is not None or not self._waits(was.id)
        return False

    def _purged(self, id: str) -> bool:
        one = self._store.memories.get(parse_id(id))
        return one is not None and one.state == "purged"

    def _waits(self, id: str) -> bool:
        one = self._store.memories.get(parse_id(id))
        return one is not None and one.state == "quarantined"

    def _file(
        self, view: View, matcher: Matcher, commit: Commit, unplaced: dict[str, Memory]
    ) -> tuple[FileBase, bool, str | None]:
        """Bring a file that was read to what the store says. The second: to be removed; the third: kept aside, as the
        last copy of this memory.
        """
        found = view.page
        assert found is not None
        made = FileBase(
            mark=view.mark, whole=digest(view.text or ""), group=found.group, front=found.front_hash(),
            about=view.base.about if view.base else "",
            repeats=list(dict.fromkeys(view.repeats)), refused=view.refused,
        )  # fmt: skip
        vanishes, kept = False, None
        for entry in list(found.entries):
            if entry.id is None:
                continue
            was = self._was.get(entry.id)
            one = self._memories.get(entry.id)
            if id(entry) in commit.refused or entry.hash in view.refused:
                if was:
                    made.entries.append(was)
                continue
            if one is None and entry.id in unplaced:
                one = unplaced[entry.id]
            if one is None and self._waits(entry.id):
                made.entries.append(was or Was(entry.id, entry.hash, ""))
                continue
            if one is None:
                one = self._successor(entry.id, unplaced)
                if one is None:
                    self._report.removed += 1
                    if found.group:
                        page.drop(found, entry)
                    else:
                        gone = self._store.memories.get(parse_id(entry.id))
                        vanishes, kept = True, None if gone and gone.state == "purged" else entry.id
                    continue
            made.entries.append(self._entry(view, entry, one, was if one.id == entry.id else None, matcher))
        if found.group and not found.entries and view.base and view.base.entries and not page.has_prose(found):
            vanishes = True
        return made, vanishes, kept

    def _successor(self, id: str, unplaced: dict[str, Memory]) -> Memory | None:
        """What replaced a memory takes its place."""
        for _ in range(100):
            gone = self._store.memories.get(parse_id(id))
            if gone is None or gone.superseded_by is None:
                return None
            id = gone.superseded_by
            if id in unplaced:
                return unplaced.pop(id)
        return None

    def _entry(self, view: View, entry: page.Entry, one: Memory, was: Was | None, matcher: Matcher) -> Was:
        assert view.page is not None
        now, mark = store_hash(one), matcher.mark(one.id)
        agreed = was is not None and entry.hash == was.file and now == was.store
        if not agreed and entry.text != said_in(one, view.group):
            page.set_entry(view.page, entry, page.shown(one.content, one.key) if view.group else one.content, mark)
            entry.text = said_in(one, view.group)
            self._report.updated += 1
        elif view.group and entry.mark != mark:
            page.set_entry(view.page, entry, entry.text, mark)
        return Was(one.id, entry.hash, now)

    def _add(self, unplaced: dict[str, Memory], files: dict[str, FileBase], matcher: Matcher) -> None:
        """An entry for each memory that has none."""
        if not unplaced:
            return
        pages: dict[str, list[str]] = {}
        for name, made in files.items():
            if made.group and not self._views[name].held:
                pages.setdefault(made.group, []).append(name)
        taken = {folder.folded(name) for name in (*self._views, self._index, self._more)}
        order = {kind: place for place, kind in enumerate(KINDS)}
        for one in sorted(
            unplaced.values(), key=lambda one: (order[one.kind] if one.kind != "episode" else 0, one.valid_from, one.id)
        ):
            group = _group(one)
            room = (place for place in pages.get(str(group), ()) if len(files[place].entries) < PAGE_ENTRIES)
            name = next(room, "")
            if not name:
                name, slug = folder.free_name(_wanted(group, self._base.scopes[0]), taken)
                taken.add(folder.folded(name))
                self._views[name] = View(
                    name=name, mark=(0, 0, 0), base=None, page=page.new_page(group, slug, group.title)
                )  # fmt: skip
                files[name] = FileBase(group=str(group), about=digest(group.title))
                pages.setdefault(str(group), []).append(name)
            view = self._views[name]
            if view.page is None:
                load(self._root, view)
                if view.page is None or [e.hash for e in view.page.entries] != [
                    was.file for was in files[name].entries
                ]:
                    continue  # it was changed just now: the next sync adds it
                for entry, was in zip(view.page.entries, files[name].entries, strict=True):
                    entry.id = was.id
            heading = (format_time(one.valid_from) or "")[:10] if group.month else page.HEADINGS[one.kind]
            made_entry = page.add(view.page, heading, page.shown(one.content, one.key), matcher.mark(one.id))
            made_entry.id = one.id
            files[name].entries.append(Was(one.id, made_entry.hash, store_hash(one)))
            self._report.added += 1

    def _describe(self, files: dict[str, FileBase]) -> None:
        """Pages say in their front matter what they are about, as long as nobody else said it."""
        for name, made in files.items():
            if not made.group or self._views[name].held or not made.about:
                continue
            view = self._views[name]
            said = self._about([self._memories[one.id] for one in made.entries if one.id in self._memories])
            if view.page is None and digest(said) == made.about:
                continue
            if view.page is None:
                load(self._root, view)
            if view.page is None:
                continue
            there = view.page.front.values.get("description")
            if not isinstance(there, str) or digest(there) != made.about:
                made.about = ""
            elif there != said and page.describe(view.page, said):
                made.about = digest(said)
            made.front = page.read(view.page.text()).front_hash()

    def _about(self, memories: list[Memory]) -> str:
        """The kinds in a page, and what its weightiest entry begins with."""
        if not memories:
            return "nothing now"
        counts = {kind: sum(one.kind == kind for one in memories) for kind in KINDS}
        said = ", ".join(
            f"{count} {page.HEADINGS[kind].lower() if count > 1 else kind}" for kind, count in counts.items() if count
        )
        first = max(memories, key=lambda one: (one.pinned, one.importance, one.valid_from, one.id))
        text = f"{first.key}: {first.content}" if first.key else first.content
        return f"{said}: {one_line(text)[:80].strip()}"

    def _write_files(
        self, files: dict[str, FileBase], before: dict[str, str | None], removed: dict[str, str | None], dry_run: bool
    ) -> None:
        for name in sorted(files):
            view = self._views[name]
            if view.held or view.page is None:
                continue
            known = before.get(name) if name in before else None
            if known is None and name in before:
                known = view.text
            text = view.page.text()
            if name in removed:
                self._report.files.append(name)
                if dry_run:
                    continue
                if folder.take_away(self._root, name, known or "", keep=removed[name]):
                    del files[name]
                else:
                    self._postpone(files, name)
            elif text != known:
                self._report.files.append(name)
                if dry_run:
                    continue
                mark = folder.write(self._root, name, text, known)
                if mark is None:
                    self._postpone(files, name)
                else:
                    files[name].mark, files[name].whole, view.text = mark, digest(text), text

    def _postpone(self, files: dict[str, FileBase], name: str) -> None:
        """Somebody wrote to a file during the sync: it stays, and the next sync compares it with the last base."""
        self._report.files.remove(name)
        self._report.left.append((name, "changed just now: the next sync looks again"))
        was = self._base.files.get(name)
        if was is None:
            del files[name]
        else:
            files[name] = was

    # -- the index

    def _write_index(self, files: dict[str, FileBase], dry_run: bool) -> None:
        texts = {}
        for name in (self._index, self._more):
            text, _, problem = folder.read(self._root, name) if os.path.lexists(self._root / name) else (None, 0, None)
            if problem:
                self._report.left.append((name, problem))
                return
            texts[name] = text
        there = {name: view for name, view in self._views.items() if name in files or view.held}
        pointers = {name: self._pointer(name, files.get(name)) for name in there}
        gone = set(self._base.files) - set(there)
        made = index.compose(
            texts[self._index], texts[self._more], pointers, self._base.lines, gone, self._base.index_bytes
        )  # fmt: skip
        for name, text in ((self._index, made.text), (self._more, made.more)):
            known = texts[name]
            if text == known:
                continue
            self._report.files.append(name)
            if dry_run:
                continue
            if text is None:
                folder.take_away(self._root, name, known or "")
            elif folder.write(self._root, name, text, known) is None:
                self._report.left.append((name, "changed just now: the next sync looks again"))
                return
        self._base.lines = made.ours

    def _pointer(self, name: str, made: FileBase | None) -> index.Pointer:
        memories = [self._memories[one.id] for one in made.entries if one.id in self._memories] if made else []
        title, hook = name.removesuffix(".md"), ""
        if made and made.group:
            title, hook = page.group(made.group).title, self._about(memories)
        elif memories:
            said = memories[0].metadata
            named = [said.get(one) for one in ("title", "name")]
            title = next((one for one in named if isinstance(one, str) and one.strip()), title)
            hooks = [said.get(one) for one in ("hook", "description")]
            hook = next((one for one in hooks if isinstance(one, str) and one.strip()), memories[0].content)
        best = max((_useful(one) for one in memories), default=(0.0, 0.0, 0.0))
        return index.Pointer(name, title, hook, best)


def _useful(one: Memory) -> tuple[float, ...]:
    """Pinned first, then by importance and use, then the newest."""
    return (float(one.pinned), one.importance * (1 + min(one.uses, 20) / 10), float(one.valid_from))


def _group(one: Memory) -> page.Group:
    if one.kind == "episode":
        return page.Group(one.scope, month=(format_time(one.valid_from) or "")[:7])
    return page.Group(one.scope, topic=one_line(one.topics[0]) if one.topics else None)


def _wanted(group: page.Group, home: str) -> str:
    """The name a page would like to have."""
    name = f"episodes-{group.month}" if group.month else group.topic or "general"
    return name if group.scope == home else f"{group.scope}-{name}"
