"""The words of the domain: kinds, origins, states, edge types, and the shape of one memory as readers see it.

`state.py` says what events do to a memory; `rank/` scores it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .clock import Instant, MaybeInstant
from .dataclass import dataclass, field
from .encode import TIME, JsonForm
from .errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

KINDS: tuple[str, ...] = (
    "fact", "decision", "inference", "correction", "skill", "episode", "preference", "opinion", "lesson", "goal",
    "note",
)  # fmt: skip
# Kana, Han with its extensions and compatibility forms, Hangul syllables; Thai, Lao and Khmer run on as well.
# Compiled at use: three milliseconds that a cold command seldom needs.
RUN = (
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
    "\u0e00-\u0eff\u1780-\u17ff]"
)
# The kind of a statement that names none.
PLAIN_KIND = "fact"
ORIGINS: tuple[str, ...] = ("user", "agent", "team", "tool", "web", "import")
STATES: tuple[str, ...] = ("active", "archived", "retracted", "merged", "quarantined", "purged")
STORED_TYPES: tuple[str, ...] = ("caused_by", "supports", "contradicts", "supersedes", "related_to", "part_of")
EDGE_TYPES: tuple[str, ...] = (*STORED_TYPES, "temporal_next")
# The trust in each origin. A memory that rests on others is trusted no more than the least of them.
TRUST: dict[str, int] = {"user": 4, "agent": 3, "team": 3, "tool": 2, "import": 2, "web": 1}

# Origins from outside that nobody here has confirmed.
FOREIGN = frozenset({"tool", "web"})
# The trust in what a file or another device says until a person here vouches for it.
UNVOUCHED = "web"

GLOBAL_SCOPE = "global"
# The reason of a goal that ended because it was reached.
REACHED = "reached"
# Limits of what is accepted, in characters unless said otherwise.
MAX_CONTENT_BYTES = 1_000_000
MAX_METADATA_BYTES = 64_000
MAX_METADATA_DEPTH = 100  # objects and lists within each other
MAX_NAME_CHARACTERS = 200
MAX_TOPICS = 50

# Neither white space nor controls nor halves of characters, which are no text.
_PART = r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff{}]+"
_KEY = rf"{_PART}(?:\.{_PART})+".replace("{}", ".")
_SCOPE = re.compile(_PART.replace("{}", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(JsonForm):
    """One memory as a reader sees it: its content and the interval in which it holds."""

    id: str
    scope: str
    kind: str
    content: str  # "" when purged
    topics: tuple[str, ...] = ()
    key: str | None = None  # subject.attribute of a keyed fact
    metadata: dict[str, object] = field(default_factory=dict)
    state: str = "active"
    origin: str = "agent"
    trust: str = "agent"  # the least trusted origin that it rests on, itself included
    source: str | None = None  # file:line, URL, transcript line
    session: str | None = None
    speaker: str | None = None
    position: int = 0  # place in its session, from 1; 0 = none
    importance: float = 0.5  # 0 to 1
    confidence: float = 0.0  # 0 to 1, as of the read; filled in by `Context.as_read`
    confidence_word: str = ""  # the same for people and models: stated, repeated, confirmed, doubtful
    stated_confidence: float | None = None  # given by the caller or an import
    observations: int = 1  # distinct days on which it was stated
    observed_at_us: int = field(default=0, metadata=TIME)  # the last time it was stated
    pinned: bool = False
    valid_from_us: int = field(metadata=TIME)
    valid_to_us: int | None = field(default=None, metadata=TIME)  # exclusive; None = still true
    created_at_us: int = field(metadata=TIME | {"name": "recorded_at"})  # when the store first knew it
    retired_at_us: int | None = field(default=None, metadata=TIME)  # exclusive; None = current version
    superseded_by: str | None = None
    reason: str | None = None  # why it was retracted, or quarantined; "reached" of a goal
    uses: int = 0
    used_at_us: int | None = field(default=None, metadata=TIME)
    useful: int = 0  # verdicts of `feedback`
    not_useful: int = 0
    wrong: int = 0
    source_state: str | None = None  # of an indexed file, when it was looked at: fresh, drifted or gone
    marks: tuple[str, ...] = field(default=(), metadata={"optional": True})  # what has changed in its code since
    suggested: tuple[str, ...] = field(default=(), metadata={"optional": True})  # topics for one without, by `show`
    # When the store first knew this version; as in recall, `recorded_at` of the JSON form is when it knew the memory.
    recorded_at_us: int = field(metadata=TIME | {"name": "version_at"})
    observed_at = Instant("observed_at_us")
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    created_at = Instant("created_at_us")
    retired_at = MaybeInstant("retired_at_us")
    used_at = MaybeInstant("used_at_us")
    recorded_at = Instant("recorded_at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The conditions a memory must meet. Applied before ranking, in every signal alike. Times are microseconds."""

    scopes: tuple[str, ...] | None = None  # None = every scope
    kinds: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()  # all of them
    session: str | None = None
    speaker: str | None = None
    key: str | None = None  # whatever its case
    metadata: tuple[tuple[str, str | float | bool | None], ...] = ()  # all of them; None: no value of that name
    since: int | None = None  # valid_from >= since
    until: int | None = None  # valid_from < until
    stored_since: int | None = None  # the store first knew it then or later
    stored_until: int | None = None  # the store first knew it before then
    as_of: int | None = None  # true at this instant in the world; None = any instant
    known_at: int | None = None  # as the store knew it then; None = now
    states: tuple[str, ...] = ("active",)

    @property
    def narrows(self) -> bool:
        """True when more than scope, state and time of knowledge is asked for."""
        named = self.kinds or self.topics or self.session or self.speaker or self.key or self.metadata
        times = (self.since, self.until, self.stored_since, self.stored_until)
        return bool(named) or any(time is not None for time in times)

    @property
    def needs_rows(self) -> bool:
        """True when it asks for what arrays do not hold: other times of knowledge, a key, metadata."""
        others = (self.key, self.known_at, self.stored_since, self.stored_until)
        return bool(self.metadata) or others != (None, None, None, None)


def check_several(what: str, values: Iterable[T]) -> Iterable[T]:
    """Check an argument of several values: a single text would be read by letters, a mapping by its names.

    Raises BadInput, which says what to write.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise BadInput(f"{what} must be a list, not {values!r:.60}", hint=f"write {what}=[{values!r:.60}]")
    return values


def check_characters(name: str, text: str) -> None:
    """Check a text for lone surrogates. Raises BadInput."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput(f"{name} is not valid UTF-8") from None


def check_list(what: str, values: Iterable[T]) -> tuple[T, ...]:
    return tuple(check_several(what, values))


def check_one_of(what: str, value: str, allowed: Collection[str]) -> str:
    """Check that a value is one of those allowed. Raises BadInput, which lists them."""
    if value not in allowed:
        raise BadInput(f"unknown {what}: {str(value)[:60]!r}", hint=f"one of: {', '.join(allowed)}")
    return value


def check_kind(kind: str) -> str:
    return check_one_of("kind", kind, KINDS)


def check_origin(origin: str) -> str:
    return check_one_of("origin", origin, ORIGINS)


def least_trusted(origins: Iterable[str]) -> str:
    """Return the origin that is trusted least; the first of equals."""
    return min(origins, key=TRUST.__getitem__)


def is_below(origin: str, other: str) -> bool:
    """Return whether `origin` is trusted less than `other`; an unknown one is trusted least."""
    return TRUST.get(origin, -1) < TRUST.get(other, -1)


def is_unconfirmed(origin: str, trust: str) -> bool:
    """Return whether a memory rests on outside sources and nobody here has confirmed it. Such a memory is found by a
    search, and never shown unasked."""
    return origin in FOREIGN or trust in FOREIGN


def check_scope(scope: str) -> str:
    """Check a scope, a short name without spaces: `global`, `project:api`. Raises BadInput."""
    if not isinstance(scope, str) or len(scope) > MAX_NAME_CHARACTERS or not _SCOPE.fullmatch(scope):
        raise BadInput(
            f"not a scope: {str(scope)[:60]!r}", hint="a scope is a name without spaces, such as project:api"
        )
    return scope


def caseless(name: str) -> str:
    """Return a form equal for topics and keys that differ only in case. (ß and ss differ, in indexes too.)"""
    return name.lower()


def unlike_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Return topics that differ in more than case, as they were first written."""
    by_form: dict[str, str] = {}
    for topic in topics:
        by_form.setdefault(caseless(topic), topic)
    return tuple(by_form.values())


def valued(key: str | None, text: str) -> str:
    """Return a text for people: a value after its key, because alone it says nothing."""
    return f"{key} = {text}" if key else text


def check_key(key: str) -> str:
    """Check a key: SUBJECT.ATTRIBUTE, without spaces. Raises BadInput."""
    if not isinstance(key, str) or len(key) > MAX_NAME_CHARACTERS or not re.fullmatch(_KEY, key):
        raise BadInput(f"not a key: {str(key)[:60]!r}", hint="a key is SUBJECT.ATTRIBUTE, such as user.city")
    return key
