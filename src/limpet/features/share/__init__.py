"""Share memories with a team: a folder of Markdown in a repository, that people review like code and git merges.

`.limpet` names the folder, and a person allows it once. Its pages are those of a mirror (`mirror/page.py`). `team.py`
compares folder and store; `commands.py` lists what would leave, and asks.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...checkout import FOLDER_FILE, checkout_of
from ...model.errors import BadInput, LimpetError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from ...context import Context
    from .team import ShareReport


def write(memory: Limpet, folder: str | os.PathLike[str], *, dry_run: bool = False) -> ShareReport:
    """Write what people said or confirmed in this project into a folder of its repository, once what the team has
    changed there is taken in, and name the folder in `.limpet`. The caller has a person's consent. `dry_run`: only say
    what would be written. Raises BadInput, StoreError.

    >>> with limpet.open("own.db") as own:
    ...     _ = own.remember("Deploys go out on Tuesdays", origin="user")
    ...     write(own, "docs/memory", dry_run=True).written
    [('general.md', '', 'Deploys go out on Tuesdays')]
    """
    from pathlib import Path

    from ...store.files import writing
    from .team import Team

    context, where = memory._context, Path(folder).resolve()
    project = context.project or checkout_of(where)
    root, known = Path(project.root), context.store.checkouts
    if context.scope not in known.scopes_of(project) or root not in where.parents:
        raise BadInput(f"{folder} is not below the root of {context.scope}", hint="share DIR in the project's folder")
    place, asked = where.relative_to(root).as_posix(), project.wish.shared if project.wish else ""
    scope, allowed = known.shared(project)
    if asked not in ("", place):
        raise BadInput(f"this project shares {asked}", hint=f"limpet share {asked}")
    if asked and not allowed and not dry_run:
        raise BadInput(f"nobody has allowed {asked} here", hint="read it, then `limpet scope allow`")
    file = root / FOLDER_FILE
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise BadInput(f"{file} is a link, or no file", hint="remove it, and try again")
    team = Team(context, scope, str(where))
    if allowed and not dry_run:
        team.take_in(is_asked=True)
    report = team.write(dry_run=dry_run)
    if report.written and not (asked or dry_run):
        with writing(file):
            before = file.read_text("utf-8").rstrip() if file.exists() else ""
            file.write_text(f"{before}\nshare {place}\n".lstrip(), "utf-8")
    return report


def take_in(memory: Limpet, *, is_asked: bool = False) -> ShareReport | None:
    """Take in what the team has changed in the folder that a person has allowed; None where there is none, or it
    cannot be read. Sessions and servers do so when they begin. `is_asked`: also if most statements are gone.

    >>> take_in(memory)
    """
    context, project = memory._context, memory._context.project
    if project is None or project.wish is None or context.store.read_only:
        return None
    scope, folder = context.store.checkouts.shared(project)
    # No link, and no `..`, leads out of the repository.
    if not folder or os.path.realpath(folder) != folder or not folder.startswith(project.root + os.sep):
        return None
    from .team import Team

    with suppress(LimpetError, OSError):  # `limpet share` says why
        return Team(context, scope, folder).take_in(is_asked=is_asked)
    return None


def open_folder(context: Context, folder: str) -> None:
    """Read a folder into an empty store in memory, which is only read from now on. Raises StoreError."""
    from .team import Team

    if not Team(context, context.scope, os.path.realpath(folder)).take_in(is_asked=True).new:
        raise StoreError(f"{folder} is a folder, and no team shares memories in it", hint="give a store's file")
    context.store.read_only = context.store.database.read_only = True
