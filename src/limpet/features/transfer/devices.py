"""The devices that segments are exchanged with, and which of them are trusted."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ...model.dataclass import dataclass
from ...model.encode import JsonForm
from ...model.errors import BadInput, NotFound

if TYPE_CHECKING:
    from ...context import Context

# Every device, also those that come; and the id that stands for them in a store.
ALL_DEVICES, EVERY_DEVICE = "all", b""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo(JsonForm):
    """A device whose segments are known here. `trusted`: it may also speak of what others said."""

    id: str
    own: bool
    trusted: bool
    segments: int


def devices(context: Context) -> list[DeviceInfo]:
    trusted = context.store.devices.trusted()
    _, rows = context.store.devices.segments()
    counts = Counter((one.device, one.own) for one in rows)
    for id in trusted - {id for id, _ in counts} - {EVERY_DEVICE}:
        counts[id, False] = 0
    return [
        DeviceInfo(id=id.hex(), own=own, trusted=own or id in trusted or EVERY_DEVICE in trusted, segments=count)
        for (id, own), count in sorted(counts.items())
    ]


def trust_device(context: Context, id: str, *, trusted: bool) -> int:
    """How many devices that are known are concerned."""
    known = [one for one in devices(context) if not one.own]
    if id == ALL_DEVICES:
        device, concerned = EVERY_DEVICE, len(known)
    else:
        if not isinstance(id, str) or not re.fullmatch(r"[0-9a-f]{4,32}", id.lower()):
            raise BadInput(f"not the id of a device: {id!r:.60}", hint="`limpet serve device` lists them")
        found = [one.id for one in known if one.id.startswith(id.lower())]
        if len(found) > 1:
            raise BadInput(f"{len(found)} devices begin with {id}", hint="give more of the id")
        if not found and len(id) < 32:
            raise NotFound(
                f"no device {id}", hint="`limpet serve device` lists them; a whole id may be trusted before it is known"
            )
        device, concerned = bytes.fromhex(found[0] if found else id), len(found)
    context.store.devices.trust(device, context.now() if trusted else None)
    return concerned
