"""Make what is released and try it: `python -m release.dist`, which is `make dist`.

It builds sdist and wheel twice, the second time from the unpacked sdist in another folder, and compares their bytes;
installs the wheel into a bare environment and stores and finds a memory there; installs the sdist in its place and does
so again; has uvx and pipx run the wheel; measures what was installed; and writes the list of everything that came along
(CycloneDX) beside them. It ends with 1 where one fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# From the end of `pip install` to the first answer by meaning, on a machine that does other things too.
MOST_SECONDS = 20
# Of the wheel, and of what `pip install limpet` brings, pip and setuptools apart.
MOST_WHEEL_MB, MOST_MB, MOST_PACKAGES = 60, 300, 40
STORED = "Deploys hang when the VPN is down"
ASKED = "why is my release stuck?"


def run(*words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """What the command says on stdout; where it fails, what it said goes to stderr and the program ends."""
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def epoch() -> str:
    """The time that archives bear: SOURCE_DATE_EPOCH, else that of the last commit."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()


def built(source: Path, target: Path) -> dict[str, Path]:
    """Builds both in `target`: ending -> file."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch()}
    run(sys.executable, "-m", "build", "--outdir", target, source, env=environment)
    return {one.suffix: one for one in target.iterdir() if one.suffix in (".gz", ".whl")}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def built_twice(folder: Path) -> dict[str, Path]:
    """Both, in dist/; the program ends if another folder gives other bytes."""
    shutil.rmtree(DIST, ignore_errors=True)
    first = built(ROOT, DIST)
    with tarfile.open(first[".gz"]) as archive:
        archive.extractall(folder / "source", filter="data")
    (again,) = (folder / "source").iterdir()
    second = built(again, folder / "again")
    for ending, one in first.items():
        same = sha256(one) == sha256(second[ending])
        print(f"{sha256(one)}  {one.name}  {'the same twice' if same else 'NOT the same twice'}")
        if not same:
            sys.exit(1)
    wheel = first[".whl"].stat().st_size / 2**20
    if wheel > MOST_WHEEL_MB:
        sys.exit(f"the wheel has {wheel:.0f} MB, more than {MOST_WHEEL_MB}")
    return first


def tried(command: Sequence[str | Path], home: Path, **more: str) -> float:
    """Seconds from nothing to a first answer by meaning, in a new home. `more`: of the environment."""
    home.mkdir()
    environment = {"HOME": str(home), "PATH": os.defpath, "USERPROFILE": str(home), "LIMPET_SCOPE": "global", **more}
    begun = time.monotonic()
    run(*command, "remember", STORED, "--kind", "lesson", cwd=home, env=environment)
    # With time: a machine that does other things too shall not leave the search by meaning out.
    asked = ("recall", ASKED, "--deadline-ms", "60000", "--json")
    found = json.loads(run(*command, *asked, cwd=home, env=environment))
    took = time.monotonic() - begun
    if [one["content"] for one in found["items"]] != [STORED] or "vector" in found.get("missing", ()):
        sys.exit(f"not found by meaning: {found}")
    return took


def installed(folder: Path, made: dict[str, Path], interpreter: str = sys.executable) -> Path:
    """A bare environment of that Python with the wheel, then the sdist, tried."""
    folder.mkdir(exist_ok=True)
    place = folder / "bare"
    run(interpreter, "-m", "venv", place)
    bin = place / ("Scripts" if os.name == "nt" else "bin")
    pip = (bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    for what, options in ((".whl", ()), (".gz", ("--force-reinstall", "--no-deps"))):
        run(*pip, *options, made[what], cwd=folder)
        took = tried([bin / "limpet"], folder / f"home{what}")
        version = run(bin / "python", "--version").strip()
        print(f"{made[what].name}: {version}; first remember and recall by meaning {took:.1f} s after pip ended")
        if took > MOST_SECONDS:
            sys.exit(f"more than {MOST_SECONDS} s")
        if not (place / "share" / "man" / "man1" / "limpet.1").is_file():
            sys.exit("the man page is not installed")
    return bin / "python"


def run_alone(folder: Path, wheel: Path) -> None:
    """The wheel without an environment of one's own, as `uvx limpet` and `pipx run limpet` run it."""
    tools = Path(sys.executable).parent
    ways = {
        "uvx": [tools / "uvx", "--from", wheel, "limpet"],
        "pipx": [tools / "pipx", "run", "--spec", wheel, "limpet"],
    }
    # pipx may ask uv; a home of its own has neither's settings.
    kept = {"UV_CACHE_DIR": str(folder / "uv"), "PIPX_HOME": str(folder / "pipx"), "UV_SYSTEM_CERTS": "1"}
    for name, command in ways.items():
        tried(command, folder / f"home-{name}", **kept)
        print(f"{wheel.name}: {name} runs it")


def listed(python: Path, version: str) -> None:
    """Everything in that environment but pip, as CycloneDX."""
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip")
    target = DIST / f"limpet-{version}.cdx.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    run(tool, "environment", python, "--output-reproducible", "--of", "JSON", "-o", target)
    parts = json.loads(target.read_text(encoding="utf-8"))["components"]
    packages = python.parents[1] / "lib"
    installed = sum(one.stat().st_size for one in packages.rglob("*") if one.is_file()) / 2**20
    print(f"{target.name}: {len(parts)} packages, {installed:.0f} MB")
    if len(parts) > MOST_PACKAGES or installed > MOST_MB:
        sys.exit(f"more than {MOST_PACKAGES} packages or {MOST_MB} MB")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m release.dist", description=__doc__.split("\n\n")[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="other versions to install it on and try it")
    others = parser.parse_args().pythons
    with tempfile.TemporaryDirectory() as folder:
        made = built_twice(Path(folder))
        for number, other in enumerate(others):
            installed(Path(folder) / str(number), made, other)
        python = installed(Path(folder), made)
        run_alone(Path(folder), made[".whl"])
        listed(python, made[".whl"].name.split("-")[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
