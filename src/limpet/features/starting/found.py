"""The histories that agents have kept on this machine: which there are, how much, how old, of which projects."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...checkout import checkout_of
from ...model.clock import format_time
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm
from ...model.errors import BadInput
from ...model.memory import check_list
from ...pause import is_ignored, read_folder, read_pauses
from ...store.sql.checkouts import claim
from ..install.clients import Place, user_folders
from ..organize import Sources
from ..organize.clients import CLIENTS, began
from ..organize.files import of_clients
from ..transfer.markdown import MAX_FILE_BYTES, RULES
from . import NOTED

if TYPE_CHECKING:
    from ...context import Context

# What a history is of, when it is no client's conversations.
RULES_NAME, MEMORY_SUFFIX = "rules", " memory"
GONE = "of folders that are gone: `limpet --scope NAME start` takes them"


class KeptHistory(NamedTuple):
    """A file, or a folder of memories, that an agent has kept."""

    client: str  # "claude"; "claude memory"; "rules"
    path: Path
    folder: str  # the agent's; "": everybody's, or many
    size: int  # bytes
    at: int  # when it was changed last, microseconds UTC
    mark: str  # other once it has changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey(JsonForm):
    """What there is. Sizes in bytes."""

    histories: list[KeptHistory] = field(metadata={"name": "new", "form": lambda all: list(map(_shown, all))})
    known: int  # that were read before, and have not changed since
    left_out: Counter[str]  # why, and how many


def _shown(history: KeptHistory) -> dict[str, object]:
    return {
        "what": history.client, "path": str(history.path), "folder": history.folder, "bytes": history.size,
        "changed": format_time(history.at),
    }  # fmt: skip


def find(context: Context, only: Sequence[str], since: int | None, *, by_folder: bool) -> Survey:
    """Find histories that are new or have grown, the last changed first. Raises BadInput for an unknown client."""
    wanted = check_list("only", only) or (*CLIENTS, RULES_NAME)
    if unknown := [name for name in wanted if name not in CLIENTS and name != RULES_NAME]:
        hint = f"one of: {', '.join(sorted(CLIENTS))}, {RULES_NAME}"
        raise BadInput(f"unknown client: {str(unknown[0])[:60]!r}", hint=hint)
    ignore, sources = read_pauses(context.store.path).ignore, Sources(context.store)
    known, left, new = 0, Counter[str](), list[KeptHistory]()
    conversations = [each for name in sorted(CLIENTS) for each in _conversations(name)]
    for history in (*conversations, *_memories(conversations), *_rules(each.folder for each in conversations)):
        if history.client.removesuffix(MEMORY_SUFFIX) not in wanted or (since is not None and history.at < since):
            continue
        if is_ignored(str(history.path), ignore) or "off" in read_folder(history.folder)[1]:
            left["ignored, or of folders that are off"] += 1
        elif by_folder and history.client not in ("opencode", RULES_NAME) and not is_reachable(history.folder):
            left[GONE] += 1
        elif is_read(context, sources, history, since):
            known += 1
        else:
            new.append(history)
    new.sort(key=lambda history: (-history.at, str(history.path)))
    return Survey(histories=new, known=known, left_out=left)


def is_reachable(folder: str) -> bool:
    """Return whether a folder is there, or lies in a git checkout."""
    return os.path.isabs(folder) and (os.path.isdir(folder) or checkout_of(folder).by == "git")  # noqa: PTH112, PTH117


def is_read(context: Context, sources: Sources, history: KeptHistory, since: int | None) -> bool:
    """Return whether a history was read as it is now, and what was read is not taken back."""
    note = sources.get(NOTED, str(history.path))
    if note is None or note.digest != history.mark:
        return False
    before = json.loads(note.reached or "{}")
    if before.get("since") is not None and (since is None or since < before["since"]):
        return False
    memory = context.store.memories.get(bytes.fromhex(before["memory"])) if before.get("memory") else None
    return memory is None or memory.reason != "undone"


def _conversations(client: str) -> Iterator[KeptHistory]:
    for path in of_clients([client]):
        try:
            folder = "" if path.suffix == ".db" else began(path).folder
        except (OSError, BadInput, RecursionError):
            continue
        yield history_of(client, path, folder)


def _memories(conversations: Sequence[KeptHistory]) -> Iterator[KeptHistory]:
    """Yield Claude Code's own memories, a folder for each project: the one of the conversations beside it."""
    folders = {each.path.parent: each.folder for each in conversations if each.client == "claude"}
    for above, folder in folders.items():
        files = [path for path in (above / "memory").glob("*.md") if path.is_file() and not path.is_symlink()]
        if files:
            yield history_of(f"claude{MEMORY_SUFFIX}", above / "memory", folder, files)


def _rules(folders: Iterable[str]) -> Iterator[KeptHistory]:
    """Yield the files of rules that clients read: the user's own, and those of projects."""
    roots = dict.fromkeys((str(folder), "") for folder in user_folders(Place(Path.home(), None, ())))
    for folder in dict.fromkeys(folders):
        if os.path.isabs(folder) and os.path.isdir(folder):  # noqa: PTH112, PTH117
            root = checkout_of(folder).root
            roots |= dict.fromkeys((os.path.join(root, below), root) for below in ("", ".github", ".claude"))  # noqa: PTH118
    seen: set[tuple[str, bytes]] = set()
    for place, folder in roots:
        with suppress(OSError):
            for path in sorted(Path(place).iterdir()):
                is_rules = path.name.lower() in RULES and path.is_file() and not path.is_symlink()
                # One may be a copy of another.
                if is_rules and (about := (folder, path.read_bytes()[:MAX_FILE_BYTES])) not in seen:
                    seen.add(about)
                    yield history_of(RULES_NAME, path, folder)


def history_of(client: str, path: Path, folder: str, files: Sequence[Path] = ()) -> KeptHistory:
    """Return a history as it is now. `files`: those of a folder; else it is one file, and the log beside a database."""
    about = [file.stat() for file in files or (path, path.with_name(f"{path.name}-wal")) if file.is_file()]
    size, last = sum(each.st_size for each in about), max((each.st_mtime_ns for each in about), default=0)
    return KeptHistory(client, path, folder, size, last // 1_000, f"{len(about)}-{size}-{last}")


def scope_of(context: Context, folder: str) -> str | None:
    """Return the scope that a hook in a folder has, claimed for the folder's checkout; None for one that is gone."""
    if not is_reachable(folder):
        return None
    checkout = checkout_of(folder)
    scope = context.store.checkouts.scopes_of(checkout)[0]
    claim(context.store.database, checkout, context.now(), scope)
    return scope
