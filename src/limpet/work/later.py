"""The worker that a command leaves behind (`Context.leave_work`): it drains the queue of one store, and ends."""

from __future__ import annotations

import os
import sys

from ..folders import locked
from ..model.memory import GLOBAL_SCOPE

# Texts that a worker takes at most, some minutes of work, and how far it stands behind other processes.
MOST, NICE = 1_000, 10


def work(path: str) -> None:
    """Work the queue of a store, with what comes meanwhile, unless another worker does."""
    import limpet

    if hasattr(os, "nice"):
        os.nice(NICE)
    with locked(f"{path}.work") as free, limpet.open(path, scope=GLOBAL_SCOPE, create=False) as memory:
        left = MOST if free else 0
        while left > 0 and ((report := memory.work(limit=left)).done or report.checked):
            left -= report.done


if __name__ == "__main__":
    work(sys.argv[1])
