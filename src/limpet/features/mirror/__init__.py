"""The Markdown copy that people read and edit: `page` and `index` are its text, `folder` its files, `state` what both
sides said at the last sync, `reconcile` the three-way decision, `syncing` carries it out. Read first: `page`, then
`syncing`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    import threading
    from collections.abc import Iterator

    from ...api import Limpet
    from .state import MirrorReport

OWN = ".limpet"  # the mirror's own folder in it: what was last alike, the lock, files that were taken away
STATE = "mirror.json"  # in there; its time is that of the last sync


def init(
    memory: Limpet, path: str | os.PathLike[str], *, author: str = "user", index_bytes: int | None = None,
    with_global: bool = False,
) -> MirrorReport:  # fmt: skip
    """Make a folder the mirror of this scope, and sync it. What is in it becomes memory, and nothing of it is lost.

    `author`: the origin of what files say, unless a file names its own. `index_bytes`: the cap of MEMORY.md.
    `with_global`: mirror the scope `global` too. Again: other settings. Raises BadInput, StoreError.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> _ = init(memory, "notes")
    >>> (Path("notes") / "MEMORY.md").is_file()
    True
    """
    from . import service

    return service.mirror_init(memory._context, path, author=author, index_bytes=index_bytes, with_global=with_global)


def sync(
    memory: Limpet, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
) -> MirrorReport:
    """Bring a mirror and the store together: changes of either side reach the other, conflicts go to review.

    `dry_run`: only say what would be done. `forget`: also archive when most entries are gone from the folder.
    `full`: read every file and compare everything; else what has its old time stamps is taken to be unchanged.
    Raises BadInput (no mirror, or of another store), StoreBusy, StoreError.

    >>> _ = init(memory, "notes")
    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> sync(memory, "notes").added
    1
    """
    from . import service

    return service.mirror_sync(memory._context, path, dry_run=dry_run, forget=forget, full=full)


def take_in_edits(memory: Limpet) -> None:
    """Bring in what people changed in the folders of this scope's mirrors, if anything did, as `sync` would.

    A recall and a brief do so by themselves, of folders of up to 200 files. What cannot be taken in now waits;
    `sync` says why.

    >>> take_in_edits(memory)
    """
    from . import service

    service.take_in_edits(memory._context)


def watch(
    memory: Limpet, path: str | os.PathLike[str], *, stop: threading.Event | None = None
) -> Iterator[MirrorReport]:
    """Sync now, and again whenever the folder or the store changes, until `stop` is set. A report each time.

    A sync that finds the store or the folder busy is tried again at the next change. Raises BadInput.

    >>> _ = init(memory, "notes")
    >>> for report in watch(memory, "notes"):
    ...     break  # after the first sync
    """
    from . import service

    yield from service.mirror_watch(memory._context, path, stop=stop)


def read_topic(memory: Limpet, topic: str) -> str:
    """What this scope and `global` hold about a topic, as the Markdown of a mirror. Raises NotFound.

    >>> _ = memory.remember("Deploys go out on Tuesdays", topics=["deploy"])
    >>> "Tuesdays" in read_topic(memory, "deploy")
    True
    """
    from . import service

    return service.read_topic(memory._context, topic)


def mirrors(memory: Limpet) -> list[str]:
    """The folders that mirror this scope, and are there.

    >>> _ = init(memory, "notes")
    >>> [Path(one).name for one in mirrors(memory)]
    ['notes']
    """
    from . import service

    return service.mirrors(memory._context)
