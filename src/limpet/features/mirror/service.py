"""The Markdown copy of a scope that people read and edit. The contracts are those of the functions in `__init__.py`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...folders import beside, resolved
from ...model.errors import BadInput, LimpetError, NotFound, StoreBusy, StoreError
from ...model.memory import GLOBAL_SCOPE, check_origin
from ...store.files import write_own
from ...store.records import Filter
from . import OWN, STATE

if TYPE_CHECKING:
    from ...context import Context
    from .state import MirrorReport

# Memories that a topic's page shows on request, the newest; a mirror shows all.
TOPIC_ENTRIES = 200
# A change is taken up when the folder has been still for this long: an editor writes in several steps.
STILL_MS = 400
# How often a watch looks at the store while nothing happens in the folder.
STORE_EVERY_MS = 2_000
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
                hint=f"to bind it anew, remove {root / OWN / 'mirror.json'}; entries keep their marks",
            )
        made = state.SyncState(store=store, scopes=scopes, author=author, index_bytes=cap)
        if known is not None:
            made.files, made.lines = known.files, known.lines
        if not context.store.begun:
            context.write(lambda _: None)  # what is noted beside a store needs one
        state.save(root, made)
        os.utime(root / OWN / STATE, ns=(0, 0))
        known_folders = noted(context)
        if str(root) not in known_folders:  # beside the store, so that `sync` need not be told where
            place = Path(beside(context.store.path) + ".mirrors")
            write_own(place, json.dumps(sorted([*known_folders, str(root)]), ensure_ascii=False).encode())
    return mirror_sync(context, root)


def mirror_sync(
    context: Context, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
) -> MirrorReport:
    from . import folder, state
    from .syncing import Sync

    root = folder.open_root(Path(path), make=False)
    if not (root / OWN / STATE).exists():
        raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
    with folder.locked(root):
        known = state.load(root)
        assert known is not None
        if known.store != resolved(context.store.path):
            raise BadInput(f"{root} mirrors {known.store}", hint=f"limpet --store {known.store} mirror sync")
        return Sync(root, known, context.in_scope(known.scopes[0])).run(dry_run=dry_run, forget=forget, full=full)


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
    root = Path(path).resolve()
    yield mirror_sync(context, root)
    for _ in _changes(root, context.store.data_version, stop or threading.Event()):
        with suppress(StoreBusy):
            yield mirror_sync(context, root)


def _changes(root: Path, store_version: Callable[[], int], stop: threading.Event) -> Iterator[None]:
    """Yield when something changed on either side, until `stop`. Raises BadInput without the package watchfiles."""
    try:
        from watchfiles import watch
    except ImportError:
        raise BadInput("watching needs the package watchfiles", hint='pip install "limpet[watch]"') from None

    def is_page(_: object, path: str) -> bool:
        return Path(path).suffix.lower() == ".md" and OWN not in Path(path).parts

    seen = store_version()
    for changed in watch(
        root, watch_filter=is_page, debounce=1_600, step=STILL_MS, stop_event=stop, rust_timeout=STORE_EVERY_MS,
        yield_on_timeout=True, recursive=False, raise_interrupt=False,
    ):  # fmt: skip
        if changed or store_version() != seen:
            yield
            seen = store_version()


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


def noted(context: Context) -> list[str]:
    """The folders of all mirrors of the store, of whatever scope."""
    try:
        with open(beside(context.store.path) + ".mirrors", encoding="utf-8") as file:  # noqa: PTH123 - each recall looks: a Path takes longer
            listed = json.load(file)
    except (OSError, ValueError):
        return []
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def changed_at(root: str, *, most: int | None) -> int | None:
    """When a file of the folder, or which files there are, last changed, in nanoseconds.

    None: not since the last sync, it is no mirror, or it holds more than `most` files and looking would take long.
    """
    try:
        synced = os.stat(f"{root}/{OWN}/{STATE}").st_mtime_ns  # noqa: PTH116
        newest = os.stat(root).st_mtime_ns  # noqa: PTH116
        with os.scandir(root) as items:
            for count, one in enumerate(items):
                if most is not None and count >= most:
                    return None
                if one.name.lower().endswith(".md"):
                    newest = max(newest, one.stat(follow_symlinks=False).st_mtime_ns)
    except OSError:
        return None
    return newest if newest > synced else None
