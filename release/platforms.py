"""Ask the package index for wheels of what limpet needs: `python -m release.platforms` (`make check-platforms`).

For each Python version and platform pip resolves limpet's dependencies from wheels alone, and installs nothing. The
table goes to docs/reference/platforms.md. pip reads markers (`sys_platform == "win32"`) for the machine it runs on, so
a dependency that one system alone needs is seen there alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "reference" / "platforms.md"
VERSIONS = ("3.11", "3.12", "3.13")
PLATFORMS = {
    "Linux x86-64 (glibc 2.28)": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "Linux ARM64 (glibc 2.28)": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "Linux x86-64 (musl)": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "macOS 14, Apple silicon": ("macosx_14_0_arm64",),
    "macOS 14, Intel": ("macosx_14_0_x86_64",),
    "Windows x86-64": ("win_amd64",),
    "Windows ARM64": ("win_arm64",),
}
# What the suite runs on; everything else is what the index has, and no more.
RUN = ("Linux x86-64 (glibc 2.28)", "3.11")

HEAD = """\
# Platforms

<!-- Made by `make check-platforms`; do not edit. -->

limpet itself is pure Python. Whether `pip install limpet` works without a compiler hangs on its dependencies: this is
what the package index had on {day}. **Only {run} is tested**: the whole suite runs there. For all others the table says
that there are wheels of everything, or of what there is none; that limpet works there is untested, but for
Linux x86-64 with Python 3.12.1 and 3.13.0: there `make dist` installs the wheel, stores a memory and finds it.
pip reads conditions such as "on Windows only" for the machine that asks, here Linux, so a package that one other system
alone needs is not in these counts.

"""


def requirements() -> list[str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def resolved(version: str, tags: tuple[str, ...], *wanted: str) -> tuple[int, str]:
    """How many wheels, of which so many for this platform; or what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--only-binary=:all:"]
        words += ["--quiet", "--target", folder, "--python-version", version, "--report", str(report)]
        for tag in tags:
            words += ["--platform", tag]
        done = subprocess.run([*words, *wanted], capture_output=True, text=True, check=False)
        if done.returncode:
            return 0, done.stderr
        names = [Path(one["download_info"]["url"]).name for one in json.loads(report.read_text())["install"]]
        return len(names), f"{sum(not name.endswith('-any.whl') for name in names)}"


def cell(version: str, name: str) -> str:
    """What the table says: how many wheels, or the dependencies without one."""
    wheels, of_platform = resolved(version, PLATFORMS[name], *requirements())
    if wheels:
        return f"{wheels} wheels, {of_platform} of them compiled" + (", tested" if (name, version) == RUN else "")
    missing = [one for one in requirements() if not resolved(version, PLATFORMS[name], "--no-deps", one)[0]]
    return "no wheel: " + (", ".join(one.split(">")[0] for one in missing) or "no set that fits together")


def main() -> int:
    rows = []
    for name in PLATFORMS:
        cells = [cell(version, name) for version in VERSIONS]
        rows.append(f"| {name} | {' | '.join(cells)} |\n")
        print(rows[-1], end="", flush=True)
    head = HEAD.format(day=datetime.now(UTC).date(), run=f"{RUN[0]} with Python {RUN[1]}")
    columns = " | ".join(f"Python {one}" for one in VERSIONS)
    table = f"| platform | {columns} |\n|---|{'---|' * len(VERSIONS)}\n" + "".join(rows)
    TARGET.write_text(head + table, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
