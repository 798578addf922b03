"""Exports as one JSON file, plain or in a zip: conversations of ChatGPT and Claude, memories of mem0; and the memory
folder of Claude Code.

A message is an episode in the session of its conversation. Files are read in bounded memory, archives with a limit on
their size.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ...model.errors import BadInput
from . import markdown, texts
from .records import MAX_NAME, Link, Record, TransferReport, cleaned, digest, is_own_file, mapping, picked, records_from

# The largest item of a JSON array.
MAX_ITEM_CHARACTERS = 32_000_000
# The largest unpacked size, and the largest ratio: exports of chats pack about 8 to 1.
MAX_UNPACKED_BYTES = 4 << 30
MAX_RATIO = 200
FREE_BYTES = 64 << 20  # below this no ratio is too high
CHUNK = 1 << 20

_SPACE = re.compile(r"\s*")
# Errors of zipfile for archives that are broken, encrypted or of an unknown kind.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def json_items(file: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the items of a JSON array, or the one value of a file; only the part being read is in memory. Raises
    BadInput."""
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    parse = json.JSONDecoder().raw_decode
    text, at, before, ended, size = "", 0, 0, False, CHUNK
    is_array: bool | None = None
    items = 0

    def problem(what: str) -> BadInput:
        return BadInput(f"{name} {what} at character {before + at:,}")

    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text) and is_array is None:
            is_array = text[at] == "["
            at = _SPACE.match(text, at + is_array).end()  # type: ignore[union-attr]
        if is_array and not items and text[at : at + 1] == "]":
            return
        try:
            value, end = parse(text, at)
            behind = _SPACE.match(text, end).end()  # type: ignore[union-attr]
            # A number may go on behind the part that was read.
            whole, error = ended or (is_array and text[behind : behind + 1] in (",", "]")), None
        except RecursionError:
            raise problem("is nested too deeply") from None
        except ValueError as wrong:
            whole, error = False, wrong
        if whole:
            yield value
            items += 1
            mark = text[behind : behind + 1]
            if (not is_array and not mark) or (is_array and mark == "]"):
                return
            at, size = behind, CHUNK
            if mark != "," or not is_array:
                raise problem("is not JSON, or was cut off,")
            at += 1
            continue
        if len(text) - at > MAX_ITEM_CHARACTERS:
            raise problem("holds an item that is too large")
        if ended:
            raise problem(f"is not JSON, or was cut off ({error}),")
        try:
            raw = file.read(size)
            ended, size = not raw, min(2 * size, 4 * CHUNK)
            text, before, at = text[at:] + decode(raw, ended), before + at, 0
        except UnicodeDecodeError as wrong:
            raise BadInput(f"{name} is not UTF-8: {wrong.reason}") from None


@contextlib.contextmanager
def member(path: Path, wanted: str) -> Iterator[tuple[IO[bytes], str]]:
    """Open the file itself, or the member of that name in a zip archive or folder. Raises BadInput."""
    if path.is_dir():
        path, folder = path / wanted, path
        if not path.is_file():
            raise BadInput(f"{folder} holds no {wanted}")
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                raise BadInput(f"{path} is a damaged archive, or was cut off")
            file.seek(0)
            yield file, path.name
        return
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist()[:100_000] if Path(info.filename).name == wanted]
            if not members:
                raise BadInput(f"{path} holds no {wanted}")
            member = min(members, key=lambda info: len(info.filename))
            # No more than what is declared is unpacked.
            if member.file_size > min(MAX_UNPACKED_BYTES, max(FREE_BYTES, member.compress_size * MAX_RATIO)):
                sizes = f"from {member.compress_size:,} to {member.file_size:,} bytes"
                raise BadInput(f"{wanted} in {path} would unpack {sizes}: refused")
            with archive.open(member) as unpacked:
                yield unpacked, f"{wanted} in {path}"
    except BROKEN_ZIP as error:
        raise BadInput(f"{path} is a damaged archive: {error or type(error).__name__}") from None


def _items(
    path: Path, wanted: str, within: tuple[str, ...], named: str, report: TransferReport
) -> Iterator[tuple[str, Any]]:
    """Yield (place, item) of the list that a file holds, alone or below one of the names `within`. `named`: what the
    report calls an item. Raises BadInput."""
    number = 0
    with member(path, wanted) as (file, name):
        for item in json_items(file, name):
            values = map(mapping(item).get, within)
            for value in next((inner for inner in values if isinstance(inner, list)), [item]):
                number += 1
                report.at(number, number)
                yield f"{named} {number}", value


# -- mem0: a JSON export

MEM0 = {
    "id": "id", "content": "memory text data", "kind": "metadata.type",
    "topics": "categories metadata.category metadata.topic", "created": "created_at", "updated": "updated_at",
    "valid_to": "expiration_date", "session": "run_id", "speaker": "role", "metadata": "metadata",
}  # fmt: skip
MEM0_KINDS = {"preferences": "preference", "goals": "goal", "decisions": "decision"}
# Fields that we read. Others, such as a memory's owner, stay in the metadata.
_MEM0_KNOWN = {"metadata"} | {name for names in MEM0.values() for name in names.split()} - {"run_id"}


def read_mem0(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield the items of a list, below `results` or `memories` or alone. Raises BadInput."""

    def record(item: dict[str, Any], place: str) -> Record:
        values = picked(item, MEM0)
        if values["metadata"] is None or isinstance(values["metadata"], dict):
            others = {name: value for name, value in item.items() if name not in _MEM0_KNOWN and value is not None}
            values["metadata"] = others | (values["metadata"] or {})
        if values["id"] in (None, ""):
            values["id"] = digest(values["content"], values["metadata"])
        return cleaned(place, report, kinds=MEM0_KINDS, **values)

    yield from records_from(_items(path, path.name, ("results", "memories"), "item", report), report, record)


# -- conversations

CONVERSATIONS = "conversations.json"
# Roles of people and assistants; messages of the system and of tools are left out.
SPEAKERS = {"user": "user", "human": "user", "assistant": "assistant", "claude": "assistant"}
OTHERS = "messages of other branches (edited or regenerated) were left out"
# (place, id, texts, role, time) of a message.
_Messages = Iterator[tuple[str, str, list[Any], Any, Any]]


def read_chats(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield every conversation; of one with branches the one last shown. Raises BadInput."""
    for place, conversation in _items(path, CONVERSATIONS, ("conversations",), "conversation", report):
        try:
            if not isinstance(conversation, dict):
                raise BadInput("not an object")
            of = conversation.get
            title, tree, listed = of("title") or of("name"), of("mapping"), of("chat_messages")
            session = _name(of("conversation_id") or of("id") or of("uuid"))
            session = session or digest(title, of("create_time") or of("created_at"))
            about = {"conversation": title[:300]} if isinstance(title, str) and title.strip() else {}
            if isinstance(tree, dict):
                messages = _branch(tree, of("current_node"), place, report)
            elif isinstance(listed, list):
                messages = _listed(listed, of("current_leaf_message_uuid"), place, report)
            else:
                raise BadInput("it has neither a mapping of messages nor chat_messages")
            for where, id, texts, role, at in messages:
                text = "\n".join(part for part in texts if isinstance(part, str) and part.strip())
                if role in ("system", "tool"):
                    report.note("messages of the system and of tools were left out")
                elif not isinstance(role, str) or role not in SPEAKERS:
                    report.bad(where, f"unknown speaker: {str(role)[:60]!r}")
                elif not text:
                    report.note("messages without text were left out")
                else:
                    yield cleaned(
                        where, report, id=f"{session}/{id}", content=text, default="episode", session=session,
                        created=None if isinstance(at, float) and not math.isfinite(at) else at,
                        speaker=SPEAKERS[role], metadata=about,
                    )  # fmt: skip
        except BadInput as error:
            report.bad(place, error.message)


def _branch(tree: dict[str, Any], key: Any, place: str, report: TransferReport) -> _Messages:
    """Yield the messages of ChatGPT's tree from the root to `key`, the last one shown, or to the last leaf."""
    nodes = {key: node for key, node in tree.items() if isinstance(node, dict)}
    messages = {key: node["message"] for key, node in nodes.items() if isinstance(node.get("message"), dict)}
    roles = {key: mapping(message.get("author")).get("role") for key, message in messages.items()}
    if not isinstance(key, str) or key not in nodes:
        parents = {parent for node in nodes.values() if isinstance(parent := node.get("parent"), str)}
        key = next((leaf for leaf in reversed(nodes) if leaf not in parents), None)
    branch = _line(key, {key: node.get("parent") for key, node in nodes.items()})
    others = sum(1 for key, role in roles.items() if key not in branch and isinstance(role, str) and role in SPEAKERS)
    report.note(OTHERS, others)
    for key in reversed(branch):
        if key in messages:
            message = messages[key]
            content = mapping(message.get("content"))
            parts = content.get("parts", [content.get("text")])
            texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
            if isinstance(content.get("parts"), list):
                report.note("images, audio and other attachments were left out", len(parts) - len(texts))
            id = _name(message.get("id")) or key
            yield f"{place}, message {key[:60]}", id, texts, roles[key], message.get("create_time")


def _line(key: Any, parents: dict[str, Any]) -> list[str]:
    """Return a key with those above it, up to the first that is not there."""
    line: dict[str, None] = {}
    while isinstance(key, str) and key in parents and key not in line:
        line[key] = None
        key = parents[key]
    return list(line)


def _listed(messages: list[Any], key: Any, place: str, report: TransferReport) -> _Messages:
    """Yield the messages of Claude's list; where they name their parents those up to `key`, or to the last one."""
    ids = [_name(mapping(message).get("uuid")) for message in messages]
    above = [mapping(message).get("parent_message_uuid") for message in messages]
    parents = {id: parent for id, parent in zip(ids, above, strict=True) if id} if any(above) else {}
    key = key if isinstance(key, str) and key in parents else next(reversed(parents), None)
    others = parents.keys() - _line(key, parents)
    for number, message in enumerate(messages, 1):
        where = f"{place}, message {number}"
        if ids[number - 1] in others:
            report.note(OTHERS)
            continue
        if not isinstance(message, dict):
            report.bad(where, "not an object")
            continue
        parts, texts = message.get("content"), [message.get("text")]
        if isinstance(parts, list):
            written = [mapping(part).get("text") for part in parts if mapping(part).get("type", "text") == "text"]
            report.note("thinking, tool calls and other blocks were left out", len(parts) - len(written))
            if any(isinstance(text, str) and text.strip() for text in written):
                texts = written
        for name in ("attachments", "files"):
            if isinstance(message.get(name), list):
                report.note("images, audio and other attachments were left out", len(message[name]))
        role = message.get("sender") or message.get("role")
        yield where, _name(message.get("uuid")) or str(number), texts, role, message.get("created_at")


def _name(value: Any) -> str | None:
    """Return an id of theirs that is short enough for a session's name, else None."""
    return value.strip()[:MAX_NAME] if isinstance(value, str) and value.strip() and value.isprintable() else None


# -- Claude Code's memory folder: one memory a file with front matter, and MEMORY.md, an index of them

INDEX = "MEMORY.md"
# Their types: the user, how they want things done, a project, a place to look something up.
CLAUDE_KINDS = {"user": "preference", "feedback": "lesson", "project": "fact", "reference": "note"}
ENTRY = re.compile(r"\s*[-*]\s+\[([^\]]*)\]\(([^)\s]+)\)\s*(?:[—–:-]+\s*(.*))?$")


def read_claude_memory(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield records of the folder `path`. A file's name is its id: a changed file edits its memory. Raises BadInput."""
    if not path.is_dir():
        raise BadInput(f"{path} is no folder")
    names = sorted(file.name for file in path.glob("*.md") if is_own_file(file, file.name, report))
    if not names:
        raise BadInput(f"{path} holds no Markdown files")
    files = [path / name for name in names if name != INDEX]
    entries, known = dict[str, tuple[str, str]](), set(files)  # file -> its title and hook
    ids = {file.stem.lower(): file.name for file in files}  # the names by which files link to each other
    for number, line in enumerate((texts.read_lines(path / INDEX, report) or []) if INDEX in names else [], 1):
        entry = ENTRY.match(line)
        if entry and path / entry[2] in known:
            entries[(path / entry[2]).name] = (entry[1].strip(), (entry[3] or "").strip())
        elif line.strip() and not line.startswith("#"):
            problem = "the file that it names is not there" if entry else "not an entry of the index"
            report.bad(f"{INDEX}:{number}", f"{problem}: {line.strip()[:100]}")
    for done, file in enumerate(files, 1):
        report.at(done, len(files))
        lines = texts.read_lines(file, report)
        if lines is not None and "limpet" in mapping(markdown.front_matter(lines).values.get("metadata")):
            report.left(file.name, "files that a mirror of limpet wrote were left out")
        elif lines is not None:
            yield claude_memory_record(file, lines, entries.get(file.name), ids, report)


def claude_memory_record(
    file: Path, lines: list[str], entry: tuple[str, str] | None, ids: dict[str, str], report: TransferReport
) -> Record:
    """Return the record of one file. `entry`: its title and hook in the index; `ids`: the files it may link to."""
    name = file.name
    front = markdown.front_matter(lines)
    for line, text in front.bad:
        report.bad(f"{name}:{line}", f"front matter: {text[:100]}")
    values = front.values
    given = mapping(values.get("metadata"))
    metadata = {field: value for field, value in values.items() if field != "metadata"} | given | {"file": name}
    if entry:
        metadata |= {field: text for field, text in zip(("title", "hook"), entry, strict=True) if text}
    body = "\n".join(lines[front.lines :]).strip()
    targets = dict.fromkeys(ids.get(link.strip().lower()) for link in markdown.WIKI.findall(body))
    if None in targets:
        report.note("links to files that are not there")
    type = given.get("type") or values.get("type")
    return cleaned(
        name, report, id=name, content=body or str(values.get("description") or ""), kinds=CLAUDE_KINDS, kind=type,
        topics=[type, values.get("tags")], source=name[:2_000], metadata=metadata,
        created=given.get("modified") or values.get("modified") or file.stat().st_mtime,
        links=tuple(Link(type="related_to", target=target) for target in targets if target and target != name),
    )  # fmt: skip
