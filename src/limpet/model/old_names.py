"""Names of the public interface that were given up, each with the one that took its place. Every one keeps working.

The one place for them: who looks a name up and finds nothing asks here. tests/flows/test_old_names.py tries each.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS = {"surfaced": "exposures"}
SETTINGS = {"LIMPET_WITHHOLD": "LIMPET_HOLDOUT"}
METHODS = {"surfaced": "exposures", "note_surfaced": "note_exposures"}  # of `Limpet`
EMBEDDER = {"gauge": "calibration"}  # attributes of an embedder that somebody brings


def all_names(name: str, table: Mapping[str, str]) -> tuple[str, ...]:
    """A name and those that it had before."""
    return (name, *(old for old, new in table.items() if new == name))
