"""Whether anybody changed a mirror's folder since its last sync: by time stamps alone, and with few imports."""

from __future__ import annotations

import os

OWN = ".limpet"  # the mirror's own folder in it: the base, the lock, files that were taken away
STATE = "mirror.json"  # in there; its time is that of the last sync


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
