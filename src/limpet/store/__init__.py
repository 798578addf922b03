"""Where memories are kept. `sql/` has the repositories that engines share; each engine has a folder of its own.

Nothing outside this package knows which engine is in use, and nothing outside it imports a database driver.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sql.store import Store as Store


def __getattr__(name: str) -> Any:
    """`Store`, imported when it is asked for."""
    if name != "Store":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .sql.store import Store

    return Store
