"""The repository of a folder, read from git's own files, as gitrepository-layout(5) describes them.

git itself is asked for one thing alone, the first commit of a checkout without a remote: a hook has no time for another
process. Which scope a repository has is in the store (store/sql/checkouts.py).
"""

from __future__ import annotations

import os
import stat

from .model.dataclass import dataclass

# How long git may look for a first commit, in seconds.
GIT_SECONDS = 2.0
# Clones of clones on this machine that are followed to where they came from.
MOST_CLONES = 5


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder under git. Worktrees of one repository are one; a clone is another one, until a person says that it is
    not: whoever wrote its files chose its remote.
    """

    scope: str  # `project:<name of the folder>`, if no other repository has it
    remote: str | None  # host and path of its remote, without user, password and protocol
    place: str  # where its objects are, on which machine
    folder: str
    identities: tuple[str, ...]  # what tells it from others, the surest first; none is of its own saying alone

    def first_commit(self) -> str | None:
        """Return the first commit, which identifies a repository without a remote; None if there is none."""
        import subprocess

        try:
            done = subprocess.run(
                ["git", "-C", self.folder, "rev-list", "--max-parents=0", "HEAD"],
                capture_output=True, text=True, timeout=GIT_SECONDS, stdin=subprocess.DEVNULL, check=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        commits = done.stdout.split()
        return f"commit:{commits[-1]}" if commits else None


def checkout_of(folder: str | os.PathLike[str]) -> Checkout | None:
    """Return the checkout that a folder lies in; None outside of any."""
    place, below = os.fspath(folder), None
    while place != below:
        mark = os.path.join(place, ".git")
        try:
            mode = os.stat(mark).st_mode
        except (OSError, ValueError):
            mode = 0
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            named, objects = place, mark
            if stat.S_ISREG(mode) and (shared := _shared_folder(place, mark)):
                # A submodule, and what its files do not explain, is a checkout of its own.
                named = os.path.dirname(shared) if os.path.basename(shared) == ".git" else place
                objects = shared
            name = "-".join(os.path.basename(named).split()) or "unnamed"
            remote, own = _remote(objects, MOST_CLONES), _place(objects)
            seen = () if remote is None else (f"{remote} in {os.path.realpath(objects)}",)
            return Checkout(f"project:{name}", remote, own, place, (*seen, own))
        place, below = os.path.dirname(place), place
    return None


def _shared_folder(place: str, mark: str) -> str | None:
    """Return the folder that a worktree or a submodule shares with its main checkout."""
    try:
        folder = shared = os.path.realpath(os.path.join(place, _text(mark).partition("gitdir:")[2].strip()))
        common = os.path.join(folder, "commondir")
        if os.path.isfile(common):
            shared = os.path.realpath(os.path.join(folder, _text(common).strip()))
    except (OSError, ValueError):
        return None
    return shared if os.path.isdir(shared) else None


def _text(path: str, errors: str = "strict") -> str:
    with open(path, encoding="utf-8", errors=errors) as file:
        return file.read()


def _place(objects: str) -> str:
    machine = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"path:{machine}:{os.path.realpath(objects)}"


def _remote(objects: str, clones: int) -> str | None:
    """Return `origin`, else the first remote, of the file `config`."""
    urls: dict[str, str] = {}
    section = ""
    try:
        lines = _text(os.path.join(objects, "config"), "replace").splitlines()
    except OSError:
        return None
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line[1:].partition("]")[0].strip()
        elif section.startswith("remote "):
            name, _, value = line.partition("=")
            if name.strip().lower() == "url" and value.strip():
                urls.setdefault(section[len("remote ") :].strip().strip('"'), value.strip().strip('"'))
    url = urls.get("origin") or next(iter(urls.values()), None)
    return None if url is None else _identity_of(url, objects, clones)


def _identity_of(url: str, objects: str, clones: int) -> str:
    """Return host and path, alike for every spelling of an address; a folder of this machine has its own identity."""
    before, mark, rest = url.partition("://")
    if mark and before != "file":
        rest = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest
        host, _, path = rest.partition("/")
        return _plain(host.partition(":")[0], path)
    host, colon, path = url.partition(":")
    if not mark and colon and "/" not in host and len(host) > 1:  # user@host:path; not a drive of Windows
        return _plain(host.rpartition("@")[2], path)
    there = os.path.join(os.path.dirname(objects), rest if mark else url)
    inner = os.path.join(there, ".git")
    inner = inner if os.path.isdir(inner) else there
    return (_remote(inner, clones - 1) if clones else None) or _place(inner)


def _plain(host: str, path: str) -> str:
    return f"{host}/{path.strip('/').removesuffix('.git')}".lower()
