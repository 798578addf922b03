"""The Markdown copy of a scope that people read and edit. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...folders import beside, resolved
from ...model.errors import BadInput, LimpetError, NotFound, StoreBusy, StoreError
from ...model.memory import GLOBAL_SCOPE, check_origin
from ...store.files import write_own
from ...store.records import Filter
from .edits import changed_at

if TYPE_CHECKING:
    from ...context import Context
    from .report import MirrorReport

# Memories that a topic's page shows on request, the newest; a mirror shows all.
TOPIC_ENTRIES = 200
# Files of a folder that a recall looks at, about a millisecond; a session's start and a server look at any number.
SEEN_BY_RECALLS = 200


def mirror_init(
    context: Context, path: str | os.PathLike[str], *, author: str, index_bytes: int | None, with_global: bool
) -> MirrorReport:
    from . import folder, state

    check_origin(author)
    cap = state.DEFAULT_INDEX_BYTES if index_bytes is None else index_bytes
    if isinstance(cap, bool) or not state.LEAST_INDEX_BYTES <= cap <= 10_000_000:
        raise BadInput(f"index_bytes must be from {state.LEAST_INDEX_BYTES} to 10000000, not {cap!r}")
    if context.store.path == ":memory:":
        raise BadInput("a store in memory has no mirror", hint="open a store in a file")
    root = folder.open_root(Path(path), make=True)
    scopes = tuple(dict.fromkeys((context.scope, *([GLOBAL_SCOPE] if with_global else []))))
    with folder.locked(root):
        known = state.load(root)
        store = resolved(context.store.path)
        if known is not None and (known.scopes[0] != context.scope or known.store != store):
            raise BadInput(
                f"{root} mirrors {known.scopes[0]} of {known.store}",
                hint=f"to bind it anew, remove {root / folder.OWN / 'mirror.json'}; entries keep their marks",
            )
        made = state.SyncState(store=store, scopes=scopes, author=author, index_bytes=cap)
        if known is not None:
            made.files, made.lines = known.files, known.lines
        if not context.store.begun:
            context.write(lambda _: None)  # what is noted beside a store needs one
        state.save(root, made)
        os.utime(root / folder.OWN / "mirror.json", ns=(0, 0))
        _note_mirror(context, root)
    return mirror_sync(context, root)


def mirror_sync(
    context: Context, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
) -> MirrorReport:
    from . import folder, state
    from .sync import Sync

    root = folder.open_root(Path(path), make=False)
    if not (root / folder.OWN).is_dir():
        raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
    with folder.locked(root):
        known = state.load(root)
        if known is None:
            raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
        if known.store != resolved(context.store.path):
            raise BadInput(f"{root} mirrors {known.store}", hint=f"limpet --store {known.store} mirror sync")
        home = context.in_scope(known.scopes[0])
        sync = Sync(root, known, home)
        return sync.run(dry_run=dry_run, forget=forget, full=full)


def take_in_edits(context: Context, *, most: int | None = None) -> None:
    if context.store.read_only:
        return
    for name in noted(context):
        at = changed_at(name, most=most)
        # What cannot be taken in now (a busy folder, one that lost most of its entries) is tried at the next change.
        if at is None or context.edits_seen.get((context.scope, name)) == at:
            continue
        context.edits_seen[context.scope, name] = at
        with suppress(LimpetError):
            if name in mirrors(context):
                mirror_sync(context, name)


def take_in_edits_seen_by_recalls(context: Context) -> None:
    """Bring in edits of folders that are small enough for each recall to look at."""
    take_in_edits(context, most=SEEN_BY_RECALLS)


def synced_mirrors(context: Context, *, refresh: bool) -> list[str]:
    """List the folders of all mirrors of the store. `refresh`: sync them before."""
    folders = noted(context)
    for folder in folders if refresh else ():
        with suppress(LimpetError):  # a folder that is not there, or is in use: what it holds is named
            mirror_sync(context, folder)
    return folders


def mirror_watch(
    context: Context, path: str | os.PathLike[str], *, stop: threading.Event | None
) -> Iterator[MirrorReport]:
    from .watch import changes

    root = Path(path).resolve()
    yield mirror_sync(context, root)
    for _ in changes(root, context.store.data_version, stop or threading.Event()):
        try:
            yield mirror_sync(context, root)
        except StoreBusy:
            continue


def read_topic(context: Context, topic: str) -> str:
    from ...remember.validation import check_topics
    from . import page

    where = Filter(scopes=context.scopes, topics=check_topics([topic]), as_of=context.now())
    found = context.store.listings.page(where, sort="created", limit=TOPIC_ENTRIES, cursor=None).memories
    if not found:
        raise NotFound(f"nothing is remembered about {topic}", hint="`limpet recall` finds by meaning")
    return page.topic_text(topic, found)


def mirrors(context: Context) -> list[str]:
    from . import state

    found = []
    for name in noted(context):
        try:
            known = state.load(Path(name))
        except (BadInput, StoreError):
            continue
        if known is not None and known.scopes[0] == context.scope:
            found.append(name)
    return found


def _note_mirror(context: Context, root: Path) -> None:
    """Beside the store, so that `sync` need not be told where: a list of folders, nothing else."""
    known = noted(context)
    if str(root) in known:
        return
    place = Path(beside(context.store.path) + ".mirrors")
    write_own(place, json.dumps(sorted([*known, str(root)]), ensure_ascii=False).encode())


def noted(context: Context) -> list[str]:
    """The folders of all mirrors of the store, of whatever scope."""
    try:
        with open(beside(context.store.path) + ".mirrors", encoding="utf-8") as file:  # noqa: PTH123 - each recall looks: a Path takes longer
            listed = json.load(file)
    except (OSError, ValueError):
        return []
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
