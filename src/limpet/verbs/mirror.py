"""The Markdown copy of a scope that people read and edit: made, synced, looked at."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import BadInput, NotFound, StoreBusy, StoreError
from ..model.memory import GLOBAL_SCOPE, check_origin
from ..store.records import Filter
from .base import Base

if TYPE_CHECKING:
    from ..mirror.report import MirrorReport

# Memories that a topic's page shows on request, the newest; a mirror shows all.
TOPIC_ENTRIES = 200


class Mirrors(Base):
    """Verbs of the mirror."""

    def mirror_init(
        self,
        path: str | os.PathLike[str],
        *,
        author: str = "user",
        index_bytes: int | None = None,
        with_global: bool = False,
    ) -> MirrorReport:
        """Make a folder the mirror of this scope, and sync it. What is in it becomes memory, and nothing of it is lost.

        `author`: the origin of what files say, unless a file names its own. `index_bytes`: the cap of MEMORY.md.
        `with_global`: mirror the scope `global` too. Again: other settings. Raises BadInput, StoreError.
        """
        from ..mirror import base, folder

        check_origin(author)
        cap = base.DEFAULT_INDEX_BYTES if index_bytes is None else index_bytes
        if isinstance(cap, bool) or not base.LEAST_INDEX_BYTES <= cap <= 10_000_000:
            raise BadInput(f"index_bytes must be from {base.LEAST_INDEX_BYTES} to 10000000, not {cap!r}")
        if self._store.path == ":memory:":
            raise BadInput("a store in memory has no mirror", hint="open a store in a file")
        root = folder.open_root(Path(path), make=True)
        scopes = tuple(dict.fromkeys((self.scope, *([GLOBAL_SCOPE] if with_global else []))))
        with folder.locked(root):
            known = base.load(root)
            store = str(Path(self._store.path).resolve())
            if known is not None and (known.scopes[0] != self.scope or known.store != store):
                raise BadInput(
                    f"{root} mirrors {known.scopes[0]} of {known.store}",
                    hint=f"to bind it anew, remove {root / folder.OWN / 'mirror.json'}; entries keep their marks",
                )
            made = base.Base(store=store, scopes=scopes, author=author, index_bytes=cap)
            if known is not None:
                made.files, made.lines = known.files, known.lines
            base.save(root, made)
            os.utime(root / folder.OWN / "mirror.json", ns=(0, 0))
            self._note_mirror(root)
        return self.mirror_sync(root)

    def mirror_sync(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
    ) -> MirrorReport:
        """Bring a mirror and the store together: changes of either side reach the other, conflicts go to review.

        `dry_run`: only say what would be done. `forget`: also archive when most entries are gone from the folder.
        `full`: read every file and compare everything; else what has its old time stamps is taken to be unchanged.
        Raises BadInput (no mirror, or of another store), StoreBusy, StoreError.
        """
        from ..mirror import base, folder
        from ..mirror.sync import Sync

        root = folder.open_root(Path(path), make=False)
        if not (root / folder.OWN).is_dir():
            raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
        with folder.locked(root):
            known = base.load(root)
            if known is None:
                raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
            if known.store != str(Path(self._store.path).resolve()):
                raise BadInput(f"{root} mirrors {known.store}", hint=f"limpet --store {known.store} mirror sync")
            home = self.in_scope(known.scopes[0])
            sync = Sync(
                root,
                known,
                home._store,
                home._door,
                home._admit,
                home._write,
                lambda: self._ids.make(self._clock.now()),
                self._clock.now,
            )
            return sync.run(dry_run=dry_run, forget=forget, full=full)

    def mirror_watch(
        self, path: str | os.PathLike[str], *, stop: threading.Event | None = None
    ) -> Iterator[MirrorReport]:
        """Sync now, and again whenever the folder or the store changes, until `stop` is set. A report each time.

        A sync that finds the store or the folder busy is tried again at the next change. Raises BadInput.
        """
        from ..mirror.watch import changes

        root = Path(path).resolve()
        yield self.mirror_sync(root)
        for _ in changes(root, self._store.data_version, stop or threading.Event()):
            try:
                yield self.mirror_sync(root)
            except StoreBusy:
                continue

    def read_topic(self, topic: str) -> str:
        """What this scope and `global` hold about a topic, as the Markdown of a mirror. Raises NotFound."""
        from ..mirror import page
        from ..remember.admit import check_topics

        where = Filter(scopes=self._scopes, topics=check_topics([topic]), as_of=self._clock.now())
        found = self._store.listings.page(where, sort="created", limit=TOPIC_ENTRIES, cursor=None).memories
        if not found:
            raise NotFound(f"nothing is remembered about {topic}", hint="`limpet recall` finds by meaning")
        return page.topic_text(topic, found)

    def mirrors(self) -> list[str]:
        """The folders that mirror this scope, and are there."""
        from ..mirror import base

        found = []
        for name in self._noted():
            try:
                known = base.load(Path(name))
            except (BadInput, StoreError):
                continue
            if known is not None and known.scopes[0] == self.scope:
                found.append(name)
        return found

    def _note_mirror(self, root: Path) -> None:
        """Beside the store, so that `sync` need not be told where: a list of folders, nothing else."""
        noted = self._noted()
        if str(root) in noted:
            return
        place = Path(self._store.path + ".mirrors")
        try:
            place.write_text(json.dumps(sorted([*noted, str(root)]), ensure_ascii=False), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot write {place}: {error.strerror}") from None

    def _noted(self) -> list[str]:
        try:
            noted = json.loads(Path(self._store.path + ".mirrors").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [one for one in noted if isinstance(one, str)] if isinstance(noted, list) else []
