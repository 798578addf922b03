"""Backups that make themselves: a folder, how often, how many stay. Whoever works the queue makes what is due."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...model.clock import MICROSECONDS_PER_SECOND, to_datetime
from ...model.errors import BadInput, LimpetError, StoreError
from ...model.times import parse_duration
from ...store.records import BackupPlan

if TYPE_CHECKING:
    from ...context import Context


class BackupState(NamedTuple):
    """The plan of backups that make themselves, if there is one; the newest backup that is there, made by itself or by
    hand, and when it was written."""

    plan: BackupPlan | None
    newest: str | None
    newest_at_us: int | None


MOST_KEPT = 10_000
# Between two backups, in microseconds: those kept would soon all be of the last moments.
SHORTEST = 60 * MICROSECONDS_PER_SECOND


def backup_state(context: Context) -> BackupState:
    """Return the plan and the newest backup, without reading one."""
    newest = at = None
    for path, kind in context.store.erasure.copies():
        with contextlib.suppress(OSError):
            written = int(Path(path).stat().st_mtime) * MICROSECONDS_PER_SECOND
            if kind == "backup" and (at is None or written > at):
                newest, at = path, written
    return BackupState(context.store.maintenance.backup_plan(), newest, at)


def plan_backups(context: Context, folder: str | os.PathLike[str] | None, *, every: str, keep: int) -> str | None:
    """Set the plan and make the first backup; with every="off" there is none any more. Returns the file made."""
    maintenance = context.store.maintenance
    if every == "off":
        maintenance.plan_backups(None, was=maintenance.backup_plan())
        return None
    if folder is None or type(keep) is not int or not 1 <= keep <= MOST_KEPT:
        raise BadInput("automatic backups need a folder, and 1 or more to keep", hint='every="1d", keep=7')
    if context.store.path == ":memory:":
        raise BadInput("a store in memory has no file")
    wait = parse_duration(every)
    if wait < SHORTEST:
        raise BadInput(f"backups every {every}: a minute is the least", hint="such as 30m, 12h, 1d; off ends them")
    place = Path(folder).absolute()
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {place}: {error.strerror}") from None
    plan = BackupPlan(str(place), wait, keep, 0)
    maintenance.plan_backups(plan, was=maintenance.backup_plan())
    return make_due(context)


def make_due(context: Context) -> str | None:
    """Make the backup that is due, if one is, and remove those above the number. Raises StoreError, BadInput."""
    maintenance, now = context.store.maintenance, context.now()
    plan = maintenance.backup_plan()
    if plan is None or context.store.read_only or 0 <= now - plan.done_at < plan.every:
        return None
    begun = plan._replace(done_at=now)
    if not maintenance.plan_backups(begun, was=plan):
        return None  # another process makes it
    name = Path(context.store.path).name
    file = Path(plan.folder) / f"{name}.{to_datetime(now):%Y%m%dT%H%M%SZ}.backup"
    try:
        maintenance.backup(str(file))
    except LimpetError:
        with contextlib.suppress(LimpetError):
            maintenance.plan_backups(plan, was=begun)
        raise
    # The oldest automatic backups of this store, known by their names.
    own = re.compile(re.escape(name) + r"\.\d{8}T\d{6}Z\.backup")
    with contextlib.suppress(OSError):
        made = (each for each in Path(plan.folder).iterdir() if own.fullmatch(each.name) and not each.is_symlink())
        for old in sorted(made)[: -plan.keep]:
            old.unlink()
    context.store.erasure.note_copy(str(file), "backup", now)
    return str(file)
