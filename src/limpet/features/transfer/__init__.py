"""Other formats in and out. A reader yields records, one importer stores them; a writer is given memories. Here: the
devices that segments are exchanged with, and which of them are trusted."""

from __future__ import annotations

from ...model.dataclass import dataclass
from ...model.encode import JsonForm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet

# All devices, also future ones; and their id in a store.
ALL_DEVICES, EVERY_DEVICE = "all", b""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo(JsonForm):
    """A device whose segments are known here. `trusted`: they are taken in; else they wait."""

    id: str
    own: bool
    trusted: bool
    segments: int


def devices(memory: Limpet) -> list[DeviceInfo]:
    """Return the devices whose segments are known here, and which of them are trusted.

    >>> devices(memory)
    []
    """
    from collections import Counter

    from .known_devices import Devices

    known = Devices(memory._context.store)
    trusted = known.trusted()
    counts = Counter((row.device, row.own) for row in known.segments()[1])
    for id in trusted - {id for id, _ in counts} - {EVERY_DEVICE}:
        counts[id, False] = 0
    return [
        DeviceInfo(id=id.hex(), own=own, trusted=own or id in trusted or EVERY_DEVICE in trusted, segments=count)
        for (id, own), count in sorted(counts.items())
    ]


def trust_device(memory: Limpet, id: str, *, trusted: bool = True) -> int:
    """Take in the segments of a device from the next import on. `id`: whole, its beginning, or "all": every one, also
    those that come. Not `trusted`: its later segments wait. Returns how many known devices it concerns.

    Raises BadInput, NotFound.

    >>> trust_device(memory, "all")
    0
    """
    import re

    from ...model.errors import BadInput, NotFound
    from .known_devices import Devices

    known = [device.id for device in devices(memory) if not device.own]
    if id == ALL_DEVICES:
        device, concerned = EVERY_DEVICE, len(known)
    else:
        if not isinstance(id, str) or not re.fullmatch(r"[0-9a-f]{4,32}", id.lower()):
            raise BadInput(f"not the id of a device: {id!r:.60}", hint="`limpet serve device` lists them")
        matches = [candidate for candidate in known if candidate.startswith(id.lower())]
        if len(matches) > 1:
            raise BadInput(f"{len(matches)} devices begin with {id}", hint="give more of the id")
        if not matches and len(id) < 32:
            hint = "`limpet serve device` lists them; a whole id may be trusted before it is known"
            raise NotFound(f"no device {id}", hint=hint)
        device, concerned = bytes.fromhex(matches[0] if matches else id), len(matches)
    context = memory._context
    Devices(context.store).trust(device, context.now() if trusted else None)
    return concerned
