"""Other devices, and whose word holds here: what one that is not trusted says has the least trust.

What else it may say is in `hearing.py`. Every function needs an open transaction.
"""

from __future__ import annotations

from ...model.dataclass import replace
from ...model.events import Event
from .database import Connection

# Stands for every device, also those that come.
EVERY_DEVICE = b""
# What it says at most, whoever it says has said it.
LEAST = "import"
_UNTRUSTED = (
    "g.device NOT IN (SELECT id FROM device) AND g.device NOT IN (SELECT device FROM trusted)"
    " AND NOT EXISTS (SELECT 1 FROM trusted WHERE device = x'')"
)
_HEARD = f"SELECT s.segment FROM synced s JOIN segment g ON g.num = s.segment WHERE s.id = ? AND {_UNTRUSTED}"


def is_trusted(con: Connection, device: bytes) -> bool:
    """This device itself under any identity it ever had, and those that somebody here trusts."""
    return (
        con.execute(
            "SELECT 1 FROM device WHERE id = ?1 UNION ALL SELECT 1 FROM trusted WHERE device IN (?1, x'') LIMIT 1",
            (device,),
        ).get
        is not None
    )


def doubts_any(con: Connection) -> bool:
    return con.execute(f"SELECT 1 FROM segment g WHERE {_UNTRUSTED} LIMIT 1").get is not None


def doubted(con: Connection, event: bytes) -> int | None:
    """The segment that an event is from, when nobody trusts its device."""
    found: int | None = con.execute(_HEARD, (event,)).get
    return found


def as_heard(con: Connection, event: Event) -> Event:
    """The event as it counts here."""
    if event.type not in ("remembered", "observed") or doubted(con, event.id) is None:
        return event
    return replace(event, data=event.data | {"trust": LEAST})


def heard_from(con: Connection, device: bytes) -> set[bytes]:
    """Memories and sessions that a device spoke of; EVERY_DEVICE: all devices but this one."""
    found = con.execute(
        "SELECT DISTINCT v.memory FROM segment g JOIN synced s ON s.segment = g.num JOIN event v ON v.id = s.id"
        " WHERE g.device = ?1 OR (?1 = x'' AND g.device NOT IN (SELECT id FROM device))",
        (device,),
    )
    return {bytes(row[0]) for row in found}
