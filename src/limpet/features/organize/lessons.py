"""Lessons from tool calls: a failure, what was changed, the success that followed; and commands that work.

A test that fails while code is being written is no lesson: between failure and success there must be something that
explains it (another wording of the command, a command that acts, or words that name the cause).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...agents.hooks.actions import HARMLESS, STEP
from ...secrets import redact, redact_command
from ...text.blocks import plain_line
from .sentences import has, sentences
from .transcripts import Candidate, Turn

# A success is the answer to a failure within so many calls; a command is known to work when it did so often.
REACH, WORKED = 12, 2
# Of a command, or of the line of an error.
CHARACTERS = 160

# Commands that look, or whose failure is an answer; nothing is learned from how they end.
_LOOKS = HARMLESS | {
    "false", "test", "[", "diff", "sed", "awk", "jq", "cut", "sort", "uniq", "xargs", "printf", "mkdir", "rm", "cp", "mv",
    "touch", "command", "git", "kill", "pkill", "lsof", "ag",
}  # fmt: skip
# Before a program: what runs it, how long, with which environment.
_BEFORE = re.compile(r"^(?:(?:sudo|time|timeout|exec|nohup|\d\S*|[A-Za-z_]\w*=\S*)\s+)+")
# Programs whose commands are a project's own.
_RUNNERS = re.compile(
    r"^(?:make|just|task|tox|nox|rake|mix|bazel|invoke|npm (?:run|test|ci)|pnpm|yarn|bun|npx|cargo|go|gradle|\./gradlew|mvn|\./mvnw|dotnet|"
    r"docker[ -]compose|uv run|poetry run|pdm run|hatch run|pipenv run|bundle exec|python3? -m|pytest|ruff|mypy|eslint|tsc|\./[\w./-]+|(?:bash|sh) [\w./-]+)\b"
)
# Commands made for one place (a single test, a temporary file, an expansion), and what anybody tries first in a project
# of its kind.
_TELLS_NOTHING = re.compile(
    r"::|/tmp/|\$\(|\$\w|[<>*{}]|\s-[ktc]\s|--filter|-run\s|\.(?:test|spec)\.|test_\w+\.py"
    r"|^(?:cargo (?:test|build|check|run|fmt)|go (?:test|build|vet)(?: \./\.\.\.)?|(?:npm|pnpm|yarn|bun) (?:install|ci|i)|dotnet (?:test|build)|mvn (?:test|package|install))$"
)
_ERROR = re.compile(
    r"(?:^|\b)(?:[A-Z]\w*(?:Error|Exception|Refused)\b|error\b|ERR!|fatal\b|failed\b|cannot\b|can't\b|could not\b|not found\b|no such\b|denied\b|refused\b|timed? ?out\b|missing\b|"
    r"unable\b|invalid\b|undefined\b|unknown\b|locked\b|in use\b|(?-i:E[A-Z]{4,})\b)",
    re.IGNORECASE,
)


def from_calls(turns: Sequence[Turn], spoken: Sequence[Candidate]) -> list[Candidate]:
    """Return `spoken` and the lessons of tool calls, one for each failure that a retry mended. Such a lesson
    absorbs the spoken lessons about the same failure."""
    candidates = list(spoken)
    calls = [(place, turn) for place, turn in enumerate(turns) if turn.role == "tool"]
    place_of = {turn.id: place for place, turn in enumerate(turns)}
    done: set[str] = set()
    for number, (place, call) in enumerate(calls):
        name = program(call.command)
        if call.failed is not True or not name or name in done:
            continue
        for later, (end, retry) in enumerate(calls[number + 1 : number + 1 + REACH], number + 1):
            if retry.failed is not False or not _is_retry(call.command, retry.command):
                continue
            parts = [part for part in spoken if part.kind == "lesson" and place < place_of[part.turn.id] < end + 4]
            between = [turn for _, turn in calls[number + 1 : later]]
            # Else the first sentence that names a cause, though alone it is not worth keeping.
            causes = (
                text for turn in turns[place + 1 : end + 4] for text in sentences(turn.text) if has("lesson", text)
            )
            if content := _lesson(call, retry, between, parts[0].content if parts else next(causes, "")):
                done.add(name)
                # Composed of the agent's own acts; only the line of the error is the tool's.
                lesson = Candidate(
                    content=content, kind="lesson", rule="retry", turn=retry, more=(call,), origin="tool",
                    importance=0.6,
                )  # fmt: skip
                candidates = [row for row in candidates if not any(row is part for part in parts)] + [lesson]
            break
    lessons = " ".join(candidate.content for candidate in candidates if candidate.kind == "lesson")
    return candidates + [command for command in _commands(turns) if command.content.split("`")[1] not in lessons]


def _lesson(call: Turn, retry: Turn, between: Sequence[Turn], explained: str) -> str:
    """Return a lesson's text; "" where nothing explains the success."""
    failed, worked, error = _shown(call.command), _shown(retry.command), error_line(call.output)
    text = f"`{failed}` failed ({error})." if error else f"`{failed}` failed."
    edited = any(turn.path and turn.failed is not True for turn in between)
    others = [turn.command for turn in between if turn.failed is False]
    acts = [command for command in others if program(command) not in ("", program(call.command))]
    if explained:
        text += f" {explained.rstrip('.! ')}."
    elif not error or edited:
        return ""  # code that was written until its tests passed teaches nothing about the project
    if failed != worked:
        return f"{text} It worked with `{worked}`."
    if acts:
        return f"{text} It worked after `{_shown(acts[-1])}`."
    return text if explained and (error or edited) else ""


def _commands(turns: Sequence[Turn]) -> Iterator[Candidate]:
    """Yield commands of the project that worked twice: short, one step, and not about one place in it."""
    worked: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.command and turn.failed is False:
            worked.setdefault(turn.command, []).append(turn)
    for command, (first, *more) in worked.items():
        if (
            len(more) + 1 >= WORKED
            and len(command) <= 80
            and len(STEP.split(command)) == 1
            and _RUNNERS.match(command)
            and not _TELLS_NOTHING.search(command)
            and command == redact_command(command)[0]
        ):
            yield Candidate(
                content=f"`{command}` works here.", kind="skill", rule="command", turn=first, more=tuple(more),
                origin="tool", importance=0.4,
            )  # fmt: skip


def program(command: str) -> str:
    """Return the program and subcommand of a command's last step that is not mere inspection; "" if there is none."""
    for step in reversed(STEP.split(command)):
        words = _BEFORE.sub("", step.strip()).split()
        name = words[0].rpartition("/")[2].lower() if words else ""
        rest = [word for word in words[1:] if not word.startswith("-")][:1]
        if name and name not in _LOOKS:
            return name if name in ("pytest", "mypy", "tox") else " ".join([name, *rest])
    return ""


def _is_retry(command: str, later: str) -> bool:
    """Return whether the later command is the first again, perhaps reworded or wrapped (`nix develop -c make`)."""
    if later.endswith(" " + command):
        return True
    mine, theirs = set(command.split()), set(later.split())
    alike = len(mine & theirs) >= 0.4 * max(len(mine), len(theirs)) or mine < theirs
    return alike and program(command) == program(later)


def _shown(command: str) -> str:
    return plain_line(redact_command(command)[0].replace("`", "'"), CHARACTERS)


def tells_error(line: str) -> bool:
    """Return whether a line of an output may tell what went wrong."""
    return _ERROR.search(line) is not None


# Lines with errors that are kept of a command that did not fail: it showed a log.
MOST_ERRORS = 10
# The command of a text by `command_text`.
COMMAND = re.compile(r"`(.+?)` (?:worked\.|showed:)", re.DOTALL)


def command_text(command: str, output: str) -> str:
    """Return what is kept of a command that did not fail: that it worked, or the errors that it showed."""
    errors = [line for line in output.splitlines() if tells_error(line)][:MOST_ERRORS]
    return "\n".join([f"`{command}` {'showed:' if errors else 'worked.'}", *errors])


def error_line(output: str) -> str:
    """Return the line of an output that best tells what went wrong; "" when none does."""
    telling = [line for line in map(str.strip, output.splitlines()) if len(line) > 8 and tells_error(line)]
    if not telling:
        return ""
    best = next((line for line in reversed(telling) if re.search(r"\w+(?:Error|Exception)\b:", line)), telling[0])
    best = re.sub(r"^(?:output|error|fatal):\s+", "", best, flags=re.IGNORECASE)
    return plain_line(redact(best)[0], CHARACTERS).rstrip(".")
