"""What single features keep in the store: review, journal, organized sources, exposures, other devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Protocol

from ...checkout import Checkout
from ...model.merge_order import SequencedEvent
from ..records import Action, ExposureRow, Merged, Proposal, SegmentRow, Source, UseCount


class Reviews(Protocol):
    """Proposals about pairs of memories, which wait for a person."""

    def get(self, id: bytes) -> Proposal | None: ...

    def propose(self, proposals: Sequence[Proposal]) -> int:
        """Put proposals on the list; one about the same pair is there once, also when it was decided. Returns how many
        are new."""
        ...

    def withdraw(self, kind: str, among: Sequence[bytes]) -> int:
        """Take off the list what waits of a kind about two memories that are both among these. Returns how many."""
        ...

    def replace(self, proposal: Proposal) -> None:
        """Put it on the list in the place of what waits of its kind about its pair, in one transaction."""
        ...

    def waiting(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        """Those that wait (of one kind), oldest first, whose memories are both still active."""
        ...

    def named(self, text: str, scopes: Sequence[str]) -> list[bytes]:
        """The proposals of some scopes that an id, a short id or the beginning of an id names, a dozen at most.

        Raises BadInput.
        """
        ...

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """Of proposals and memories: for each its short id, as long as it takes to be neither another proposal's nor
        memory's."""
        ...


class Journal(Protocol):
    def note(self, action: Action) -> None:
        """Add a line. The journal keeps the last 10,000 lines of the store, and is emptied by a purge."""
        ...

    def lines(self, scope: str, *, session: str | None = None, limit: int) -> list[Action]:
        """The last lines of a scope, or of one of its sessions, oldest first."""
        ...

    def numbered(self, scope: str) -> list[tuple[int, Action]]:
        """All lines of a scope, oldest first, each with the number that it keeps while it is there."""
        ...

    def drop(self, scope: str, numbers: Sequence[int]) -> bool:
        """Erase lines of a scope, also their bytes in the file. False: a reader keeps the bytes until it ends."""
        ...


class Sources(Protocol):
    """What the organizer has read, and what hooks say is there to read."""

    def get(self, scope: str, path: str) -> Source | None: ...

    def keep(self, source: Source) -> None:
        """Note how far a source was read; it waits no more once it has a digest."""
        ...

    def announce(self, scope: str, path: str, at: int) -> None:
        """A source is there to read, or has grown; what was noted of it stays."""
        ...

    def waiting(self, scope: str | None = None) -> list[Source]:
        """Those that wait, of one scope or all, the one that was announced first first."""
        ...


class Checkouts(Protocol):
    """Which scope each repository has."""

    def scope_of(self, folder: str | PathLike[str]) -> str:
        """The scope of the repository that a folder is in; if it has claimed none, the one that it would get."""
        ...

    def claim(self, checkout: Checkout, scope: str, at: int) -> None:
        """From now on the scope is that of this repository, unless it has one already."""
        ...


class Exposures(Protocol):
    """What was put before agents."""

    def note(self, rows: Sequence[ExposureRow], action: Action | None = None) -> None:
        """Keep what was shown, and the journal's line that it answers, in one transaction. The last 50,000 stay."""
        ...

    def latest(
        self, scope: str, *, session: str | None = None, memory: bytes | None = None, limit: int
    ) -> list[ExposureRow]:
        """The last ones of a scope, or of one of its sessions, newest first; or of a memory, in whatever scope."""
        ...

    def began_with(self, session: str, ids: Iterable[bytes]) -> set[bytes]:
        """Those of some memories that a session was shown at its start, since it was compacted last, if they still
        say the same."""
        ...

    def counts(self, scope: str) -> list[UseCount]:
        """All of a scope, counted by memory and by whether it was shown and drawn; ordered by them. A memory that came
        several times in a session is one observation: what it is used for is one work. Of what was drawn the first time
        counts: what is shown is shown once, and what is held out must not be looked for more often than that."""
        ...


class Devices(Protocol):
    """Sync with the ledgers of other devices."""

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        """Give the events since the last time their order among all devices', and put them into segments.

        `place`: where the file is; from another place it is another device, and so when it is to `renew` its identity.
        Returns the identity and all segments that are known.
        """
        ...

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        """The identity used last, and all segments that are known."""
        ...

    def lines(self, segment: int) -> list[SequencedEvent]:
        """The events of a segment as they are now: without what was purged."""
        ...

    def written(self, segment: int, digest: str, header: dict[str, Any]) -> None:
        """A segment stands in its file, with this digest."""
        ...

    def purged(self) -> dict[int, set[bytes]]:
        """The purged memories that segments have events of, by segment."""
        ...

    def merge(self, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent]) -> Merged:
        """Take in others' segments after `seal`: union of the events, and what follows from their order.

        A device that is not trusted speaks of memories that it began itself only; its other events wait.
        """
        ...

    def trusted(self) -> set[bytes]:
        """The devices that somebody here trusts; the empty id stands for all."""
        ...

    def trust(self, device: bytes, at: int | None) -> None:
        """Trust a device from now on, or (None) no more."""
        ...
