"""Has the newest version of each program write its own files, an environment each: `make test-importers`.

`python -m tests.importers FOLDER [PROGRAM ...]` keeps environments and files in that folder; a program that cannot be
installed here is told of, and its tests are left out. `--keep` replaces the files in tests/data/importers, which the
suite reads.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "importers"
INSTALL_SECONDS = 900


class Program(NamedTuple):
    packages: tuple[str, ...]
    script: str
    written: str  # the file that the script writes
    python: str = ""  # the version it needs, if it does not run on ours
    instead: tuple[str, ...] = ()  # what is installed instead of what its packages ask for of these


PROGRAMS = {
    "mem0": Program(("mem0ai",), "write_mem0.py", "mem0.json"),
    # It asks for a day's newest certificates, which indexes have later; it opens no connection here.
    "basic-memory": Program(
        ("basic-memory",), "write_basic_memory.py", "basic-memory.tar", python="3.12", instead=("certifi>=2026.1",)
    ),
    # By npm.
    "server-memory": Program(("@modelcontextprotocol/server-memory",), "write_server_memory.mjs", "memory.jsonl"),
}


def installed(place: Path, program: Program) -> list[str]:
    """The command that runs a script of that program, made ready."""
    if program.script.endswith(".py"):
        if not place.exists():
            venv.create(place, with_pip=True)
        python = str(place / "bin" / "python")
        done([python, "-m", "pip", "install", "--quiet", "--upgrade", "uv"])
        uv = str(place / "bin" / "uv")
        if program.python:
            other = place / program.python
            if not other.exists():
                done([uv, "venv", "--quiet", "--system-certs", "--python", program.python, str(other)])
            python = str(other / "bin" / "python")
        install = [uv, "pip", "install", "--quiet", "--system-certs", "--python", python, "--upgrade"]
        if program.instead:
            (place / "instead.txt").write_text("\n".join(program.instead))
            install += ["--override", str(place / "instead.txt")]
        done([*install, *program.packages])
        return [python, str(HERE / program.script)]
    place.mkdir(exist_ok=True)
    (place / "package.json").write_text("{}")
    modules = place / "node_modules"
    done(["npm", "install", "--silent", *program.packages], cwd=place)
    return ["node", str(HERE / program.script), str(modules)]


def done(command: list[str], cwd: Path | None = None) -> str:
    return subprocess.run(
        command, cwd=cwd, check=True, timeout=INSTALL_SECONDS, text=True, stdout=subprocess.PIPE
    ).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    folder, files = given.folder.resolve(), given.folder.resolve() / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name in given.programs or PROGRAMS:
        program = PROGRAMS[name]
        for old in files.glob(f"{program.written}*"):
            old.unlink()
        try:
            done([*installed(folder / name, program), str(files / program.written)])
        except (subprocess.SubprocessError, OSError) as error:
            print(f"{name}: not here ({error}); its tests are left out", file=sys.stderr)
            continue
        print(f"{name}: {program.written}")
        if given.keep:
            # No time within, so that the same file is the same bytes.
            packed = gzip.compress((files / program.written).read_bytes(), 9, mtime=0)
            (DATA / f"{program.written}.gz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
