"""The Markdown copy of a scope that people read and edit. `page` and `render` make its text, `folder` its files and the
state at the last sync, `reconcile` compares, `syncing` writes to the store. Read first: `page`, then `syncing`."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from ...folders import beside, resolved
from ...model.errors import BadInput, LimpetError, NotFound, StoreBusy, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from ...api import Limpet
    from ...context import Context
    from .folder import MirrorReport

OWN = ".limpet"  # the mirror's own folder in it: what was last alike, the lock
STATE = "mirror.json"  # in there; its time is that of the last sync
# The newest memories that `read_topic` shows; a mirror shows all.
TOPIC_ENTRIES = 200
# A change is synced when the folder has been still for this long: editors write in several steps.
STILL_MS = 400
# How often a watch looks at the store while nothing happens in the folder.
STORE_EVERY_MS = 2_000
# Files of a folder that a recall looks at, about a millisecond; a session's start and a server look at any number.
SEEN_BY_RECALLS = 200


def init(memory: Limpet, path: str | os.PathLike[str], *, author: str = "user") -> MirrorReport:
    """Make a folder the mirror of this scope, and sync it. What is in it becomes memory, and nothing of it is lost.

    `author`: the origin of what files say, unless a file names its own. Again: another author. Raises BadInput,
    StoreError.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> _ = init(memory, "notes")
    >>> (Path("notes") / "MEMORY.md").is_file()
    True
    """
    from pathlib import Path

    from ...model.memory import check_origin
    from ...store.files import write_own
    from . import folder

    context = memory._context
    check_origin(author)
    if context.store.path == ":memory:":
        raise BadInput("a store in memory has no mirror", hint="open a store in a file")
    root = folder.open_root(Path(path), make=True)
    with folder.locked(root):
        new = folder.SyncState(store=resolved(context.store.path), scope=context.scope)
        state = folder.load(root) or new
        if (state.scope, state.store) != (new.scope, new.store):
            raise BadInput(
                f"{root} mirrors {state.scope} of {state.store}",
                hint=f"to bind it anew, remove {root / OWN / STATE}; entries keep their marks",
            )
        state.author = author
        if not context.store.database.begun:
            context.write(lambda _: None)  # what is noted beside a store needs one
        folder.save(root, state)
        noted = _noted(context)
        if str(root) not in noted:  # beside the store, so that `sync` need not be told where
            place = Path(beside(context.store.path) + ".mirrors")
            write_own(place, json.dumps(sorted([*noted, str(root)]), ensure_ascii=False).encode())
    return sync_folder(context, root)


def sync(memory: Limpet, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False) -> MirrorReport:
    """Sync a mirror with the store: changes of either side reach the other, conflicts go to review.

    `dry_run`: only say what would be done. `forget`: also archive when most entries are gone from the folder.
    Raises BadInput (no mirror, or of another store), StoreBusy, StoreError.

    >>> _ = init(memory, "notes")
    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> sync(memory, "notes").added
    1
    """
    return sync_folder(memory._context, path, dry_run=dry_run, forget=forget)


def sync_folder(
    context: Context, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False
) -> MirrorReport:
    from pathlib import Path

    from . import folder
    from .syncing import Sync

    root = folder.open_root(Path(path), make=False)
    if not (root / OWN / STATE).exists():
        raise BadInput(f"{root} is no mirror", hint=f"limpet mirror init {root}")
    with folder.locked(root):
        known = folder.load(root)
        assert known is not None
        if known.store != resolved(context.store.path):
            raise BadInput(f"{root} mirrors {known.store}", hint=f"limpet --store {known.store} mirror sync")
        return Sync(root, known, context.in_scope(known.scope)).run(dry_run=dry_run, forget=forget)


def take_in_edits(memory: Limpet) -> None:
    """Take in what people changed in the folders of this scope's mirrors, if anything did, as `sync` would.

    A recall and a brief do so by themselves, of folders of up to 200 files. What cannot be taken in now waits;
    `sync` says why.

    >>> take_in_edits(memory)
    """
    take_in_edits_seen_by_recalls(memory._context, any_size=True)


def take_in_edits_seen_by_recalls(context: Context, *, any_size: bool = False) -> None:
    """Take in edits of folders that are small enough for each recall to look at."""
    if context.store.read_only:
        return
    for name in _noted(context):
        at = _changed_at(name, None if any_size else SEEN_BY_RECALLS)
        # A folder that is busy or lost most of its entries is tried again at the next change.
        if at is None or context.edits_seen.get((context.scope, name)) == at:
            continue
        context.edits_seen[context.scope, name] = at
        with suppress(LimpetError):
            if name in mirrors_of(context):
                sync_folder(context, name)


def synced_mirrors(context: Context, *, refresh: bool) -> list[str]:
    """List the folders of all mirrors of the store. `refresh`: sync them before."""
    folders = _noted(context)
    for folder in folders if refresh else ():
        with suppress(LimpetError):  # a folder that is not there, or is in use: what it holds is named
            sync_folder(context, folder)
    return folders


def watch(
    memory: Limpet, path: str | os.PathLike[str], *, stop: threading.Event | None = None
) -> Iterator[MirrorReport]:
    """Sync now, and again whenever the folder or the store changes, until `stop` is set. A report each time.

    A sync that finds the store or the folder busy is tried again at the next change. Raises BadInput.

    >>> _ = init(memory, "notes")
    >>> for report in watch(memory, "notes"):
    ...     break  # after the first sync
    """
    from pathlib import Path

    context, root = memory._context, Path(path).resolve()
    yield sync_folder(context, root)
    try:
        import watchfiles
    except ImportError:
        raise BadInput("watching needs the package watchfiles", hint='pip install "limpet[watch]"') from None
    seen = context.store.data_version()
    for changed in watchfiles.watch(
        root, watch_filter=lambda _, file: file.lower().endswith(".md"), debounce=1_600, step=STILL_MS, stop_event=stop,
        rust_timeout=STORE_EVERY_MS, yield_on_timeout=True, recursive=False, raise_interrupt=False,
    ):  # fmt: skip
        if changed or context.store.data_version() != seen:
            with suppress(StoreBusy):
                yield sync_folder(context, root)
            seen = context.store.data_version()


def read_topic(memory: Limpet, topic: str) -> str:
    """Return the memories of this scope and `global` about a topic, as the Markdown of a mirror. Raises NotFound.

    >>> _ = memory.remember("Deploys go out on Tuesdays", topics=["deploy"])
    >>> "Tuesdays" in read_topic(memory, "deploy")
    True
    """
    from ...model.memory import Filter
    from ...remember.validation import check_topics
    from . import page

    context = memory._context
    where = Filter(scopes=context.scopes, topics=check_topics([topic]), as_of=context.now())
    memories = context.store.listings.page(where, sort="created", limit=TOPIC_ENTRIES, cursor=None).memories
    if not memories:
        raise NotFound(f"nothing is remembered about {topic}", hint="`limpet recall` finds by meaning")
    return page.topic_text(topic, memories)


def mirrors(memory: Limpet) -> list[str]:
    """Return the existing folders that mirror this scope.

    >>> _ = init(memory, "notes")
    >>> [Path(one).name for one in mirrors(memory)]
    ['notes']
    """
    return mirrors_of(memory._context)


def mirrors_of(context: Context) -> list[str]:
    from pathlib import Path

    from . import folder

    folders = []
    for name in _noted(context):
        with suppress(BadInput, StoreError):
            known = folder.load(Path(name))
            if known is not None and known.scope == context.scope:
                folders.append(name)
    return folders


def _noted(context: Context) -> list[str]:
    """Return the folders of all mirrors of the store, of any scope."""
    try:
        with open(beside(context.store.path) + ".mirrors", encoding="utf-8") as file:  # noqa: PTH123 - each recall looks: a Path takes longer
            listed = json.load(file)
    except (OSError, ValueError):
        return []
    return [folder for folder in listed if isinstance(folder, str)] if isinstance(listed, list) else []


def _changed_at(root: str, most: int | None) -> int | None:
    """Return the time of the last change of the folder or a file in it, in nanoseconds; None if that is before the last
    sync, there is no mirror, or it holds more than `most` files."""
    try:
        synced = os.stat(f"{root}/{OWN}/{STATE}").st_mtime_ns  # noqa: PTH116
        newest = os.stat(root).st_mtime_ns  # noqa: PTH116
        with os.scandir(root) as items:
            for count, item in enumerate(items):
                if most is not None and count >= most:
                    return None
                if item.name.lower().endswith(".md"):
                    newest = max(newest, item.stat(follow_symlinks=False).st_mtime_ns)
    except OSError:
        return None
    return newest if newest > synced else None
