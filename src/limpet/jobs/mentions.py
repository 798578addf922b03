"""What texts name, noted after the write: symbols of code, paths, identifiers, names (text/entities.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text.entities import numbers

if TYPE_CHECKING:
    from ..store import Store

# Texts looked at for each job that a limit allows: one takes a hundredth of an embedding's time.
EACH = 16


def drain(store: Store, *, limit: int | None = None) -> int:
    """Look at the texts that nobody has looked at, a small transaction after the other. Returns how many there were."""
    done = 0
    while limit is None or done < limit * EACH:
        some = store.mentions.note(numbers)
        if not some:
            break
        done += some
    return done
