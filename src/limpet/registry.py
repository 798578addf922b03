"""The registry of optional features. The core imports none of them: it asks here, and runs without them.

A feature is a package or module in `limpet/features/`. It registers by a verb that hands over to it (`Part`), by rows
of the table of commands (`COMMANDS`), or by a call of the core (`CALLS`).
"""

from __future__ import annotations

from importlib import import_module

from .model.errors import LimpetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FEATURES = "limpet.features"
# The first word of a command -> the module of the feature that has its rows (VERBS, see cli/verbs.py).
COMMANDS = {
    "encrypt": "features.encryption.commands",
    "start": "features.starting.commands",
    "organize": "features.organize.commands",
    "eval": "features.evaluate.commands",
    "import": "features.transfer.commands",
    "export": "features.transfer.commands",
    "copy": "features.transfer.commands",
    "mirror": "features.mirror.commands",
    "share": "features.share.commands",
    "install": "features.install.commands",
    "uninstall": "features.install.commands",
    "ui": "features.web.commands",
    "serve": "features.serve.commands",
}
# Calls that the core makes at certain moments -> the module and the function of the feature that answers.
CALLS = {
    "content_policy": ("features.policy", "ContentPolicy"),
    "taint": ("features.outside", "taint"),
    "read_by": ("features.outside", "read_by"),
    "tainted": ("features.outside", "ask"),
    "may_begin": ("features.outside", "may_begin"),
    "recalled": ("features.outside", "note_recalled"),
    "confirm_typed": ("features.outside", "confirm_typed"),
    "shown": ("features.usefulness", "note_exposures"),
    "before_recall": ("features.mirror", "take_in_edits_seen_by_recalls"),
    "mirrors": ("features.mirror", "synced_mirrors"),
    "team": ("features.share", "take_in"),
    "open_folder": ("features.share", "open_folder"),
    "ended": ("features.starting", "note_ended"),
    "read_ended": ("features.starting", "read_ended"),
    "check_clients": ("features.install.check", "check_clients"),
    "embedder": ("features.embedders", "load"),
    "embedders": ("features.embedders", "installed"),
    "unknown_embedder": ("features.embedders", "unknown"),
    "anchor": ("features.code", "anchor"),
    "code_marks": ("features.code", "marks"),
    "about_code": ("features.code", "about"),
    "source_states": ("features.transfer.project", "states"),
    "rewrite_segments": ("features.transfer.service", "export_to"),
}


class FeatureMissing(LimpetError):
    """A part of limpet that is not in this installation."""


def part(name: str) -> Any:
    """Import a module of limpet, such as `features.mirror.syncing`. Raises FeatureMissing."""
    try:
        return import_module(f"limpet.{name}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(FEATURES):
            raise
        feature = name.split(".")[1]
        raise FeatureMissing(f"this installation of limpet is without the feature {feature}") from None


class Part:
    """A module of limpet, imported when its first function is called. Raises FeatureMissing then."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Any:
        value = getattr(part(self._name), function)
        setattr(self, function, value)  # not asked for again
        return value


def call(moment: str, *given: Any, **named: Any) -> Any:
    """Call what a feature registered for a moment. Return None where the feature is not installed."""
    module, function = CALLS[moment]
    try:
        feature = part(module)
    except FeatureMissing:
        return None
    return getattr(feature, function)(*given, **named)
