"""What a purge does beyond the rows. The server's files are out of reach: they are not searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...store.sql.erasure import Erasure


class PostgresErasure(Erasure):
    beyond = (
        "the rows are gone, their space was vacuumed; the server's write-ahead log, its standbys and its backups keep"
        " what they have until they are recycled or deleted"
    )

    def scour(self, pieces: Sequence[bytes]) -> bool:  # noqa: ARG002
        return False

    def own_files(self) -> list[Path]:
        return []

    def replaced_stores(self) -> list[Path]:
        return []
