"""LangGraph's long-term memory (`BaseStore`) on a limpet store: an item is a memory, its namespace its topics.

`store.search(("limpet",), query=...)` reads everything in the scope, whoever remembered it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput, NotFound
from . import framework
from .documents import Documents, data_of, now, pages, readable

with framework("limpet[langgraph]"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
        get_text_at_path,
    )

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory

ADAPTER = "langgraph"
# The namespace of whatever the scope holds; nothing is put there.
EVERYTHING = ("limpet",)
MOST_RESULTS = 1_000
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "$gt": float.__gt__, "$gte": float.__ge__, "$lt": float.__lt__, "$lte": float.__le__,
}  # fmt: skip


class LimpetStore(BaseStore):
    """Items in the scope of an open store.

    `fields`: which parts of a value search reads (LangGraph's paths; default: all of it). `ttl`: LangGraph's TTLConfig.
    `scope_of`: the scope that a namespace's items are kept in; default: that of `memory` for all.
    """

    supports_ttl = True

    def __init__(
        self, memory: Limpet, *, fields: list[str] | None = None, ttl: Any = None,
        scope_of: Callable[[tuple[str, ...]], str] | None = None,
    ) -> None:  # fmt: skip
        self.ttl_config = ttl
        self._fields = fields
        self._memory = memory
        self._scope_of = scope_of or (lambda _: memory.scope)
        self._scopes: dict[str, Documents] = {}
        # Items of several namespaces may be of several scopes.
        self._reader = memory.in_all_scopes() if scope_of else memory

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Run operations. Reads see the state before the batch; of several puts of an item the last counts."""
        ops = list(ops)
        results: list[Any] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            _check(op)
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _documents(self, namespace: tuple[str, ...]) -> Documents:
        scope = self._scope_of(namespace)
        return self._scopes.setdefault(scope, Documents(self._memory.in_scope(scope), ADAPTER))

    def _get(self, op: GetOp) -> Item | None:
        if op.namespace == EVERYTHING:
            try:
                return Item(**_any(self._memory.get(op.key)))
            except NotFound:
                return None
        memory = self._documents(op.namespace).get(_name(op.namespace, op.key))
        if memory is None:
            return None
        self._prolong([memory], wanted=op.refresh_ttl)
        return Item(**_item(memory))

    def _put(self, op: PutOp) -> None:
        documents, name = self._documents(op.namespace), _name(op.namespace, op.key)
        if op.value is None:
            documents.delete(name)
            return
        there = documents.get(name)
        more: dict[str, Any] = {"namespace": list(op.namespace), "item": op.key, "ttl": op.ttl}
        if there is not None:
            more["first"] = there.metadata.get("first") or there.created_at.isoformat()
        fields = self._fields if op.index is None else op.index
        topics = [".".join(op.namespace[: i + 1]) for i in range(len(op.namespace))]
        until = None if op.ttl is None else now() + timedelta(minutes=op.ttl)
        more["searched"] = fields is not False
        documents.put(name, readable(_text(op.value, fields)), data=op.value, topics=topics, until=until, **more)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        everything = op.namespace_prefix == EVERYTHING
        matches = self._matches(op, everything)
        shape = _any if everything else _item
        made = [
            SearchItem(**shape(memory), score=score)
            for memory, score in matches
            if everything or _place(memory)[0][: len(op.namespace_prefix)] == op.namespace_prefix
        ]
        kept = [item for item in made if _passes(item.value, op.filter or {})][op.offset :][: op.limit]
        if not everything:
            shown = {(item.namespace, item.key) for item in kept}
            self._prolong([memory for memory, _ in matches if _place(memory) in shown], wanted=op.refresh_ttl)
        return kept

    def _matches(self, op: SearchOp, everything: bool) -> list[tuple[Memory, float | None]]:
        """Return (memory, score) for results of a recall, then (memory, None) for values that are not searched; without
        a query (memory, None), newest first."""
        topics = [".".join(op.namespace_prefix)] if op.namespace_prefix else []
        if not op.query:
            ours = pages(self._reader, metadata={"adapter": ADAPTER}, topics=topics)
            memories = pages(self._memory) if everything else ours
            return [(memory, None) for memory in sorted(memories, key=lambda row: row.recorded_at_us, reverse=True)]
        k = MOST_RESULTS if op.filter else max(1, min(MOST_RESULTS, op.offset + op.limit))
        if everything:
            return [(self._memory.get(item.id), item.score) for item in self._memory.recall(op.query, k=k)]
        items = self._reader.recall(op.query, k=k, metadata={"adapter": ADAPTER, "searched": True}, topics=topics)
        left = pages(self._reader, metadata={"adapter": ADAPTER, "searched": False}, topics=topics)
        return [(self._reader.get(item.id), item.score) for item in items] + [(memory, None) for memory in left]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        paths = {_place(memory)[0] for memory in pages(self._reader, metadata={"adapter": ADAPTER})}
        paths = {path for path in paths if all(_fits(condition, path) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            paths = {path[: op.max_depth] for path in paths}
        return sorted(paths)[op.offset :][: op.limit]

    def _prolong(self, read: list[Memory], *, wanted: bool) -> None:
        for memory in read if wanted else ():
            ttl = memory.metadata.get("ttl")
            if isinstance(ttl, int | float):
                store, until = self._memory.in_scope(memory.scope), now() + timedelta(minutes=ttl)
                store.remember(memory.content, kind=memory.kind, valid_to=until, origin=memory.origin)


def _check(op: Any) -> None:
    """Check a namespace. Raises InvalidNamespaceError: labels are joined with dots."""
    namespaces: list[Any] = [getattr(op, "namespace", None) or getattr(op, "namespace_prefix", ())]
    namespaces += [condition.path for condition in getattr(op, "match_conditions", None) or ()]
    for namespace in namespaces:
        if not all(isinstance(label, str) and label and "." not in label for label in namespace):
            raise InvalidNamespaceError(f"labels are texts without dots, not {namespace!r}")
    if isinstance(op, PutOp) and (not op.namespace or op.namespace[0] == EVERYTHING[0]):
        raise InvalidNamespaceError(f"nothing can be put into {op.namespace!r}")


def _name(namespace: tuple[str, ...], key: str) -> str:
    return f"{'.'.join(namespace)}/{key}"


def _place(memory: Memory) -> tuple[tuple[str, ...], str]:
    return tuple(memory.metadata["namespace"]), str(memory.metadata["item"])  # type: ignore[arg-type]


def _item(memory: Memory) -> dict[str, Any]:
    namespace, key = _place(memory)
    first = memory.metadata.get("first")
    created = datetime.fromisoformat(str(first)) if first else memory.created_at
    times = {"created_at": created, "updated_at": memory.recorded_at}
    return {"namespace": namespace, "key": key, "value": data_of(memory), **times}


def _any(memory: Memory) -> dict[str, Any]:
    """Return any memory as an item of the namespace EVERYTHING."""
    value: dict[str, Any] = {"text": memory.content, "kind": memory.kind, "topics": list(memory.topics)}
    value |= {"origin": memory.origin, "trust": memory.trust}
    times = {"created_at": memory.created_at, "updated_at": memory.recorded_at}
    return {"namespace": EVERYTHING, "key": memory.id, "value": value, **times}


def _text(value: dict[str, Any], fields: Any) -> str:
    """Return the searchable text of a value: its only text, or a line for each part of it."""
    if fields is False:
        return ""
    if fields:
        return "\n".join(text for path in fields for text in get_text_at_path(value, path))
    lines = list(_lines(value, ""))
    return lines[0][1] if len(lines) == 1 else "\n".join(f"{path}: {text}" for path, text in lines)


def _lines(value: Any, path: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _lines(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _lines(part, path)
    elif value is not None:
        yield path, str(value)


def _passes(value: Any, wanted: Any) -> bool:
    """Return whether a value passes LangGraph's filter: equal values, parts of objects, and operators."""
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_holds(value, name, other) for name, other in wanted.items())
    return isinstance(value, dict) and all(_passes(value.get(name), other) for name, other in wanted.items())


def _holds(value: Any, operator: str, other: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool(value == other) is (operator == "$eq")
    if operator not in _ORDER:
        raise ValueError(f"Unsupported operator: {operator}")
    if value is None or other is None:
        return False
    try:
        return _ORDER[operator](float(value), float(other))
    except (TypeError, ValueError):
        raise BadInput(f"{operator} compares numbers, not {value!r:.40} and {other!r:.40}") from None


def _fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Return whether a namespace begins or ends with a path, in which "*" is any label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
