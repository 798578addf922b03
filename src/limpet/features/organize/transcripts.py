"""What every reader of transcripts yields: conversations of messages and tool calls in one form, and candidates.

Clients wrap messages in words that nobody said, and limpet puts its own in; both are taken out here.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, Literal

from ...model.dataclass import dataclass, field
from ...model.errors import BadInput
from ...text.blocks import CLOSE, OPEN, strip_blocks
from ..transfer.records import moment

Role = Literal["user", "agent", "tool"]
# Of one message or output; what is longer is a paste, of which only the beginning could be words to somebody.
LONGEST = 20_000
# A text with fewer words states nothing.
FEWEST_WORDS = 3
# Milliseconds since 1970 are above this, seconds below.
_MILLISECONDS = 100_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call and how it ended."""

    command: str  # of a shell; empty for other tools
    path: str = ""  # of a file that it changes
    output: str = ""
    failed: bool | None = None  # None: it is not known, or it was interrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, or one tool call, in the order in which they happened."""

    role: Role
    id: str  # the same each time it is read, and of no other turn of the conversation
    place: str  # where it stands: "line 7"
    text: str = ""  # without what was injected and what clients add
    at: int | None = None  # microseconds UTC
    call: Call | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A statement that a conversation holds, with its evidence."""

    content: str
    kind: str
    rule: str  # what took it: its kind, "retry", "command", "model"
    turn: Turn
    more: tuple[Turn, ...] = ()  # further evidence
    origin: str = "user"
    importance: float = 0.5
    if_corrects: bool = False  # kept only beside a memory about the same


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One run of an agent, or one file of notes (client "notes"), filled while it is read."""

    client: str
    id: str
    path: str
    folder: str = ""  # where the agent worked
    turns: list[Turn] = field(default_factory=list)
    # What limpet put into the conversation, or was given to store from it: what an agent repeats of these is not taken.
    injected_lines: list[str] = field(default_factory=list)
    # What the agent stored through limpet meanwhile: (turns before it, text).
    remembered: list[tuple[int, str]] = field(default_factory=list)
    _open: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # calls without their end: id -> (tool, input)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)

    def name(self, id: Any, folder: Any) -> None:
        """Take the client's own id of the session, and the first folder that is named."""
        if isinstance(id, str) and id.strip() and id.isprintable():
            self.id = id.strip()[:200]
        if isinstance(folder, str) and not self.folder:
            self.folder = folder[:4_000]

    def message(self, role: Role, raw: str, id: Any, place: str, at: Any) -> None:
        """Add what somebody said, without what others put into it."""
        self.injected_lines += injected(raw)
        if text := said(raw):
            self._add(Turn(role=role, id=_id(id, place), place=place, text=text, at=when(at)))

    def began(self, id: Any, tool: Any, given: Any) -> None:
        """Note a tool call; what it stores through limpet is no news of the conversation."""
        if not isinstance(id, str) or not isinstance(tool, str):
            return
        given = decoded(given)
        self._open[id] = tool, given
        texts = _statements(given) if _is_own(tool) else []
        self.injected_lines += texts
        if not _is_own(tool) and (stored := _OWN_STORES.search(_command(tool, given))):
            try:
                texts = [word for word in shlex.split(stored[1]) if len(word.split()) >= FEWEST_WORDS]
            except ValueError:
                texts = []
        elif not _STORES.search(tool):
            texts = []
        self.remembered += [(len(self.turns), text) for text in texts]

    def ended(self, id: Any, output: Any, failed: bool | None, place: str, at: Any) -> None:
        """Add a tool call with its end; limpet's own are left out: what they say is in the store already."""
        tool, given = self._open.pop(id, ("", None)) if isinstance(id, str) else ("", None)
        text = output_text(output)
        if _is_own(tool):
            self.injected_lines += lines_of(text)
        command = _command(tool, given)
        if not tool or _is_own(tool) or _OWN_COMMAND.search(command):
            return
        path = ""
        if not command and any(word in tool.lower() for word in _CHANGES):
            path = _path(given)
        if failed is None and (code := _EXIT.search(text[:2_000]) or _EXIT.search(text[-500:])):
            failed = int(code[1]) != 0
        call = Call(command=command[:4_000], path=path[:1_000], output=text, failed=failed)
        self._add(Turn(role="tool", id=_id(id, place), place=place, at=when(at), call=call))

    def _add(self, turn: Turn) -> None:
        # A resumed session may hold its beginning twice.
        key = turn.role, turn.id, turn.text
        if key not in self._seen:
            self._seen.add(key)
            self.turns.append(turn)


def conversation(client: str, path: Path) -> Conversation:
    """Begin a conversation that a file holds; until the client's own id is read it has the file's name."""
    return Conversation(client=client, id=path.stem[:200], path=str(path))


def _id(id: Any, place: str) -> str:
    return id[:200] if isinstance(id, str) and id else place


def when(value: Any) -> int | None:
    """ISO 8601, or seconds or milliseconds since 1970; None for none, and for what is no time."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value > _MILLISECONDS:
        value = value / 1_000
    try:
        return moment(value)
    except (BadInput, OverflowError, ValueError):
        return None


# -- what was said

# What clients write into messages of people: reminders, the environment, commands of their own and what they printed.
_WRAPPERS = re.compile(
    r"<(system-reminder|environment_context|user_instructions|permissions instructions|ide_selection|ide_opened_file|"
    r"command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr|bash-input|"
    r"bash-stdout|bash-stderr|task-notification|teammate-message|user_info|git_status|attached_files|open_and_recently_viewed_files|"
    r"system_reminder|rules|additional_data|current_datetime|skill|turn_aborted|hook_context|session_context|state_snapshot|INSTRUCTIONS)"
    r"(?:\s[^>\n]{0,300})?>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_USER_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
# Whole messages that no person wrote.
_NOT_SAID = (
    "Caveat: The messages below were generated by the user",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "# AGENTS.md instructions",
    "This is the Gemini CLI. We are setting up the context",
    "<turn_aborted>",
)


def said(raw: str) -> str:
    """The words of a message without what clients and limpet put into it; empty when nothing is left."""
    text = raw[:LONGEST]
    text = strip_blocks("\n".join(_USER_QUERY.findall(text)) or text)
    return "" if text.startswith(_NOT_SAID) else _WRAPPERS.sub("\n", text).strip()


def injected(raw: str) -> list[str]:
    """The lines of limpet's own blocks in a text."""
    return [line for block in raw.split(OPEN)[1:] for line in lines_of(block.partition(CLOSE)[0])]


def lines_of(text: str) -> list[str]:
    """The lines of a text that hold a statement's worth of words, without list marks."""
    lines = (line.strip().lstrip("-*•0123456789. ") for line in text[:LONGEST].splitlines()[:200])
    return [line for line in lines if len(line.split()) >= FEWEST_WORDS]


def texts(value: Any, *types: str) -> str:
    """The text in a message's content: a string, or a list of strings and blocks of some types (none given: all)."""
    parts = []
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict) and (not types or part.get("type") in types):
            part = part.get("text")
        if isinstance(part, str):
            parts.append(part)
    return "\n".join(parts)


# -- tool calls

# The shells of the clients, in lower case; tools that change files, by what their names hold; where these name the file.
_SHELLS = frozenset(
    {"bash", "shell", "exec_command", "local_shell", "container.exec", "run_shell_command", "powershell",
     "run_terminal_cmd", "run_terminal_command", "execute_command", "shell_command", "unified_exec"}
)  # fmt: skip
_CHANGES = ("edit", "write", "replace", "apply_patch", "create", "patch", "notebook")
_FILE = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "filename")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_EXIT = re.compile(r"(?:Process exited with code|[Ee]xit(?:ed with)? code:?|<exited with exit code)\s*:?\s*(-?\d+)")
_STORES = re.compile(r"(?:remember|correct|add|fact)\w*$", re.IGNORECASE)
_OWN_COMMAND = re.compile(r"(?:^|[\s;&|/])limpet\s")
_OWN_STORES = re.compile(_OWN_COMMAND.pattern + r"(?:--\S+ )*(?:remember|correct)\s+(.+)$")


def _is_own(tool: str) -> bool:
    return "limpet" in tool.lower()


def _statements(given: Any) -> list[str]:
    """The texts in what limpet's own tools were given."""
    if isinstance(given, str):
        return [given] if len(given.split()) >= FEWEST_WORDS else []
    if isinstance(given, dict):
        given = list(given.values())
    return [text for part in given[:200] for text in _statements(part)] if isinstance(given, list) else []


def decoded(given: Any) -> Any:
    """Arguments that come as JSON in a string."""
    if isinstance(given, str) and given[:1] in ("{", "[") and len(given) < 1_000_000:
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _command(tool: str, given: Any) -> str:
    """The one line that a shell is given; scripts of several lines are made for one purpose."""
    if (tool.rpartition("__")[2] or tool).lower() not in _SHELLS:
        return ""
    if isinstance(given, dict):
        given = next((given[name] for name in ("command", "cmd", "script") if given.get(name)), "")
    if isinstance(given, list):
        words = [word for word in given if isinstance(word, str)]
        # ["bash", "-lc", "make test"]
        given = words[-1] if len(words) == 3 and words[1] in ("-lc", "-c", "-Command") else " ".join(words)
    return " ".join(given.split()) if isinstance(given, str) and "\n" not in given.strip() else ""


def _path(given: Any) -> str:
    """The file that a tool changes; "?" where that is not known."""
    if isinstance(given, dict):
        for name in _FILE:
            if isinstance(given.get(name), str):
                return str(given[name])
        given = next((given[name] for name in ("input", "patch", "patchText") if isinstance(given.get(name), str)), "")
    patched = _PATCHED.search(given) if isinstance(given, str) else None
    return patched[1].strip() if patched else "?"


def output_text(output: Any) -> str:
    """What a tool answered, as text, from any of the shapes that clients keep."""
    output = decoded(output)
    for _ in range(4):
        if isinstance(output, dict):
            names = ("output", "content", "error", "stderr", "stdout", "message", "text")
            output = next((output[name] for name in names if output.get(name)), "")
    output = texts(output)
    # The end of a long output says how it ended.
    return output if len(output) <= LONGEST else output[: LONGEST // 2] + "\n" + output[-LONGEST // 2 :]
