"""The rows that a store takes and returns; those of listings are in `sql/listings.py`.

They are named tuples, not dataclasses: making a dataclass takes a millisecond of every cold command.
"""

from __future__ import annotations

from datetime import datetime

from ..model.clock import to_datetime
from ..model.dataclass import NamedTuple

# No limit, where a number of rows is asked for; also later than every time.
ALL = 2**63 - 1


class Candidate(NamedTuple):
    """A memory as ranking sees it. `text_id` is the key of search signals."""

    num: int  # row of this version
    text_id: int
    id: bytes
    content: str
    session: int | None
    position: int
    speaker: str | None
    valid_from: int
    # words of its topics, of its metadata and speaker, of its date
    topics: str | None
    labels: str | None
    dates: str | None
    # from here on, its prior factors: what importance, use and confidence are computed from
    kind: str
    importance: float
    pinned: bool
    trust: str
    observations: int
    observed_at: int
    stated_confidence: float | None
    uses: int
    used_at: int | None
    useful: int | None
    not_useful: int | None
    wrong: int | None
    key: str | None = None
    grams: str | None = None  # pairs of characters of what is written without spaces


class UseCounts(NamedTuple):
    """The uses of a memory, the last one (0: never), and the counts of its `feedback`."""

    uses: int
    used_at: int
    useful: int
    not_useful: int
    wrong: int


class LexicalResult(NamedTuple):
    """The best texts for a query text, best first. The filter holds only as far as the index knows it (topics, small
    scopes): `candidates` tells which of them pass."""

    hits: dict[int, float]  # text id -> BM25 over its content, topics, metadata and date; higher is better
    stems: dict[str, float]  # the query's index terms with their inverse document frequencies
    weight: float  # what a perfect match is worth: their sum, absent words of a small store included
    complete: bool = True  # False: the deadline came first
    more: bool = False  # there are more than were asked for
    absent: float = 0.0  # what the query's words that no text has would be worth


NO_HITS = LexicalResult({}, {}, 0.0)


class VectorChunk(NamedTuple):
    """Up to 1,024 int8 vectors of one embedder, as they lie in the store."""

    num: int
    version: int  # changes with every write to the chunk
    used: int  # slots in use, from the first
    codes: bytes  # used x dimensions int8
    scales: bytes  # used x float32: vector = code * scale
    text_ids: bytes  # used x int64: the text, and from bit 32 on which part of it; 0 = empty slot
    scopes: bytes  # used x int32


class EmbedderRow(NamedTuple):
    """The embedder whose vectors this store has."""

    num: int
    fingerprint: str
    name: str
    dimensions: int
    has_vectors: bool
    is_complete: bool  # False: texts whose vectors an earlier embedder made still wait for its own; words answer
    # Its calibration, see vectors/calibration.py; None = not known yet.
    calibration: tuple[float, float, float] | None


class NewVector(NamedTuple):
    """A vector to store for a text: float16 for rescoring, int8 code and its scale for scanning. `part`: 0 of its
    beginning, from 1 on of a part of a long text."""

    text_id: int
    exact: bytes
    code: bytes
    scale: float
    part: int = 0


# Jobs that make vectors of texts anew, which were compared with others already.
AGAIN = "embed again"
# Jobs that make vectors of the parts of long texts.
PARTS = "parts"
# The job to read what sessions that have ended said; one for all of them.
READ = "read"
# The error of a job that was given back through no fault of its own.
INTERRUPTED = "interrupted"


class Job(NamedTuple):
    """One piece of slow work, leased to one worker at a time. Kind and subject identify it."""

    kind: str
    subject: int
    attempts: int
    error: str | None = None


class Validity(NamedTuple):
    """The facts that decide a memory's validity. Times are microseconds."""

    state: str
    replaced: bool
    valid_from: int
    valid_to: int | None


class TurnRow(NamedTuple):
    """A turn of a session: an episode that names its speaker."""

    id: bytes
    mark: int | None  # fingerprint; None: its words are gone
    valid_from: int
    state: str


class SessionRow(NamedTuple):
    """One run of an agent, and how many memories it has now."""

    name: str
    scope: str
    started_at_us: int
    ended_at_us: int | None
    title: str | None
    memories: int
    last_at_us: int  # when something was last stored in it

    @property
    def started_at(self) -> datetime:
        return to_datetime(self.started_at_us)

    @property
    def ended_at(self) -> datetime | None:
        return None if self.ended_at_us is None else to_datetime(self.ended_at_us)

    @property
    def last_at(self) -> datetime:
        return to_datetime(self.last_at_us)


# Most proposals that a reader asks for: older rules made hundreds, and most are left out.
MOST_WAITING = 10_000
# The kind of a row of the review list that says why its memory, which is both of the pair, was said to be wrong.
OBJECTION = "objection"


class Proposal(NamedTuple):
    """A question about a pair of memories that waits for a person. `verdict` None: undecided."""

    id: bytes
    kind: str
    scope: str
    memory: bytes  # the newer one
    other: bytes
    reason: str
    score: float
    created_at: int
    verdict: str | None = None
    decided_at: int | None = None


class Relation(NamedTuple):
    """A relation of a newer memory to an older one, by a model that read both. `level`: sure or likely."""

    older: bytes
    newer: bytes
    relation: str  # replaces, ends, resolves, same or solves
    level: str
    probability: float
    model: str


class OutsideRead(NamedTuple):
    """What a session's agent has read from outside, and when last."""

    session: str  # "" if unknown
    scope: str
    at_us: int
    origin: str  # web or tool
    what: str  # a host, a tool, a file or a memory


class Action(NamedTuple):
    """A line of the journal: what was asked, done or answered in a session."""

    scope: str
    session: str
    at_us: int
    kind: str  # asked, did, failed or said
    what: str


class Problem(NamedTuple):
    """Something `verify` found."""

    check: str
    message: str


# Checks whose problems no rebuild repairs; among those of pages it repairs the full-text index.
BEYOND_REBUILD = frozenset({"pages", "ledger", "chain"})


def is_beyond_rebuild(problem: Problem) -> bool:
    """Return whether a problem is beyond `rebuild`, which makes only what follows from the ledger."""
    return problem.check in BEYOND_REBUILD and "FTS" not in problem.message


class StoreStats(NamedTuple):
    """Counts and sizes; bytes for sizes."""

    memories: int
    versions: int
    events: int
    sessions: int
    vectors: int
    waiting_jobs: int  # texts that wait for their vectors
    waiting_checks: int  # other background work that waits
    dead_jobs: int
    by_kind: dict[str, int]
    by_scope: dict[str, int]
    by_state: dict[str, int]
    file_bytes: int = 0
    free_bytes: int = 0
    oldest_us: int | None = None
    newest_us: int | None = None

    @property
    def oldest(self) -> datetime | None:
        return None if self.oldest_us is None else to_datetime(self.oldest_us)

    @property
    def newest(self) -> datetime | None:
        return None if self.newest_us is None else to_datetime(self.newest_us)


class Scan(NamedTuple):
    """The result of a byte-by-byte search for erased texts in files."""

    pieces: int  # of the texts, which were looked for; 0: the texts are too short to be told from others
    files: int
    bytes: int
    found: dict[str, int]  # file -> how many of the pieces it has
    unread: list[str]  # files that could not be read
