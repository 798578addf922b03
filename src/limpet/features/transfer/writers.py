"""Memories in other programs' formats. Each writer says in the report what its format cannot hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.clock import format_time
from ...model.dataclass import dataclass
from ...model.edges import STORED_TYPES, Edge
from ...model.ids import parse_id
from ...model.memory import Memory
from ...rank.adjust import confidence
from ...store.files import new_file, new_folder
from ...store.records import Filter
from .importer import MARK
from .jsonl import encode
from .programs import MEMORI_KINDS
from .records import TransferReport, kind_of, moment, topics

if TYPE_CHECKING:
    from ...store import Store

PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is exported: the memories of some scopes, oldest first, with their links."""

    store: Store
    scopes: tuple[str, ...] | None  # None = every scope
    now: int  # microseconds UTC
    report: TransferReport
    force: bool = False  # replace a file that is there

    def new_file(self, path: Path) -> AbstractContextManager[IO[bytes]]:
        """Where it is written to. Raises BadInput, StoreError."""
        return new_file(path, store=self.store.path, force=self.force)

    def memories(self, *, ended: bool) -> Iterator[Memory]:
        """Active ones; `ended`: also those that hold no longer. What stays behind is noted."""
        where = Filter(scopes=self.scopes, as_of=None if ended else self.now)
        self._note_rest(where)
        total = self.store.listings.count(where)
        for done, one in enumerate(self.store.listings.each(where, descending=False), 1):
            yield one
            if done % PAGE == 0 or done == total:
                self.report.at(done, total)

    def _note_rest(self, where: Filter) -> None:
        every = Filter(scopes=self.scopes)
        rest = self.store.listings.count(every) - self.store.listings.count(where)
        if rest:
            self.report.note("memories that do not hold now were left out", rest)
        for state in ("archived", "retracted", "merged", "quarantined"):
            count = self.store.listings.count(Filter(scopes=self.scopes, states=(state,)))
            if count:
                self.report.note(f"{state} memories were left out", count)

    def sure(self, memory: Memory) -> float:
        """The confidence of a memory, also of one that was superseded: what it had. A stated one to the last digit."""
        if memory.stated_confidence is not None:
            return memory.stated_confidence
        return confidence(
            kind=memory.kind,
            trust=memory.trust,
            observations=memory.observations,
            observed_at=memory.observed_at_us,
            stated=None,
            now=self.now,
        )

    def edges(self, ids: set[bytes], types: Sequence[str]) -> Iterator[tuple[Edge, int]]:
        """Links between these memories, and since when each holds."""
        found = [edge for edge in self.store.edges.all(types) if edge.source in ids and edge.target in ids]
        for start in range(0, len(found), PAGE):
            part = found[start : start + PAGE]
            events = self.store.ledger.events(ids=[edge.event for edge in part if edge.event is not None])
            since = {event.id: event.data.get("since") for event in events}
            for edge in part:
                at = since.get(edge.event) if edge.event is not None else None
                yield edge, at if isinstance(at, int) else edge.recorded_at


def mark_of(memory: Memory) -> dict[str, Any]:
    """What an import left in the metadata."""
    mark = memory.metadata.get(MARK)
    return mark if isinstance(mark, dict) else {}


def own_metadata(memory: Memory) -> dict[str, Any]:
    return {name: value for name, value in memory.metadata.items() if name != MARK}


def note_lost(memories: Iterable[Memory], report: TransferReport, lost: dict[str, Callable[[Memory], object]]) -> None:
    """Count what a format has no place for."""
    for memory in memories:
        for what, there in lost.items():
            if there(memory):
                report.note(f"{what}: no place in this format")


# -- Memori


def write_memori(source: Source, path: Path) -> int:
    """JSONL as `memori import` reads it. Returns the number of memories."""
    names: set[str] = set()
    lost = {"the end of validity": lambda memory: memory.valid_to, "pins": lambda memory: memory.pinned}
    with source.new_file(path) as file:
        for memory in source.memories(ended=False):
            mark = mark_of(memory)
            id = str(mark.get("id")) if mark.get("from") == "memori" else memory.id
            id = memory.id if id in names else id
            names.add(id)
            created = _parsed(mark.get("created")) or memory.valid_from_us
            line = {
                "id": id,
                "content": memory.content,
                "metadata": _memori_metadata(memory) or None,
                "created_at": created / 1e6,
                "updated_at": (_parsed(mark.get("updated")) or max(memory.valid_from_us, created)) / 1e6,
                "last_accessed": (memory.used_at_us or 0) / 1e6,
                "access_count": memory.uses,
                "vector": None,
            }
            file.write((encode(line) + "\n").encode())
            note_lost([memory], source.report, lost)
    _note_links(source)
    return len(names)


def _memori_metadata(memory: Memory) -> dict[str, Any]:
    """Their metadata as it was; what it does not say already beside it."""
    metadata = own_metadata(memory)
    if (kind_of(metadata.get("type"), MEMORI_KINDS) or "fact") != memory.kind:
        metadata["type"] = memory.kind
    if topics(*(metadata.get(name) for name in ("topic", "topics", "tags"))) != memory.topics:
        metadata["topics"] = list(memory.topics)
    more = {name: value for name, value in _facts(memory).items() if name != "metadata"}
    more["source"] = memory.source
    more["scope"] = memory.scope if mark_of(memory).get("from") != "memori" else None
    return {name: value for name, value in more.items() if value is not None} | metadata


def _facts(memory: Memory) -> dict[str, Any]:
    """What Markdown and Memori's metadata say of a memory beside its text, kind, topics and times."""
    facts = {
        "key": memory.key,
        "session": memory.session,
        "speaker": memory.speaker,
        "confidence": memory.stated_confidence,
        "importance": memory.importance if memory.importance != 0.5 else None,
        "metadata": own_metadata(memory) or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _note_links(source: Source) -> None:
    links = source.store.edges.leaving(Filter(scopes=source.scopes), STORED_TYPES)
    if links:
        source.report.note("links: no place in this format", len(links))


# -- the MCP reference memory server


def write_mcp(source: Source, path: Path) -> int:
    """JSONL of entities and relations. A memory is an observation of what it is about: its entity, or first topic."""
    entities: dict[str, tuple[str, list[str]]] = {}
    of: dict[bytes, str] = {}
    relations: dict[tuple[str, str, str], None] = {}
    written = 0
    for memory in source.memories(ended=False):
        written += 1
        data = own_metadata(memory)
        relation = data.get("relation")
        if isinstance(relation, dict) and set(relation) == {"from", "type", "to"}:
            relations[str(relation["from"]), str(relation["type"]), str(relation["to"])] = None
            continue
        name = data.get("entity")
        name = name if isinstance(name, str) and name else memory.topics[0] if memory.topics else memory.scope
        type = data.get("entity_type")
        known = entities.setdefault(name, (type if isinstance(type, str) else "topic", []))
        of[parse_id(memory.id)] = name
        if "entity" in data and "observation" not in data:
            continue
        known[1].append(memory.content.removeprefix(f"{name}: "))
        source.report.note("times, kinds, confidence, sessions and other metadata: no place in this format")
    for edge, _ in source.edges(set(of), STORED_TYPES):
        ends = of[edge.source], of[edge.target]
        if ends[0] == ends[1]:
            source.report.note("links between two observations of one entity: no place in this format")
        elif edge.type != "related_to" or not any((one[0], one[2]) in (ends, ends[::-1]) for one in relations):
            relations.setdefault((ends[0], edge.type, ends[1]))
    with source.new_file(path) as file:
        for name, (type, texts) in entities.items():
            line = {"type": "entity", "name": name, "entityType": type, "observations": list(dict.fromkeys(texts))}
            file.write((encode(line) + "\n").encode())
        for source_name, type, target in relations:
            line = {"type": "relation", "from": source_name, "to": target, "relationType": type}
            file.write((encode(line) + "\n").encode())
    return written


# -- Markdown


def write_markdown(source: Source, path: Path) -> int:
    """A folder: a file a topic, a list item a memory, with what else is known of it in a comment that people skip."""
    written = 0
    files: dict[str, str] = {}  # first topic -> file name
    lost = {"pins": lambda memory: memory.pinned, "use counts": lambda memory: memory.uses}
    memories = source.memories(ended=False)
    with new_folder(path, store=source.store.path) as folder:
        while part := list(islice(memories, PAGE)):
            texts: dict[str, list[str]] = {}
            for memory in part:
                topic = memory.topics[0] if memory.topics else ""
                if topic not in files:
                    files[topic] = _file_name(topic or memory.scope, set(files.values()))
                    texts[topic] = [f"# {' '.join((topic or memory.scope).split())}\n\n"]
                texts.setdefault(topic, []).append(_item(memory))
            for topic, items in texts.items():
                with (folder / files[topic]).open("a", encoding="utf-8", newline="\n") as file:
                    file.writelines(items)
            written += len(part)
            note_lost(part, source.report, lost)
    _note_links(source)
    return written


def _item(memory: Memory) -> str:
    first, *rest = memory.content.strip().replace("\r\n", "\n").split("\n")
    lines = [f"- {first}", *(f"  {line}" if line.strip() else "" for line in rest)]
    facts: dict[str, Any] = {"id": memory.id, "kind": memory.kind, "since": format_time(memory.valid_from)}
    if memory.valid_to is not None:
        facts["until"] = format_time(memory.valid_to)
    facts |= {"topics": list(memory.topics)} | _facts(memory)
    mark = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).replace(">", "\\u003e")
    return "\n".join(lines) + f" <!-- limpet {mark} -->\n\n"


def _file_name(topic: str, taken: set[str]) -> str:
    plain = re.sub(r"[^\w]+", "-", topic.lower()).strip("-_")[:60] or "notes"
    name, number = f"{plain}.md", 1
    while name in taken or name.lower() in ("claude.md", "agents.md", "gemini.md", "agent.md"):
        number += 1
        name = f"{plain}-{number}.md"
    return name


def _parsed(value: Any) -> int | None:
    return moment(value) if isinstance(value, str) else None
