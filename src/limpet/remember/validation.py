"""Validation: what may be stored, in which shape. Bad input raises an error with a message and loses nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from ..model.dataclass import dataclass, field
from ..model.errors import BadInput, EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import (
    MAX_CONTENT_BYTES,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_NAME_CHARACTERS,
    MAX_TOPICS,
    PLAIN_KIND,
    check_key,
    check_kind,
    check_list,
    check_origin,
    check_scope,
    unlike_topics,
)
from ..secrets import is_bare, redact, redact_fields, redact_value, suspected
from ..text.describe import grams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..vectors.reader import Reader

# Control characters that no memory holds; tab, newline and carriage return are text.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
# Sequences that drive a terminal, whole: CSI; OSC, DCS and the like where they end; the short ones. Also as C1.
_SEQUENCES = (
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-~]"
)
_PARTING = "[\x00\x0b\x0c\x1c-\x1f\x85]"
# What a receipt calls these where they were left out.
CONTROL = "control-characters"
# Origins whose text nobody here has vouched for.
OUTSIDE = frozenset({"team", "tool", "web", "import"})
# Kinds that record what happened or was said and not what is believed: no rule speaks against them.
RECORDS = frozenset({"episode"})
MAX_SOURCE_CHARACTERS = 2_000
# Why a plain statement of one or two words is an episode ("done", "see above"), and the probability from which one of
# two is, measured as the content policy measures talk: chosen on tests/quality/short_statements.jsonl (docs/log.md).
SAYS_NOTHING, NOTHING_FROM = "says nothing by itself", 0.92
FIELDS = frozenset(
    {"content", "kind", "topics", "key", "importance", "pin", "valid_from", "valid_to", "source", "origin", "session",
     "speaker", "because", "metadata", "id", "confidence", "scope", "anyway"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidStatement:
    """A statement that may be stored. Times in microseconds UTC."""

    content: str
    kind: str
    scope: str
    topics: tuple[str, ...]
    key: str | None
    importance: float | None  # None: not said
    pin: bool
    valid_from: int | None
    valid_to: int | None
    source: str | None
    origin: str
    session: str | None
    speaker: str | None
    because: tuple[str, ...]
    metadata: dict[str, Any]
    id: bytes | None
    confidence: float | None
    redacted: tuple[str, ...] = field(default=())
    trust: str | None = None  # that of the least trusted it is derived from, when not said by `because`
    anyway: bool = False  # a person stores it although a rule speaks against it
    quarantine: str | None = None  # why it waits for a person before it is recalled
    # What it was stated as, and the rule that makes it an episode, unless it is known as a belief.
    demoted: dict[str, str] | None = None
    code: dict[str, str] | None = None  # branch and commit of the checkout that it is stored in

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets that were removed."""
        return tuple(name for name in self.redacted if name != CONTROL)


def validate(item: Mapping[str, Any], *, scope: str, now: int) -> ValidStatement:
    """Check one statement: the keyword arguments of `remember`, or a line of a batch. Raises BadInput.

    `id`: as text, or as 16 bytes from a caller who made it. `scope`: where it goes unless it names another one.
    """
    given = item.get
    if unknown := item.keys() - FIELDS:
        raise BadInput(f"unknown field: {min(map(str, unknown))}", hint=f"known fields: {', '.join(sorted(FIELDS))}")
    key = None if given("key") is None else check_key(item["key"])
    content, redacted = clean_text(key, given("content"))
    valid_from, valid_to = given("valid_from"), given("valid_to")
    if valid_from is not None or valid_to is not None:
        from ..model.times import parse_time

        valid_from = None if valid_from is None else parse_time(valid_from, now=now)
        valid_to = None if valid_to is None else parse_time(valid_to, now=now)
        if valid_to is not None:
            _check_interval(valid_from, valid_to, now)
    because = check_list("because", item["because"]) if given("because") else ()
    if because and not all(isinstance(cause, str) for cause in because):
        raise BadInput("because must be ids")
    importance, confidence = _share("importance", given("importance")), _share("confidence", given("confidence"))
    id, pin, anyway = given("id"), given("pin") or False, given("anyway") or False
    if not isinstance(pin, bool):
        raise BadInput(f"pin must be true or false, not {pin!r}")
    scope = scope if given("scope") is None else check_scope(item["scope"])
    no_secret("scope", scope)
    no_secret("key", key)
    source, redacted = clean_name("source", given("source"), redacted, limit=MAX_SOURCE_CHARACTERS)
    speaker, redacted = clean_name("speaker", given("speaker"), redacted)
    session, redacted = clean_name("session", given("session"), redacted)
    topics, secrets = clean_topics(item["topics"]) if given("topics") else ((), ())
    metadata, hidden = clean_metadata(item["metadata"]) if given("metadata") is not None else ({}, ())
    # The usual words are not looked up again.
    origin = "agent" if given("origin") in (None, "", "agent") else check_origin(item["origin"])
    if anyway and (anyway is not True or origin != "user"):
        raise BadInput("anyway is for a person to say", hint='give it with origin "user"')
    reads = None
    if origin in OUTSIDE:
        from ..text.instructions import any_reads_like_instruction

        reads = any_reads_like_instruction(
            content, key, given("topics") or (), speaker, source, given("session"), metadata
        )
    # A statement with a speaker is a record of a turn, unless its kind is given.
    kind = check_kind(item["kind"]) if given("kind") else "episode" if speaker and key is None else PLAIN_KIND
    return ValidStatement(
        content=content, kind=kind, scope=scope, topics=unlike_topics(topics) if topics else (), key=key,
        importance=importance, pin=pin, valid_from=valid_from, valid_to=valid_to, source=source, origin=origin,
        session=session, speaker=speaker, because=because, metadata=metadata, confidence=confidence,
        id=id if id is None or isinstance(id, bytes) else parse_id(str(id)), anyway=anyway, quarantine=reads,
        redacted=tuple(dict.fromkeys(redacted + secrets + hidden)),
    )  # fmt: skip


def says_nothing(statement: ValidStatement, reader: Callable[[], Reader]) -> bool:
    """Return whether a plain statement, with nothing beside it, is a lone word, or two words in which the reader finds
    nothing worth keeping. A path, a number or `key=value` is no word."""
    text, words = statement.content, statement.content.split()
    beside = statement.key or statement.topics or statement.metadata or statement.source or statement.id
    meant = statement.pin or statement.anyway or statement.because
    if statement.kind != PLAIN_KIND or len(words) > 2 or beside or meant or grams(text):
        return False
    if len(words) < 2:
        return text.strip(".,!?").isalpha()
    with suppress(EmbedderUnavailable, ImportError):
        if (model := reader()).reads(text):
            heads = model.heads([("", text)])[0]
            return min(heads["kept"]["no"], heads["worth"]["none"]) >= NOTHING_FROM
    return False


def check_text(content: Any, what: str = "content") -> str:
    """Return a statement's text as it will be stored, or a reason, a line. Raises BadInput for what is no text."""
    if not isinstance(content, str):
        raise BadInput(
            f"{what} is missing" if content is None else f"{what} must be text, not {type(content).__name__}"
        )
    if content.isprintable() and 4 * len(content) <= MAX_CONTENT_BYTES and not content.isspace() and content:
        return content  # one line of ordinary text, which is most of what comes
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadInput(f"{what} is not valid UTF-8", hint="it holds bytes that are no characters") from None
    if size > MAX_CONTENT_BYTES:
        raise BadInput(
            f"{what} is too long: {size:,} bytes, {MAX_CONTENT_BYTES:,} at most", hint="store it in parts, or its gist"
        )
    match = _CONTROL.search(content)
    if match:
        raise BadInput(f"{what} holds a control character (U+{ord(match[0]):04X} at {match.start()})", hint="remove it")
    if not content.strip():
        raise BadInput(f"{what} is empty")
    return content


def without_control(text: str) -> str:
    """Return a text without terminal escapes and other control characters, except tabs and line ends."""
    return _CONTROL.sub("", re.sub(_PARTING, " ", re.sub(_SEQUENCES, "", text))) if _CONTROL.search(text) else text


def clean_text(key: str | None, content: Any) -> tuple[str, tuple[str, ...]]:
    """Return a statement's text without secrets and control characters, and the names of what was left out.

    Raises BadInput, also for one word that is a secret.
    """
    given = content
    if isinstance(content, str):
        # Before secrets are looked for: a colour may stand inside one.
        content = content if content.isprintable() else without_control(content)
    text, redacted = redact_value(key, check_text(content))
    if not text.isprintable():
        import unicodedata

        # More than white space and marks of format, such as a space without width.
        if all(char.isspace() or unicodedata.category(char) == "Cf" for char in text):
            raise BadInput("content has no character that is seen")
    if redacted and is_bare(content, text):
        raise BadInput(
            f"content is nothing but a secret ({', '.join(redacted)}), which is not stored",
            hint="say what it is for and where it is kept",
        )
    return text, redacted if content is given else (*redacted, CONTROL)


def no_secret(what: str, name: str | None) -> None:
    """Check that a name holds no secret: hidden, it would name something else. Raises BadInput."""
    if name and (names := redact(name, sentences=False)[1]):
        raise BadInput(f"{what} holds a secret ({', '.join(names)}), which is not stored", hint="give it another name")


def check_topics(topics: Iterable[Any]) -> tuple[str, ...]:
    """Return distinct topics in the order given, without secrets. Raises BadInput."""
    return clean_topics(topics)[0]


def clean_topics(topics: Iterable[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return distinct topics in the order given, without secrets, and the names of those. Raises BadInput."""
    distinct: dict[str, None] = {}
    for topic in check_list("topics", topics):
        name = check_name("topic", topic)
        if name is None:
            raise BadInput("a topic is empty")
        distinct[name] = None
    if len(distinct) > MAX_TOPICS:
        raise BadInput(f"too many topics: {len(distinct)}, {MAX_TOPICS} at most")
    if any(map(suspected, distinct)):
        clean = [redact(name) for name in distinct]
        return tuple(dict.fromkeys(name for name, _ in clean)), tuple(name for _, names in clean for name in names)
    return tuple(distinct), ()


def check_metadata(metadata: Any) -> dict[str, Any]:
    """Check a JSON object, which comes back as it went in. Raises BadInput."""
    if not isinstance(metadata, Mapping):
        raise BadInput(f"metadata must be an object, not {type(metadata).__name__}")
    texts = "".join(map(str, _leaves(metadata, MAX_METADATA_DEPTH)))
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"metadata is not JSON: {error}") from None
    if len(text.encode()) > MAX_METADATA_BYTES:
        raise BadInput(f"metadata is too large: {len(text):,} characters, {MAX_METADATA_BYTES:,} bytes at most")
    match = _CONTROL.search(texts)
    if match:
        raise BadInput(f"metadata holds a control character (U+{ord(match[0]):04X})")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def clean_metadata(metadata: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a JSON object without secrets, and the names of those that were in it. Raises BadInput."""
    if metadata is None or metadata == {}:
        return {}, ()
    return redact_fields(check_metadata(metadata))


def _leaves(value: Any, levels: int) -> Iterable[Any]:
    """Yield the names and values of objects and lists. Raises BadInput where these are nested too deeply."""
    if not isinstance(value, Mapping | list | tuple):
        yield value
        return
    if levels == 0:
        raise BadInput(f"metadata is nested too deeply: {MAX_METADATA_DEPTH} levels at most")
    if isinstance(value, Mapping):
        yield from value
    for part in value.values() if isinstance(value, Mapping) else value:
        yield from _leaves(part, levels - 1)


def clean_name(
    what: str, value: Any, redacted: tuple[str, ...] = (), *, limit: int = MAX_NAME_CHARACTERS
) -> tuple[str | None, tuple[str, ...]]:
    """Return a name without secrets, None for an empty one; and `redacted` with the secrets' names. Raises BadInput."""
    if value is None:
        return None, redacted
    name = check_name(what, value, limit=limit) or ""
    text, secrets = redact(name, sentences=" " in name)  # an id is no sentence
    return text or None, redacted + secrets


def check_name(what: str, value: Any, *, limit: int = MAX_NAME_CHARACTERS) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise BadInput(f"{what} must be text, not {type(value).__name__}")
    if len(value) <= limit and value.isprintable():
        return value.strip() or None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput(f"{what} is not valid UTF-8") from None
    if len(value) > limit:
        raise BadInput(f"{what} is too long: {len(value):,} characters, {limit} at most")
    if _CONTROL.search(value) or "\n" in value:
        raise BadInput(f"{what} holds a control character or a line break")
    return value.strip() or None


def check_limit(limit: int) -> None:
    """Check a number of rows. Raises BadInput for one that nobody can want."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")


def _check_interval(start: int | None, end: int, now: int) -> None:
    if start is None and end <= now:
        raise BadInput("valid_to is past: say since when it held, too", hint="valid_from, before valid_to")
    if start is not None and end <= start:
        raise BadInput("valid_to must be later than valid_from", hint="intervals are half-open: [valid_from, valid_to)")


def _share(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadInput(f"{name} must be a number from 0 to 1, not {value!r:.60}")
    return float(value)
