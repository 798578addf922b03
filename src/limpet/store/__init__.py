"""Where memories are kept. `sql/` has the repositories that engines share; each engine has a folder of its own.

Nothing outside this package knows which engine is in use, and nothing outside it imports a database driver.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sql.store import Store as Store
