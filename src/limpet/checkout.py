"""The project that a folder lies in, by the one rule of docs/how-to/scopes.md.

A repository is read from git's own files, as gitrepository-layout(5) describes them. git itself is asked for one thing
alone, the first commit of a checkout without a remote: a hook has no time for another process. Which scope a project
has, and what its `.limpet` may do, is in the store (store/sql/checkouts.py).
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from .model.dataclass import dataclass, replace
from .model.errors import BadInput
from .model.memory import check_scope

# The file in which a project's folder says how it wants to be remembered; see pause.py for its other lines.
FOLDER_FILE = ".limpet"
# Seconds that git may look for a first commit.
GIT_SECONDS = 2.0
# Clones of clones on this machine that are followed to where they came from.
MOST_CLONES = 5
# Bytes of a `.limpet`, of a longer one the beginning counts.
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Checkout:
    """The project of a folder. Worktrees of one repository are one; a clone is another one, until a person says that it
    is not: whoever wrote its files chose its remote.
    """

    scope: str  # `project:<name of the folder>`, if no other project has it
    remote: str | None  # host and path of its remote, without user, password and protocol
    place: str  # where its objects are, or the folder without git, on which machine
    folder: str  # that was asked about
    identities: tuple[str, ...]  # what tells it from others, the surest first; none is of its own saying alone
    root: str  # its uppermost folder
    by: str  # the sign that decided: "git", ".limpet" or "folder"
    outer: Checkout | None = None  # a submodule's superproject, a part's repository: its memories are seen too
    part: str = ""  # which part of the repository it is, below its root
    is_named: bool = False  # its scope is not to be made different from others of this name
    shared: str = ""  # of a wish: the folder below the root that a team shares
    wish: Checkout | None = None  # what it is once a person has allowed what its `.limpet` asks for
    permission: str = ""  # names that: the folder and the lines

    def first_commit(self) -> str | None:
        """Return the first commit, which identifies a repository without a remote; None if there is none."""
        if self.by != "git":
            return None
        import subprocess

        try:
            done = subprocess.run(
                ["git", "-C", self.root, "rev-list", "--max-parents=0", "HEAD"],
                capture_output=True, text=True, timeout=GIT_SECONDS, stdin=subprocess.DEVNULL, check=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        commits = done.stdout.split()
        return _of_part(f"commit:{commits[-1]}", self.part) if commits else None


def head_of(root: str) -> dict[str, str]:
    """Return {"branch", "commit"} of what is checked out in a folder, the branch "" for none; {} without a commit."""
    try:
        head = _text(os.path.join(git_folder(root), "HEAD")).strip()
    except (OSError, ValueError):
        return {}
    if not head.startswith("ref: "):
        return {"branch": "", "commit": head} if head.isalnum() else {}
    branch = head.removeprefix("ref: ").strip().removeprefix("refs/heads/")
    commit = tip_of(root, branch)
    return {"branch": branch, "commit": commit} if commit else {}


def tip_of(root: str, branch: str) -> str:
    """Return the last commit of a branch; "" for none."""
    ref, own, found = f"refs/heads/{branch}", git_folder(root), ""
    shared = own
    with suppress(OSError, ValueError):
        shared = os.path.join(own, _text(os.path.join(own, "commondir")).strip())
    try:
        found = _text(os.path.join(shared, *ref.split("/"))).strip()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            lines = _text(os.path.join(shared, "packed-refs")).splitlines()
            found = next((line.partition(" ")[0] for line in lines if line.endswith(f" {ref}")), "")
    return found if found.isalnum() else ""


def git_folder(root: str) -> str:
    """Return the folder in which git keeps what a checkout has of its own. Raises OSError, ValueError."""
    own = os.path.join(root, ".git")
    if os.path.isfile(own):
        own = os.path.join(root, _text(own).partition("gitdir:")[2].strip())
    return own


def checkout_of(folder: str | os.PathLike[str]) -> Checkout:
    """Return the project that a folder lies in: its git checkout, else the nearest folder with a `.limpet`, else the
    folder itself."""
    here = os.path.realpath(folder)
    found = _repository(here) or _folder(here)
    file = os.path.join(found.root, FOLDER_FILE)
    if not os.path.isfile(file):  # most often there is none; a pipe would keep us waiting
        return found
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = [" ".join(line.split()) for line in opened.read(MOST_BYTES).splitlines()]
    except OSError:
        return found
    asks = [line for line in lines if line.startswith(("scope ", "part ", "share "))]
    return _with_wish(found, asks) if asks else found


def _repository(here: str) -> Checkout | None:
    place, below = here, None
    while place != below:
        mark = os.path.join(place, ".git")
        try:
            mode = os.stat(mark).st_mode
        except (OSError, ValueError):
            mode = 0
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            named, objects, outer = place, mark, None
            if stat.S_ISREG(mode) and (shared := _shared_folder(place, mark)):
                # A submodule, and what its files do not explain, is a checkout of its own.
                named = os.path.dirname(shared) if os.path.basename(shared) == ".git" else place
                objects = shared
            remote, own = _remote(objects, MOST_CLONES), _place(objects)
            if named == place and objects != mark:
                around = checkout_of(os.path.dirname(place))
                # Only git puts the objects of a submodule into the folder of its superproject.
                outer = around if own.startswith(around.place + os.sep) and around.by == "git" else None
            seen = () if remote is None else (f"{remote} in {os.path.realpath(objects)}",)
            return Checkout(_named(named), remote, own, here, (*seen, own), place, "git", outer)
        place, below = os.path.dirname(place), place
    return None


def _folder(here: str) -> Checkout:
    home, place, by = os.path.realpath(os.path.expanduser("~")), here, "folder"
    while place not in (home, os.path.dirname(place)):  # a `.limpet` at home is about all that is below it
        if os.path.isfile(os.path.join(place, FOLDER_FILE)):
            by = FOLDER_FILE
            break
        place = os.path.dirname(place)
    root = place if by == FOLDER_FILE else here
    return Checkout(_named(root), None, _place(root), here, (_place(root),), root, by)


def _with_wish(found: Checkout, lines: list[str]) -> Checkout:
    """Return a project as the lines `scope NAME`, `share FOLDER` and `part FOLDER` of its `.limpet` would have it."""
    from hashlib import sha256

    permission = f"allowed:{_place(found.root)}:{sha256(chr(10).join(lines).encode()).hexdigest()}"
    wish, below = replace(found, permission=permission), os.path.relpath(found.folder, found.root).replace(os.sep, "/")
    for line in lines:
        if line.startswith("scope ") and not wish.is_named:
            with suppress(BadInput):
                wish = replace(wish, scope=check_scope(line.removeprefix("scope ")), is_named=True)
        elif line.startswith("share ") and not wish.shared:
            wish = replace(wish, shared=os.path.normpath(line.removeprefix("share ")).replace(os.sep, "/"))
    parts = {line.removeprefix("part ").strip("/") for line in lines if line.startswith("part ")} - {"", "."}
    for part in sorted(parts, key=len):  # the innermost last
        if f"{below}/".startswith(f"{part}/"):
            wish = Checkout(
                f"{wish.scope}/{'-'.join(os.path.basename(part).split())}",
                found.remote and _of_part(found.remote, part), _of_part(found.place, part), found.folder,
                tuple(_of_part(identity, part) for identity in found.identities), found.root, found.by, wish, part,
            )  # fmt: skip
    return replace(found, wish=wish, permission=permission)


def _of_part(identity: str, part: str) -> str:
    return f"{identity} part {part}" if part else identity


def _named(folder: str) -> str:
    return f"project:{'-'.join(os.path.basename(folder).split()) or 'unnamed'}"


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
    return machine_place(os.path.realpath(objects))


def machine_place(path: str) -> str:
    """Return a path with the machine that it is on."""
    machine = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"path:{machine}:{path}"


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
