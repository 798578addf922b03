"""The output of transcript readers: conversations of messages and tool calls, and candidates.

Clients wrap messages in words that nobody said, and limpet puts its own in; both are taken out here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from ... import registry
from ...agents.hooks.actions import PATCHED, SHELLS, STEP, file_of
from ...agents.hooks.client_adapters import nested
from ...model.dataclass import dataclass
from ...model.errors import BadInput
from ...text.blocks import CLOSE, OPEN, split_typed, strip_blocks
from ..transfer.records import moment

Role = Literal["user", "agent", "tool", "pasted"]
# What clients call them.
_ROLES: dict[str, Role] = {
    "user": "user", "user_message": "user", "UserMessage": "user", "assistant": "agent", "agent_message": "agent",
    "AgentMessage": "agent", "gemini": "agent", "model": "agent",
}  # fmt: skip
# Of one message or output; what is longer is a paste, of which only the beginning could be words to somebody.
LONGEST = 20_000
# A text with fewer words states nothing.
FEWEST_WORDS = 3
# Milliseconds since 1970 are above this, seconds below.
_MILLISECONDS = 100_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, or one tool call, in the order in which they happened."""

    role: Role
    id: str  # the same each time it is read, and of no other turn of the conversation
    place: str  # where it stands: "line 7"
    text: str = ""  # without what was injected, what clients add, and what a user pasted
    outside: str = ""  # of an agent's message: the origin of what it had read from outside by then
    at: int | None = None  # microseconds UTC
    # Of a tool call: the shell's command, the file that it changes, its output; whether it failed (None: not known).
    command: str = ""
    path: str = ""
    output: str = ""
    failed: bool | None = None


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


class Conversation:
    """One run of an agent, or one file of notes (client "notes"), filled while it is read."""

    def __init__(self, client: str, path: Path, *, whole: bool = False) -> None:
        """Begin a conversation. `whole`: what a user pasted is a turn too."""
        self.client, self.path, self._whole = client, str(path), whole
        self.id = path.stem[:200]  # until the client's own is read
        self.root = ""  # the conversation that this one is a copy of, by its client's word, else its own id
        self.folder = ""  # where the agent worked
        self.turns: list[Turn] = []
        # What limpet put into the conversation, or was given from it: what an agent repeats of these is not taken.
        self.injected_lines: list[str] = []
        # What the agent stored through limpet meanwhile: (turns before it, text).
        self.remembered: list[tuple[int, str]] = []
        self._open: dict[str, tuple[Any, Any]] = {}  # calls without their end: id -> (tool, input)
        self._seen: set[tuple[str, str, str]] = set()
        self._outside = ""

    @property
    def begun(self) -> bool:
        """Whether there was a turn, which may have been taken out of `turns` since."""
        return bool(self._seen)

    def name(self, id: Any, folder: Any) -> None:
        """Take the client's own id of the session, and the first folder that is named."""
        if isinstance(id, str) and id.strip() and id.isprintable():
            self.id = id.strip()[:200]
        if isinstance(folder, str) and not self.folder:
            self.folder = folder[:4_000]

    def message(self, role: Any, raw: str, id: Any, place: str, at: Any) -> None:
        """Add what somebody said, without what others put into it. `role`: by the client's name."""
        self.injected_lines += injected(raw)
        who, text = _ROLES.get(str(role)), spoken(raw)
        if who == "user":
            said, (text, pasted) = text, split_typed(text)
            self._outside = "web" if pasted else self._outside
            typed = set(text.splitlines())
            other = "\n".join(line for line in said.splitlines() if line.strip() not in typed).strip()
            if pasted and other and self._whole:
                self._add("pasted", id, place, at, other, outside="web")
        if who is not None and text:
            self._add(who, id, place, at, text, outside=self._outside if who == "agent" else "")

    def began(self, id: Any, tool: Any, given: Any) -> None:
        """Note a tool call; what limpet is given is no news of the conversation."""
        if not isinstance(id, str) or not isinstance(tool, str):
            return
        given = nested(given)
        self._open[id] = tool, given
        command = _command(tool, given)
        if _is_own(tool, command):
            lines = lines_of(command or output_text(given))
            self.injected_lines += lines
            if any(name in (command or tool).lower() for name in _STORES):
                self.remembered += [(len(self.turns), line) for line in lines]

    def ended(self, id: Any, output: Any, failed: bool | None, place: str, at: Any) -> None:
        """Add a tool call with its end; limpet's own are left out: what they say is in the store already."""
        tool, given = self._open.pop(id, ("", None)) if isinstance(id, str) else ("", None)
        text, command = output_text(output), _command(tool, given)
        if _is_own(tool, command):
            self.injected_lines += lines_of(text)
        if not tool or _is_own(tool, command):
            return
        read = registry.call("read_by", tool, given, self.folder)
        if read is not None and self._outside != "web":
            self._outside = read[0]
        path = "" if command or not any(word in tool.lower() for word in _CHANGES) else _path(given)
        # A shell that ran is a success of the tool, whatever the command said.
        if failed is not True and (code := _EXIT.search(text[:2_000]) or _EXIT.search(text[-500:])):
            failed = int(code[1]) != 0
        self._add("tool", id, place, at, command=command[:4_000], path=path[:1_000], output=text, failed=failed)

    def _add(self, role: Role, id: Any, place: str, at: Any, text: str = "", **call: Any) -> None:
        id = id[:200] if isinstance(id, str) and id else place
        if (role, id, text) in self._seen:  # a resumed session may hold its beginning twice
            return
        self._seen.add((role, id, text))
        # ISO 8601, or seconds or milliseconds since 1970; None for none, and for anything else.
        if isinstance(at, int | float) and not isinstance(at, bool) and at > _MILLISECONDS:
            at = at / 1_000
        try:
            time = moment(at)
        except (BadInput, OverflowError, ValueError):
            time = None
        self.turns.append(Turn(role=role, id=id, place=place, text=text, at=time, **call))


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
_QUERY, _QUERY_END = "<user_query>", "</user_query>"
# Whole messages that no person wrote.
_NOT_SAID = (
    "Caveat: The messages below were generated by the user",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "# AGENTS.md instructions",
    "This is the Gemini CLI. We are setting up the context",
    "<turn_aborted>",
)


def spoken(raw: str) -> str:
    """Return a message's words without those that clients and limpet add; "" when nothing is left."""
    text = _WRAPPERS.sub("\n", strip_blocks(raw[:LONGEST])).strip()
    if text.startswith(_QUERY):  # a client's own; within what somebody typed or pasted it is text
        text = text.removeprefix(_QUERY).rpartition(_QUERY_END)[0] or text.removeprefix(_QUERY)
    return "" if text.startswith(_NOT_SAID) else text.strip()


def injected(raw: str) -> list[str]:
    """Return the lines of limpet's own blocks in a text."""
    return [line for block in raw.split(OPEN)[1:] for line in lines_of(block.partition(CLOSE)[0])]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that hold a statement's worth of words, without list marks."""
    lines = (line.strip().lstrip("-*•0123456789. ") for line in text[:LONGEST].splitlines()[:200])
    return [line for line in lines if len(line.split()) >= FEWEST_WORDS]


def texts(value: Any, *types: str) -> str:
    """Return the text of a message's content: a string, or a list of strings and blocks of some types (none: all)."""
    parts = value if isinstance(value, list) else [value]
    wanted = [part.get("text") for part in parts if isinstance(part, dict) and (not types or part.get("type") in types)]
    return "\n".join(part for part in [*parts, *wanted] if isinstance(part, str))


# -- tool calls

# What names of tools that change files hold.
_CHANGES = ("edit", "write", "replace", "apply_patch", "create", "patch", "notebook")
_OUTPUT = ("output", "content", "error", "stderr", "stdout", "message", "text", "functionResponse", "response", "items")
_EXIT = re.compile(r"exit(?:ed)?(?: with)?(?: exit)? code\s*:?\s*(-?\d+)", re.IGNORECASE)
# Names of limpet's tools and commands that store.
_STORES = ("remember", "correct", "fact")


def _is_own(tool: str, command: str) -> bool:
    """Return whether a call is of limpet's own tools or command."""
    words = (word.rpartition("/")[2] for step in STEP.split(command) for word in step.split())
    return "limpet" in tool.lower() or "limpet" in words


def _command(tool: str, given: Any) -> str:
    """Return a shell's command if it is one line; scripts of several lines serve one purpose."""
    if (tool.rpartition("__")[2] or tool).lower() not in SHELLS:
        return ""
    if isinstance(given, dict):
        given = next((given[name] for name in ("command", "cmd", "script") if given.get(name)), "")
    if isinstance(given, list):
        words = [word for word in given if isinstance(word, str)]
        # ["bash", "-lc", "make test"]
        given = words[-1] if len(words) == 3 and words[1] in ("-lc", "-c", "-Command") else " ".join(words)
    return " ".join(given.split()) if isinstance(given, str) and "\n" not in given.strip() else ""


def _path(given: Any) -> str:
    """Return the file that a tool changes; "?" where that is not known."""
    if path := file_of(given):
        return path
    if isinstance(given, dict):
        patches = (given[name] for name in ("input", "patch", "patchText") if isinstance(given.get(name), str))
        given = next(patches, "")
    patched = re.search(PATCHED, given, re.MULTILINE) if isinstance(given, str) else None
    return patched[1] if patched else "?"


def output_text(output: Any, depth: int = 6) -> str:
    """Return a tool's output as text, from any of the shapes that clients store."""
    output = nested(output)
    if isinstance(output, dict):
        output = next((output[name] for name in _OUTPUT if output.get(name)), "")
    if isinstance(output, dict | list):
        parts = output if isinstance(output, list) else [output]
        output = "\n".join(filter(None, (output_text(part, depth - 1) for part in parts if depth)))
    text = output if isinstance(output, str) else ""
    # The end of a long output says how it ended.
    return text if len(text) <= LONGEST else text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]
