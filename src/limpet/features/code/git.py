"""git, asked about a checkout: without a network, without a change, and without what runs a program that a repository's
configuration names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from ...checkout import git_folder, head_of

# Seconds that git may take for an answer.
SECONDS = 5.0
# Commits whose patches are compared with that of a branch, to find the one it was squashed into.
MOST_COMMITS = 500
_SET = ("core.fsmonitor=false", "core.quotePath=false", "diff.external=", "log.showSignature=false")
_QUIET = ("--no-optional-locks", *(word for setting in _SET for word in ("-c", setting)))


def git(folder: str, *words: str, given: str | None = None, **environment: str) -> str | None:
    """Return what git prints in a folder, None where it fails."""
    import subprocess  # only now: most looks ask git for nothing

    # Not the repository of a hook of git's that runs this; no blob is fetched that a partial clone lacks.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", **environment}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *_QUIET, *words], env=own, input=given, stdin=None if given else subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS, check=True,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout


@lru_cache(maxsize=4_096)
def is_merged(root: str, head: str, commit: str, tip: str, *, was_dirty: bool) -> bool:
    """Return whether what was learned at a commit is in `head`: as an ancestor, rebased, picked or squashed.

    `tip`: the branch's last commit now, "" if it is gone. `was_dirty`: what was learned was about to be committed.
    """
    if _is_ancestor(root, commit, head):
        if not (was_dirty and tip):
            return True
        after = git(root, "rev-list", "--ancestry-path", "--reverse", f"{commit}..{tip}") or ""
        if not after and _is_ancestor(root, tip, head):
            return tip != commit
        return bool(after) and _is_in(root, after.split()[0], head)
    if tip in ("", commit):
        return _is_in(root, commit, head)
    return _has_patches(root, commit, head) or _is_in(root, tip, head)


@lru_cache(maxsize=4_096)
def _is_in(root: str, commit: str, head: str) -> bool:
    ways = (_is_ancestor, _has_patches, _adds_nothing, _is_squashed)
    return any(is_so(root, commit, head) for is_so in ways)


@lru_cache(maxsize=16)
def _ancestors(root: str, head: str) -> dict[str, bool]:  # noqa: ARG001  a key
    return {}


def look_up_ancestors(root: str, head: str, commits: Collection[str]) -> None:
    """Ask which of some commits are ancestors of another one, all at once."""
    known = _ancestors(root, head)
    if new := {commit for commit in commits if commit not in known}:
        left = git(root, "rev-list", *sorted(new), f"^{head}")
        if left is not None:  # it fails where git has one of them no more
            known.update({commit: commit not in left for commit in new})


def _is_ancestor(root: str, commit: str, head: str) -> bool:
    known = _ancestors(root, head).get(commit)
    if known is not None:
        return known
    return commit == head or git(root, "merge-base", "--is-ancestor", commit, head) is not None


def _has_patches(root: str, commit: str, head: str) -> bool:
    """Return whether `head` has each patch of the branch that ends at a commit."""
    left = git(root, "cherry", head, commit)
    return bool(left) and all(line.startswith("-") for line in (left or "").splitlines())


def _adds_nothing(root: str, commit: str, head: str) -> bool:
    """Return whether a merge of a commit would change nothing in `head`."""
    kept, tree = git(root, "rev-parse", "--git-path", "objects"), git(root, "rev-parse", f"{head}^{{tree}}")
    if not kept or not tree:
        return False
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:  # a repository with no programs for merges, in which nothing stays
        for name in ("refs", "objects/info"):
            Path(folder, name).mkdir(parents=True)
        Path(folder, "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        Path(folder, "objects/info/alternates").write_text(f"{Path(root, kept.strip()).resolve()}\n", encoding="utf-8")
        return git(folder, "--git-dir=.", "merge-tree", "--write-tree", head, commit) == tree


def _is_squashed(root: str, commit: str, head: str) -> bool:
    """Return whether one commit of `head` has the patch of all commits of the branch together."""
    base = (git(root, "merge-base", head, commit) or "").strip()
    whole = base and git(root, "diff", "--no-ext-diff", "--no-textconv", base, commit)
    if not whole:
        return False
    since = git(
        root, "log", "-p", "--no-merges", "--no-ext-diff", "--no-textconv", f"-{MOST_COMMITS}", f"{base}..{head}"
    )
    one, others = (git(root, "patch-id", "--stable", given=text) or "" for text in (whole, since or "\n"))
    return bool(one) and one.split()[0] in {line.split()[0] for line in others.splitlines()}


def state_of(root: str) -> str:
    """Return what changes with each commit and each change of the index of a checkout."""
    try:
        index = os.stat(os.path.join(git_folder(root), "index")).st_mtime_ns
    except (OSError, ValueError):
        index = 0
    return f"{head_of(root).get('commit')} {index}"


def former(root: str, path: str) -> list[str]:
    """Return the paths that a file had before."""
    form = ("--follow", "--name-status", "--diff-filter=R", "--format=")
    rows = (git(root, "log", *form, "--no-ext-diff", "--", path) or "").splitlines()
    return [line.split("\t")[1] for line in rows if line.count("\t") == 2]


def renames(root: str, commit: str) -> str:
    """Return the renames between a commit and the index, for `followed`."""
    return git(root, "diff-index", "--cached", "--name-status", "-M", "--diff-filter=R", commit) or ""


def renames_by_commits(root: str, commit: str) -> str:
    """Return the renames of each commit since one: of what was renamed and changed in many steps."""
    form = ("--name-status", "-M", "--diff-filter=R", "--no-ext-diff")
    return git(root, "log", "--reverse", "--format=", *form, f"{commit}..HEAD") or ""


def holders(root: str, name: str) -> Sequence[str]:
    """Return the files of a checkout that have a name as a whole word."""
    listed = git(root, "grep", "-l", "-z", "-w", "-F", "-I", "--untracked", "-e", name) or ""
    return [path for path in listed.split("\0") if path]


def followed(root: str, path: str, listed: str) -> str:
    """Return the path that a file or folder (with a slash at its end) has now by some renames; "" for none."""
    now = path
    for line in listed.splitlines():
        _, old, new, *_ = (*line.split("\t"), "", "")
        if old == now and new:
            now = new
        elif now.endswith("/") and old.startswith(now) and new.endswith(rest := old.removeprefix(now)):
            now = new.removesuffix(rest)
    return now if now != path and os.path.lexists(os.path.join(root, now)) else ""


def worktrees(folder: str) -> Iterator[str]:
    """Yield the folders that are checked out from a repository, of which git's own folder is given."""
    from pathlib import Path

    own = Path(folder)
    if own.name == ".git":
        yield str(own.parent)
    for file in sorted(own.glob("worktrees/*/gitdir")):
        try:
            yield str(Path(file.read_text(encoding="utf-8").strip()).parent)
        except (OSError, ValueError):
            continue
