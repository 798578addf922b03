"""Claude's memory tool (`memory_20250818`): each file below /memories is a memory, which any recall finds.

The file `SHARED` shows what others remember in the scope. A folder exists while it holds a file.
"""

from __future__ import annotations

import asyncio
import posixpath
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from . import framework
from .documents import Documents, line, text_of

with framework("limpet[claude]"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory

ADAPTER = "claude"
ROOT = "/memories"
# A file, made when it is read, with what others remember in this scope.
SHARED = f"{ROOT}/from-other-agents.md"
SHARED_MEMORIES = 100
MOST_LINES = 999_999
NUMBER_WIDTH = len(str(MOST_LINES))
GONE = "The path {} does not exist"


class LimpetMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool in the scope of an open store. `shared`: show what others remember there, as a file.

    `client.beta.messages.run_tools(tools=[LimpetMemoryTool(memory)], ...)`
    """

    def __init__(self, memory: Limpet, *, shared: bool = True, **given: Any) -> None:
        super().__init__(**given)
        self._files = Documents(memory, ADAPTER)
        self._shared = shared

    def execute(self, command: Any) -> Any:
        """Run a command. Raises ToolError for errors that Claude should read."""
        try:
            return super().execute(command)
        except BadInput as error:
            raise ToolError(error.message) from error

    def view(self, command: Any) -> str:
        path = _checked(command.path)
        if self._shared and path == SHARED:
            return _numbered(command.path, self._of_others(), command.view_range)
        file = self._files.get(path)
        if file is not None:
            return _numbered(command.path, text_of(file), command.view_range)
        files = self._below(path)
        if not files and path != ROOT:
            raise ToolError(f"{GONE.format(command.path)}. Please provide a valid path.")
        if self._shared and path == ROOT and (others := self._of_others()):
            files[SHARED] = len(others.encode())
        return _listed(command.path, path, files)

    def create(self, command: Any) -> str:
        path = self._free(command.path, "File {} already exists")
        self._files.put(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        path, file = self._file(command.path)
        text = text_of(file)
        count = text.count(command.old_str)
        if not count or not command.old_str:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if count > 1:
            starts = (at for at in range(len(text)) if text.startswith(command.old_str, at))
            lines = [str(text.count("\n", 0, at) + 1) for at in starts]
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: "
                f"{', '.join(lines)}. Please ensure it is unique"
            )
        changed = text[: text.index(command.old_str)].count("\n")
        text = text.replace(command.old_str, command.new_str)
        self._files.put(path, text, over=file)
        first = max(0, changed - 2)
        snippet = _lines(text.split("\n")[first : changed + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, command: Any) -> str:
        path, file = self._file(command.path)
        lines = text_of(file).split("\n")
        if not lines[-1]:
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._files.put(path, text if text.endswith("\n") else f"{text}\n", over=file)
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if not (self._files.delete(path) or [self._files.delete(below) for below in self._below(path)]):
            raise ToolError(GONE.format(command.path))
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old = _checked(command.old_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        new = self._free(command.new_path, "The destination {} already exists")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        moved = [old] if self._files.get(old) else list(self._below(old))
        if not moved:
            raise ToolError(GONE.format(command.old_path))
        for path in moved:
            file = self._files.get(path)
            assert file is not None
            self._files.put(new + path.removeprefix(old), text_of(file))
            self._files.delete(path)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        for path in self._below(ROOT):
            self._files.delete(path)
        return "All memory cleared"

    def _below(self, folder: str) -> dict[str, int]:
        """Return path -> size of the files in a folder."""
        sizes = {str(file.metadata["document"]): len(text_of(file).encode()) for file in self._files.all()}
        return {path: size for path, size in sizes.items() if path.startswith(f"{folder}/")}

    def _file(self, given: str) -> tuple[str, Memory]:
        path = _checked(given)
        file = self._files.get(path)
        if file is None:
            if path == ROOT or self._below(path):
                raise ToolError(f"The path {given} is not a file.")
            raise ToolError(f"{GONE.format(given)}. Please provide a valid path.")
        return path, file

    def _free(self, given: str, taken: str) -> str:
        """Return the checked path. Raises ToolError if something is there, or a file lies above it."""
        path = _checked(given)
        if path in (ROOT, SHARED) or self._files.get(path) or self._below(path):
            raise ToolError(taken.format(given))
        above = posixpath.dirname(path)
        while above != ROOT:
            if self._files.get(above):
                raise ToolError(f"{above} is a file and no directory")
            above = posixpath.dirname(above)
        return path

    def _of_others(self) -> str:
        """Return the newest memories of this scope that are none of these files."""
        page = self._files.memory.list(limit=2 * SHARED_MEMORIES)
        others = [memory for memory in page.memories if memory.metadata.get("adapter") != ADAPTER]
        return "\n".join(map(line, others[:SHARED_MEMORIES]))


def _on_a_thread(name: str) -> Any:
    async def run(self: Any, *command: Any) -> Any:
        return await asyncio.to_thread(getattr(self.tool, name), *command)

    return run


class AsyncLimpetMemoryTool(BetaAsyncAbstractMemoryTool):
    """Claude's memory tool for the asynchronous client. Its calls run on threads."""

    def __init__(self, memory: Limpet, *, shared: bool = True, **given: Any) -> None:
        super().__init__(**given)
        self.tool = LimpetMemoryTool(memory, shared=shared)

    execute, view, create, str_replace, insert, delete, rename, clear_all_memory = map(
        _on_a_thread,
        ("execute", "view", "create", "str_replace", "insert", "delete", "rename", "clear_all_memory"),
    )


def _checked(path: str) -> str:
    """Return the path without `.` and `..`. Raises ToolError when it is not below /memories."""
    plain = posixpath.normpath(path)
    if plain != ROOT and not plain.startswith(f"{ROOT}/"):
        if path.startswith(ROOT):
            raise ToolError(f"Path {path} would escape /memories directory")
        raise ToolError(f"Path must start with /memories, got: {path}")
    return plain


def _numbered(path: str, text: str, span: list[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if span and len(span) == 2:
        first, last = max(1, span[0]), len(lines) if span[1] == -1 else span[1]
    return f"Here's the content of {path} with line numbers:\n{_lines(lines[first - 1 : last], first)}"


def _lines(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{NUMBER_WIDTH}}\t{text}" for number, text in enumerate(lines, first))


def _listed(shown: str, folder: str, files: dict[str, int]) -> str:
    """Return a listing of two levels of a folder, without hidden files; a folder's size is that of its files."""
    sizes: dict[tuple[str, ...], int] = {}
    for path, size in files.items():
        parts = path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") for part in parts[:2]):
            continue
        for depth in range(1, min(len(parts), 2) + 1):
            name = (*parts[: depth - 1], parts[depth - 1] + ("/" if depth < len(parts) else ""))
            sizes[name] = sizes.get(name, 0) + size
    lines = [f"{_size(sum(files.values()))}\t{shown}"]
    named = sorted(sizes, key=lambda name: [part.rstrip("/") for part in name])
    lines += [f"{_size(sizes[name])}\t{posixpath.join(shown, *name)}" for name in named]
    return f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:\n" + "\n".join(
        lines
    )


def _size(size: int) -> str:
    """Format a size: 4096 is 4K, 1536 is 1.5K."""
    amount, unit = float(size), "B"
    for unit in "BKMG":
        if amount < 1024 or unit == "G":
            break
        amount /= 1024
    return f"{amount:.1f}".removesuffix(".0") + unit
