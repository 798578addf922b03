"""A whole store into another one, of whatever engine: the ledger event by event, then what is no ledger.

What is there already must be the beginning of the same ledger, so that a copy that was interrupted goes on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ...model.dataclass import replace
from ...model.errors import BadInput, StoreError
from ...model.memory import STATES
from ...store.records import MOST_WAITING, Filter, NewVector

if TYPE_CHECKING:
    from ...model.events import Event
    from ...store import Store

# Events of one transaction: what a copy that is killed begins anew with.
BATCH_EVENTS = 2_000
EVERYTHING = Filter(states=STATES)


class CopyReport(NamedTuple):
    """What a copy has brought over. `there`: events that the target had before."""

    events: int
    there: int
    vectors: int


def copy_store(source: Store, target: Store, *, progress: Callable[[int, int], None] | None = None) -> CopyReport:
    """Raises BadInput for a target that holds something else, StoreError when what arrived is not what was sent."""
    if source.path == target.path:
        raise BadInput("a store cannot be copied into itself")
    there = _beginning(source, target)
    total = source.maintenance.stats().events
    coming = islice(_events(source), there, None)
    done = there
    while part := list(islice(coming, BATCH_EVENTS)):
        done += target.ledger.append(part)
        if progress:
            progress(done, max(done, total))
    target.usage.restore(source.usage.rows())
    scopes = [scope for scope, *_ in source.listings.count_scopes(Filter(scopes=None, states=STATES))]
    target.reviews.propose(source.reviews.waiting(scopes, limit=MOST_WAITING))
    for device in source.devices.trusted():
        target.devices.trust(device, 0)
    vectors = _vectors(source, target)
    if not all(one == other for one, other in zip_longest(_events(source), _events(target))):
        raise StoreError(f"{target.path} is not what {source.path} is", hint="was one of them written to? copy again")
    return CopyReport(done - there, there, vectors)


def _beginning(source: Store, target: Store) -> int:
    """How many events of the source the target has."""
    count = 0
    coming = _events(source)
    for count, event in enumerate(_events(target), 1):
        if next(coming, None) != event:
            raise BadInput(
                f"{target.path} holds something else: event {count} is not that of {source.path}",
                hint="copy into a new store; `limpet import` adds to one",
            )
    return count


def _events(store: Store) -> Iterator[Event]:
    """Without their numbers, between which a merge leaves gaps."""
    return (replace(event, seq=0) for event in store.ledger.events())


def _vectors(source: Store, target: Store) -> int:
    """Those of the embedder in use, of current texts, as they are; the queue makes the others. Texts have other numbers
    there."""
    active = next((one for one in source.vectors.embedders() if one.state == "active"), None)
    if active is None:
        return 0
    row = target.vectors.register(active.fingerprint, active.name, active.dimensions)
    if active.calibration is not None:
        target.vectors.calibrate(row.num, active.calibration)
    stored, known = 0, dict[int, int]()
    while chunks := source.vectors.chunks(active.num, known, most=1)[0]:
        (chunk,) = chunks
        known[chunk.num] = chunk.version
        texts, scales = struct.unpack(f"<{chunk.used}q", chunk.text_ids), struct.unpack(f"<{chunk.used}f", chunk.scales)
        exact = dict(source.vectors.exact(active.num, [text for text in texts if text]))
        ids = {one.text_id: one.id for one in source.search.candidates(list(exact), EVERYTHING)}
        slots = {ids[text]: slot for slot, text in enumerate(texts) if text in ids}
        new = []
        for one in target.search.candidates(target.search.texts_of(list(slots)), EVERYTHING):
            slot = slots[one.id]
            code = chunk.codes[slot * active.dimensions : (slot + 1) * active.dimensions]
            new.append(NewVector(one.text_id, exact[texts[slot]], code, scales[slot]))
        stored += target.vectors.add(row.num, new, done=[one.text_id for one in new])
    return stored
