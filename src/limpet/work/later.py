"""The worker that a command leaves behind: it works the queue of one store, and ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from ..folders import is_url, locked
from ..model.memory import GLOBAL_SCOPE
from ..recall_client import address_of, is_served
from ..settings import wants_worker
from ..store.records import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context

# Texts that a worker takes at most, some minutes of work; and at once, before it looks whether a server has come.
MOST, AT_ONCE = 1_000, 32
# By how much it stands back behind other processes.
NICE = 10


def leave(context: Context, most: int = MOST) -> None:
    """Start a worker for what waits in a store, at most so many texts, unless one runs or a server does it. One: a lock
    beside the store says whether it works; on Windows nothing does, so there is none."""
    path = os.path.abspath(context.store.path)  # noqa: PTH100
    if os.name == "nt" or not wants_worker() or not _is_due(context):
        return
    with suppress(OSError), locked(f"{path}.work") as free:  # the next command tries again
        if free:
            import subprocess

            sys.stdout.flush()
            subprocess.Popen(
                [sys.executable, "-P", "-m", "limpet.work.later", path, str(most)], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip


def work(path: str, most: int = MOST) -> None:
    """Work the queue of a store, with what comes meanwhile, unless another worker does. Raises StoreError: it is gone,
    for one."""
    import limpet

    left = most
    with limpet.open(path, scope=GLOBAL_SCOPE, create=False) as memory:
        while left > 0 and _is_due(memory._context):
            with locked(f"{path}.work") as free:
                report = memory.work(limit=min(left, AT_ONCE)) if free else None
            if report is None or not (report.done or report.checked):
                return
            left -= report.done + report.checked


def _is_due(context: Context) -> bool:
    """Return whether texts wait in a store's file for a vector or to be compared, and no server does it."""
    store, now = context.store, context.now()
    if is_url(store.path) or not os.path.exists(store.path) or store.read_only:  # noqa: PTH110
        return False
    waits = any(store.jobs.backlog(kind, now, most=1) for kind in ("embed", "parts", "duplicates", READ))
    return waits and not is_served(address_of(store.path))


if __name__ == "__main__":
    os.nice(NICE)
    work(sys.argv[1], *map(int, sys.argv[2:]))
