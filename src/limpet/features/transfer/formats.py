"""The formats by name. A reader or writer is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.errors import BadInput, StoreError
from .records import Record, TransferReport

if TYPE_CHECKING:
    from .writers import Source

# name -> (module, function, what it reads). jsonl is not among them: it is the ledger itself.
READERS: dict[str, tuple[str, str, str]] = {
    "memori": ("memori", "read", "a Memori database, or its JSONL"),
    "amem": ("amem", "read", "an .amem file of AgenticMemory"),
    "pmb": ("pmb", "read", "events.sqlite of a PMB workspace, or its folder"),
    "mem0": ("mem0", "read", "a JSON export of mem0"),
    "chroma": ("chroma", "read", "the folder of a Chroma client, or its chroma.sqlite3"),
    "langgraph": ("langgraph", "read", "the SQLite file of a LangGraph store"),
    "graphiti": ("graphiti", "read", "JSONL of the nodes, edges and episodes of Graphiti or Zep"),
    "letta": ("letta", "read", "an agent file (.af) of Letta"),
    "mcp-memory-service": ("mcp_memory_service", "read", "its sqlite_vec.db"),
    "claude-mem": ("claude_mem", "read", "its claude-mem.db"),
    "mcp": ("mcp", "read", "JSONL of the MCP reference memory server"),
    "claude-memory": ("claude_memory", "read", "Claude Code's memory folder"),
    "markdown": ("markdown", "read", "a folder of Markdown, or one file: notes, CLAUDE.md, AGENTS.md, rules"),
    "chatgpt": ("chats", "read_chatgpt", "ChatGPT's data export: the zip, or conversations.json"),
    "claude": ("chats", "read_claude", "Claude's data export: the zip, or conversations.json"),
}

WRITERS: dict[str, tuple[str, str, str]] = {
    "amem": ("amem_out", "write", "an .amem file, version 1"),
    "markdown": ("writers", "write_markdown", "a new folder, a file a topic"),
    "mcp": ("writers", "write_mcp", "JSONL of the MCP reference memory server"),
    "memori": ("writers", "write_memori", "JSONL as `memori import` reads it"),
}

Reader = Callable[[Path, TransferReport], Iterator[Record]]


def reader(format: str) -> Reader:
    """Raises BadInput for a name that is not known."""
    if format not in READERS:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: jsonl, {', '.join(READERS)}")
    module, name, _ = READERS[format]
    found: Reader = getattr(import_module(f".{module}", __package__), name)
    return found


def writer(format: str) -> Callable[[Source, Path], int]:
    """Raises BadInput for a name that is not known."""
    if format not in WRITERS:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: jsonl, {', '.join(WRITERS)}")
    module, name, _ = WRITERS[format]
    found: Callable[[Source, Path], int] = getattr(import_module(f".{module}", __package__), name)
    return found


def records(format: str, path: Path, report: TransferReport) -> Iterator[Record]:
    """What is in a file or folder. What the file system says becomes a limpet error."""
    read = reader(format)
    if not path.exists():
        raise BadInput(f"no file or folder {path}")
    try:
        yield from read(path, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or path}: {error.strerror}") from None
