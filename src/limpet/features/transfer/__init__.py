"""Other formats in and out. One module a format; each reads or writes through the store's ledger."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from ...api import Limpet, Progress
    from .segments import DeviceInfo, SegmentReport


def export_segments(
    memory: Limpet, folder: str | os.PathLike[str], *, encrypt: bool = False, progress: Progress | None = None
) -> SegmentReport:
    """Write what is new in this store into its own folder below a shared one; other devices import it there.

    Every scope. `encrypt`: for LIMPET_AGE_RECIPIENTS, as it is done by itself in a folder that has encrypted ones.
    Raises BadInput, StoreError.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> export_segments(memory, "shared").new
    1
    """
    from pathlib import Path

    from . import segments

    context = memory._context
    report = segments.export_segments(context.store, Path(folder), encrypt=encrypt, progress=progress)
    context.store.erasure.note_copy(str(folder), "segments", context.now())
    return report


def import_segments(
    memory: Limpet, folder: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
) -> SegmentReport:
    """Take in what other devices exported there. Stores that have taken in the same segments hold the same.

    Raises BadInput, StoreError.

    >>> _ = export_segments(memory, "shared")
    >>> import_segments(memory, "shared").new
    0
    """
    from pathlib import Path

    from . import segments

    return segments.import_segments(memory._context.store, Path(folder), dry_run=dry_run, progress=progress)


def devices(memory: Limpet) -> list[DeviceInfo]:
    """The devices whose segments are known here, and which are trusted.

    >>> devices(memory)
    []
    """
    from . import segments

    return segments.devices(memory._context.store)


def trust_device(memory: Limpet, id: str, *, trusted: bool = True) -> int:
    """Let a device also speak of what others said: correct, replace, purge it. `id`: whole, its beginning, or
    "all": every one, also those that come. What waited comes with the next import. Returns how many known ones it
    concerns.

    Raises BadInput, NotFound.

    >>> trust_device(memory, "all")
    0
    """
    from . import segments

    return segments.trust_device(memory._context, id, trusted=trusted)
