"""One sync: look at both sides, tell the store, write the files, remember what both said.

Stopped at any point, the next sync goes on: what the store was told already it recognises, and a file appears whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...model.ids import parse_id
from ...model.memory import STATES, Memory
from ...store.records import Filter
from . import OWN, STATE, folder
from . import state as states
from .commit import Commit
from .reconcile import Matcher, View, decide, said_in, short, views
from .render import Render
from .state import MirrorReport, SyncState

if TYPE_CHECKING:
    from ...context import Context

# A sync that would archive more than this many memories, and more than half of all, asks first: a folder that was not
# mounted, or a checkout of another branch, is no wish to forget.
MANY_ARCHIVED = 10
PAGE = 5_000
NEVER = 1 << 62


class Sync:
    """A folder and a store, once."""

    def __init__(self, root: Path, base: SyncState, context: Context) -> None:
        self._root, self._base, self._context = root, base, context
        self._memories: dict[str, Memory] = {}
        self._views: dict[str, View] = {}
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
                hint="bring the files back, or forget=True archives the entries; `limpet undo` and another sync then "
                "write them anew",
            )
        commit = Commit(
            self._context, root=self._root, base=self._base, views=self._views, memories=self._memories,
            place=matcher.place, report=self._report, dry_run=dry_run,
        )  # fmt: skip
        commit.run(tasks)
        if tasks and not dry_run:
            self._memories = self._listed()
            for id in self._memories:
                matcher.know(id)
        for view in self._views.values():
            self._report.left += [(f"{view.name}:{line}", why) for line, why in view.refused.values()]
        Render(
            self._root, self._base, self._context.store, views=self._views, memories=self._memories, matcher=matcher,
            refused=commit.refused, report=self._report, indexes=(self._index, self._more), dry_run=dry_run,
        ).run()  # fmt: skip
        self._report.files.sort()
        self._report.left.sort()
        if not dry_run:
            folder.forget_removed(self._root, self._purged)
            self._remember_stand()
            states.save(self._root, self._base)
            self._looked(began)
        return self._report

    # -- whether there is anything to do

    def _still(self, there: Mapping[str, folder.Seen], trusted: int) -> bool:
        """Neither side has moved since both were alike. Looks at time stamps and at one row of the store."""
        base = self._base
        if not base.ledger or not base.alike[0] <= self._context.now() < base.alike[1]:
            return False
        if len(there) != len(base.files) + len(base.index):
            return False
        for name, seen in there.items():
            known = base.files.get(name)
            mark = known.mark if known else base.index.get(name)
            if mark != seen.mark or seen.problem or seen.mark[0] >= trusted:
                return False
        return base.ledger == self._context.store.ledger.watermark()

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
        base.alike = (self._listed_at, self._context.store.listings.next_change(self._listed_at) or NEVER)

    def _looked(self, began: int) -> None:
        """Files older than this need not be read next time."""
        os.utime(self._root / OWN / STATE, ns=(began, began))

    # -- the store's side

    def _listed(self) -> dict[str, Memory]:
        """What is held now in the mirror's scopes, oldest first."""
        # What is told meanwhile is told after this mark: the next sync looks.
        self._ledger, self._listed_at = self._context.store.ledger.watermark(), self._context.now()
        where = Filter(scopes=self._base.scopes, as_of=self._listed_at)
        return {memory.id: memory for memory in self._context.store.listings.each(where, descending=False)}

    def _trusted(self) -> int:
        """Files that were changed before this are as the base says when their marks are."""
        try:
            return (self._root / OWN / STATE).stat().st_mtime_ns - folder.FRESH_NS
        except OSError:
            return 0

    def _resolve(self, mark: str) -> str | None:
        """A memory that is no longer held, by the mark of an entry that the base does not know."""
        return self._all_marks.get(mark)

    @cached_property
    def _all_marks(self) -> dict[str, str]:
        """Every memory that ever was, by what an entry may have as its mark."""
        marks: dict[str, str] = {}
        for memory in self._context.store.listings.each(Filter(scopes=self._base.scopes, states=STATES)):
            marks[memory.id.replace("-", "")] = marks[short(memory.id)] = memory.id
        return marks

    def _earlier(self, id: str, text: str) -> str | None:
        memories = self._context.store.memories
        versions = memories.versions(parse_id(id)) if memories.get(parse_id(id)) else []
        if not versions or versions[-1].scope not in self._base.scopes:
            return None
        state = versions[-1].state
        if state == "quarantined":
            return "waits"
        said = any(text in (said_in(one, "topic"), said_in(one, "")) for one in versions if one.state != "purged")
        return "other" if not said else "archived" if state == "archived" else "active"

    def _purged(self, id: str) -> bool:
        one = self._context.store.memories.get(parse_id(id))
        return one is not None and one.state == "purged"
