"""A timer of the machine that runs `limpet organize`: systemd's or launchd's for the user, or a line of cron.

Nothing of limpet stays running. What is written is the user's own, and `--every off` takes it away again.
"""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...model.clock import MICROSECONDS_PER_SECOND, parse_duration
from ...model.errors import BadInput
from .files import delete, write

NAME = "limpet-organize"
LABEL = "dev.limpet.features.organize"
MARK = f"# {NAME}"
SHORTEST, LONGEST = 600, 7 * 86_400
KINDS = ("systemd", "launchd", "cron")


class Timer(NamedTuple):
    """What is to be there (`files` and the line of cron), and what tells the machine so. No files: it is to be gone."""

    kind: str
    files: tuple[tuple[Path, bytes], ...]
    gone: tuple[Path, ...]
    line: str | None  # of cron; "" for none
    commands: tuple[tuple[str, ...], ...]


def is_schedule(text: str) -> bool:
    """Whether `--every` names a schedule ("6h", "off") and not the seconds of a run that goes on by itself."""
    return text == "off" or bool(_seconds(text))


def seconds_of(text: str) -> int:
    """Raises BadInput."""
    seconds = _seconds(text)
    if not SHORTEST <= seconds <= LONGEST:
        raise BadInput(f"--every {text}: from 10m to 7d", hint="such as 30m, 6h or 1d, or off")
    return seconds


def _seconds(text: str) -> int:
    """0: it is no length of time."""
    try:
        return parse_duration(text) // MICROSECONDS_PER_SECOND
    except BadInput:
        return 0


def kind_here(home: Path) -> str:
    """What this machine runs timers with. Raises BadInput when there is nothing that is known."""
    if sys.platform == "darwin":
        return "launchd"
    if shutil.which("systemctl") and (Path("/run/systemd/system").is_dir() or (home / ".config/systemd/user").is_dir()):
        return "systemd"
    if shutil.which("crontab"):
        return "cron"
    raise BadInput("neither systemd, launchd nor cron was found", hint="let your scheduler run `limpet organize`")


def plan(kind: str, seconds: int, argv: Sequence[str], home: Path) -> Timer:
    """The timer that runs `argv` every so many seconds. Raises BadInput where cron cannot say it."""
    if kind == "systemd":
        folder = _units(home)
        service = (
            f"[Unit]\nDescription=limpet organize: transcripts into memories\n\n[Service]\nType=oneshot\n"
            f"ExecStart={' '.join(map(_systemd_word, argv))}\n"
            "# A line of a transcript that is not understood ends with 2; the rest is there all the same.\n"
            "SuccessExitStatus=2\nNice=10\n"
        )
        timer = (
            "[Unit]\nDescription=limpet organize, on a schedule\n\n[Timer]\nOnStartupSec=5min\n"
            f"OnUnitActiveSec={seconds}s\n\n[Install]\nWantedBy=timers.target\n"
        )
        files = ((folder / f"{NAME}.service", service.encode()), (folder / f"{NAME}.timer", timer.encode()))
        enable = ("systemctl", "--user", "enable", "--now", f"{NAME}.timer")
        return Timer(kind, files, (), None, (("systemctl", "--user", "daemon-reload"), enable))
    if kind == "launchd":
        path = _agent(home)
        content = {
            "Label": LABEL, "ProgramArguments": list(argv), "StartInterval": seconds, "RunAtLoad": True,
            "ProcessType": "Background", "LowPriorityIO": True, "Nice": 10,
            "StandardErrorPath": str(home / "Library" / "Logs" / f"{NAME}.log"),
        }  # fmt: skip
        load = ("launchctl", "bootstrap", f"gui/{os.getuid()}", str(path))
        return Timer(kind, ((path, plistlib.dumps(content)),), (), None, (_unload(), load))
    return Timer(kind, (), (), f"{_cron_times(seconds)} {shlex.join(argv).replace('%', chr(92) + '%')} {MARK}", ())


def plan_off(home: Path) -> list[Timer]:
    """What takes away whatever an earlier `plan` left on this machine, of any kind."""
    found = []
    units = tuple(one for one in (_units(home) / f"{NAME}.timer", _units(home) / f"{NAME}.service") if one.exists())
    if units:
        commands = (("systemctl", "--user", "disable", "--now", f"{NAME}.timer"),)
        found.append(Timer("systemd", (), units, None, commands))
    if _agent(home).exists():
        found.append(Timer("launchd", (), (_agent(home),), None, (_unload(),)))
    if MARK in _crontab():
        found.append(Timer("cron", (), (), "", ()))
    return found


def carry_out(timer: Timer, home: Path) -> list[str]:
    """Write or remove it, and tell the machine. Returns the commands that failed, for a person to run."""
    failed = []
    if timer.gone:
        failed = [one for one in timer.commands if not _ran(one)]
        for path in timer.gone:
            delete(path, home)
    for path, data in timer.files:
        write(path, data, mode=0o600 if timer.kind == "launchd" else 0o644)
    if timer.files:
        failed = [one for one in timer.commands if not _ran(one)]
    if timer.line is not None:
        _write_crontab(timer.line)
    return [shlex.join(one) for one in failed if one != _unload()]


def _units(home: Path) -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user"


def _agent(home: Path) -> Path:
    return home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def _unload() -> tuple[str, ...]:
    return ("launchctl", "bootout", f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}/{LABEL}")


def _systemd_word(word: str) -> str:
    """A word as systemd reads it: no specifier, no variable, no space ends it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return escaped if re.fullmatch(r"[\w@%+=:,./-]+", escaped) else f'"{escaped}"'


def _cron_times(seconds: int) -> str:
    minutes, hours, days = seconds // 60, seconds // 3_600, seconds // 86_400
    if seconds % 86_400 == 0:
        return f"17 4 {'*' if days == 1 else f'*/{days}'} * *"
    if seconds % 3_600 == 0 and 24 % hours == 0:
        return f"17 {'*' if hours == 1 else f'*/{hours}'} * * *"
    if seconds < 3_600 and 60 % minutes == 0:
        return f"*/{minutes} * * * *"
    raise BadInput(
        "cron cannot say that",
        hint="with cron, minutes divide an hour and hours a day: 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h, 1d",
    )


def _crontab() -> str:
    if not shutil.which("crontab"):
        return ""
    return subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False, timeout=30).stdout


def _write_crontab(line: str) -> None:
    lines = [one for one in _crontab().splitlines() if not one.rstrip().endswith(MARK)] + ([line] if line else [])
    text = "".join(f"{one}\n" for one in lines)
    done = subprocess.run(["crontab", "-"], input=text, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        raise BadInput(f"crontab did not take it: {done.stderr.strip()[:200]}")


def _ran(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
