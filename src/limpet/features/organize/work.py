"""Lessons from tool calls: a failure, what was changed, the success that followed; and commands that work.

From tool calls alone. A test that fails while code is being written is no lesson: between failure and success there
must be something that explains it (another wording of the command, a command that acts, a change of a configuration
file, or words that name the cause).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ...text.blocks import plain_line
from ...text.secrets import redact, redact_command
from .rules import Found, from_messages, rejects
from .turns import Call, Turn

# A success counts as the answer to a failure within so many calls.
REACH = 12
COMMAND_CHARACTERS, ERROR_CHARACTERS = 160, 160
# A command is known to work when it did so often.
WORKED = 2

_STEP = re.compile(r"\s*(?:&&|\|\||[;|])\s*")
_ENVIRONMENT = re.compile(r"^[A-Za-z_]\w*=\S*$")
# Commands that look, or whose failure is an answer; nothing is learned from how they end.
_LOOKS = frozenset(
    {"ls", "cat", "pwd", "cd", "echo", "head", "tail", "less", "which", "whoami", "type", "find", "grep", "rg", "fd", "wc", "stat", "file",
     "tree", "du", "df", "ps", "env", "printenv", "date", "true", "false", "sleep", "history", "man", "dir", "test", "[", "diff", "sed", "awk",
     "jq", "cut", "sort", "uniq", "xargs", "printf", "mkdir", "rm", "cp", "mv", "touch", "command", "git", "kill", "pkill", "lsof", "ag"}
)  # fmt: skip
# Programs whose commands are a project's own: name -> words that must follow, none for any.
_RUNNERS = re.compile(
    r"^(?:make|just|task|tox|nox|rake|mix|bazel|invoke|npm (?:run|test|ci)|pnpm|yarn|bun|npx|cargo|go|gradle|\./gradlew|mvn|\./mvnw|dotnet|"
    r"docker[ -]compose|uv run|poetry run|pdm run|hatch run|pipenv run|bundle exec|python3? -m|pytest|ruff|mypy|eslint|tsc|\./[\w./-]+|(?:bash|sh) [\w./-]+)\b"
)
_DOES = re.compile(
    r"(?:test|build|lint|check|deploy|migrat|format|fmt|release|start|serve|seed|install|run|up|bench|doc|generate|typecheck|mypy|clippy|pytest|dev)",
    re.IGNORECASE,
)
# Commands made for one place: a single test, a temporary file, a shell's expansion.
_NARROW = re.compile(
    r"::|/tmp/|\$\(|\$\w|[<>*{}]|\s-k\s|\s--grep|--filter|-run\s|\s-t\s|\.(?:test|spec)\.|test_\w+\.py|\s-c\s|\be2e/\S+\."
)
# What anybody tries first in any project of its kind: that it works says nothing about this one.
_EVERYWHERE = re.compile(
    r"^(?:cargo (?:test|build|check|run|fmt)|go (?:test|build|vet)(?: \./\.\.\.)?|(?:npm|pnpm|yarn|bun) (?:install|ci|i)|dotnet (?:test|build)|mvn (?:test|package|install))$"
)
_CONFIGURATION = re.compile(
    r"(?:\.(?:toml|ya?ml|json|ini|cfg|conf|env|properties|tf|lock|nix)|(?:^|/)(?:Makefile|Dockerfile|\.env[\w.]*|\.npmrc|\.nvmrc|\.tool-versions|Procfile|justfile|requirements[\w.-]*\.txt))$"
)
_ERROR = re.compile(
    r"(?:^|\b)(?:[A-Z]\w*(?:Error|Exception|Refused)\b|error\b|ERR!|fatal\b|failed\b|cannot\b|can't\b|could not\b|not found\b|no such\b|denied\b|refused\b|timed? ?out\b|missing\b|"
    r"unable\b|invalid\b|undefined\b|unknown\b|locked\b|in use\b|E[A-Z]{4,}\b)",
    re.IGNORECASE,
)
# Lines that say that something failed but not what.
_EMPTY_ERROR = re.compile(
    r"^(?:=+|-+|_+|\d+ (?:failed|errors?)|FAILED|make(?:\[\d+\])?: \*\*\*|npm ERR! (?:code|A complete log|errno)|error Command failed|Exit code|Traceback|\s*at )",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"\b(?:that worked|works now|it works|that works|working now|that did it|that fixed it|this worked|perfect,? (?:that|it) (?:works|worked)|all (?:green|passing) now)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|the (?:problem|issue|cause|fix|solution|culprit|root cause|reason) (?:is|was)|turn(?:s|ed) out|root cause|was missing|is missing|needs? to|must|requires?|caused by|due to|"
    r"wasn't (?:running|installed|set|exported)|isn't (?:running|installed|set|exported)|not (?:running|installed|set))\b",
    re.IGNORECASE,
)
_INTENT = re.compile(
    r"\b(?:let me|i'll|i will|looks like|seems|might|maybe|perhaps|probably|i think|i suspect|could be|i need to|we need to|let's)\b",
    re.IGNORECASE,
)


def extract(turns: Sequence[Turn], *, notes: bool = False, changes: bool = False) -> list[Found]:
    """Everything that the rules take from a conversation, in order of its evidence. `changes`: see `from_messages`."""
    found = list(from_messages(turns, notes=notes, changes=changes))
    order = {id(turn): place for place, turn in enumerate(turns)}
    if not notes:
        for lesson, parts in lessons(turns, found):
            # One lesson a failure: what was said of it meanwhile is part of it.
            found = [one for one in found if not any(one is part for part in parts)] + [lesson]
        told = " ".join(one.content for one in found if one.kind == "lesson")
        found += [one for one in commands(turns) if one.content.removesuffix(" works here.") not in told]
    return sorted(found, key=lambda one: order[id(one.turn)])


def lessons(turns: Sequence[Turn], told: Sequence[Found] = ()) -> Iterator[tuple[Found, list[Found]]]:
    """Failure, retry, success; each with those of the lessons `told` in words that are of the same failure."""
    calls = [(place, turn, turn.call) for place, turn in enumerate(turns) if turn.call is not None]
    place_of = {id(turn): place for place, turn in enumerate(turns)}
    done: set[str] = set()
    for number, (place, turn, call) in enumerate(calls):
        name = program(call.command)
        if call.failed is not True or not name or name in done:
            continue
        for later in range(number + 1, min(number + 1 + REACH, len(calls))):
            after_place, after, retry = calls[later]
            wrapped = retry.command.endswith(" " + call.command)  # `nix develop -c make` after `make`
            again = wrapped or (program(retry.command) == name and _alike(call.command, retry.command))
            if retry.failed is not False or not again:
                continue
            if _taken_back(turns[after_place + 1 :]):
                break
            between = [one for _, _, one in calls[number + 1 : later]]
            said = [one for one in turns[place + 1 : after_place + 4] if one.role == "agent"]
            parts = [one for one in told if one.kind == "lesson" and place < place_of[id(one.turn)] < after_place + 4]
            content = _lesson(call, retry, between, parts[0].content if parts else _explanation(said))
            if content:
                done.add(name)
                # Composed of the agent's own acts; only the line of the error is the tool's.
                lesson = Found(
                    content=content, kind="lesson", rule="retry", turn=after, more=(turn,), origin="tool",
                    importance=0.6,
                )  # fmt: skip
                yield lesson, parts
            break


def _taken_back(turns: Sequence[Turn]) -> bool:
    """Whether a person's next words reject what was done, and it was put back."""
    at = next((place for place, one in enumerate(turns) if one.role == "user" and one.text), None)
    if at is None or not rejects(turns[at].text):
        return False
    return any(_PUTS_BACK.search(one.call.command if one.call else one.text) for one in turns[at + 1 : at + 4])


_PUTS_BACK = re.compile(r"\b(?:revert|undo|roll(?:ed|ing)? back|git (?:checkout|restore|reset|stash))", re.IGNORECASE)


def _lesson(call: Call, retry: Call, between: Sequence[Call], explained: str) -> str:
    failed, worked = _shown(call.command), _shown(retry.command)
    error = error_line(call.output)
    tried = list(dict.fromkeys(_shown(one.command) for one in between if one.failed and _is_other_try(one, call)))
    in_vain = f"; so did {' and '.join(f'`{one}`' for one in tried[:2])}" if tried else ""
    begin = f"`{failed}` failed" + (f" ({error})" if error else "") + in_vain
    edits = [one.path for one in between if one.path and one.failed is not True]
    acts = [
        one
        for one in between
        if one.failed is False and one.command and program(one.command) not in ("", program(call.command))
    ]
    if explained and (error or edits or acts or failed != worked):
        end = (
            ""
            if failed == worked and not acts
            else f" It worked with `{worked}`."
            if failed != worked
            else f" It worked after `{_shown(acts[-1].command)}`."
        )
        return f"{begin}. {explained.rstrip('.! ')}.{end}"
    if not error:
        return ""
    if edits:
        # Code that was written until its tests passed teaches nothing about the project.
        files = sorted({PurePath(one).name for one in edits})
        if failed == worked and len(files) == 1 and all(_CONFIGURATION.search(one) for one in edits):
            return f"{begin}. It worked after a change of {files[0]}."
        return ""
    if failed != worked:
        return f"{begin}. What worked: `{worked}`."
    if acts:
        return f"{begin}. It worked after `{_shown(acts[-1].command)}`."
    return ""


def _is_other_try(one: Call, call: Call) -> bool:
    return one.command != call.command and program(one.command) == program(call.command)


def _explanation(said: Sequence[Turn]) -> str:
    """A sentence of the agent that names the cause, and not what it is about to try."""
    from .sentences import sentences

    for turn in said:
        for one in sentences(turn.text):
            if (
                _CAUSE.search(one)
                and not _INTENT.search(one)
                and not one.endswith(("?", ":"))
                and 5 <= len(one.split()) <= 45
            ):
                return one if one.endswith((".", "!")) else one + "."
    return ""


def commands(turns: Sequence[Turn]) -> Iterator[Found]:
    """Commands of the project that worked: twice, or once and the user said so."""
    worked: dict[str, list[Turn]] = {}
    last: str | None = None
    given: set[str] = set()
    for turn in turns:
        call = turn.call
        if call is not None:
            last = None
            command = call.command.strip()
            if call.failed is False and is_projects(command):
                worked.setdefault(command, []).append(turn)
                last = command
        sure = turn.role == "user" and last is not None and _SURE.search(turn.text) is not None
        for command in [last] if last and (sure or len(worked[last]) >= WORKED) else []:
            if command not in given:
                given.add(command)
                first, *more = worked[command]
                yield Found(
                    content=f"`{command}` works here.", kind="skill", rule="command", turn=first,
                    more=tuple(more), origin="tool", importance=0.4,
                )  # fmt: skip


def is_projects(command: str) -> bool:
    """Whether a command is one that a project has: short, one step, and not about one place in it."""
    return (
        0 < len(command) <= 80
        and len(command.split()) <= 7
        and len(_STEP.split(command)) == 1
        and not _NARROW.search(command)
        and _RUNNERS.match(command) is not None
        and _DOES.search(command) is not None
        and not _EVERYWHERE.match(command)
        and command == redact_command(command)[0]
    )


def program(command: str) -> str:
    """What a command runs: the program of its last step that does something, and its subcommand; empty for looks."""
    for step in reversed(_STEP.split(command)):
        words = [word for word in step.split() if not _ENVIRONMENT.match(word)]
        while (words and words[0] in ("sudo", "time", "timeout", "exec", "nohup")) or (words and words[0].isdigit()):
            words = words[1:]
        if not words:
            continue
        name = words[0].rpartition("/")[2].lower()
        if name in _LOOKS and not (
            name == "git"
            and len(words) > 1
            and words[1] in ("push", "pull", "clone", "fetch", "commit", "rebase", "lfs", "submodule")
        ):
            continue
        rest = [word for word in words[1:] if not word.startswith("-")]
        return (
            " ".join([name, *rest[:1]])
            if name not in ("pytest", "make", "ruff", "mypy", "tox") or not rest
            else f"{name} {rest[0] if name in ('make', 'ruff') else ''}".strip()
        )
    return ""


def _alike(one: str, other: str) -> bool:
    """Whether the second is the first again, perhaps put otherwise."""
    if one == other:
        return True
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) >= 0.4 * max(len(mine), len(theirs)) or mine < theirs


def _shown(command: str) -> str:
    return plain_line(redact_command(command)[0].replace("`", "'"), COMMAND_CHARACTERS)


def error_line(output: str) -> str:
    """The line of an output that says best what went wrong; empty when none does."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR.search(line) and not _EMPTY_ERROR.match(line) and len(line) > 8]
    if not telling:
        return ""
    best = next((line for line in reversed(telling) if re.search(r"\w+(?:Error|Exception)\b:", line)), telling[0])
    best = re.sub(
        r"^(?:Output: |E(?=\s)|error(?=[:\s])|npm ERR!|fatal)\s*:?\s{0,5}(?=\S)", "", best, flags=re.IGNORECASE
    )
    return plain_line(redact(best)[0], ERROR_CHARACTERS).rstrip(".")
