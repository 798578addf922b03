"""The user's folders for limpet's data and state, as platformdirs names them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

# What the XDG base directory specification says: the variable that names a folder, and the folder when it is not set.
_XDG = {"data": ("XDG_DATA_HOME", "~/.local/share"), "state": ("XDG_STATE_HOME", "~/.local/state")}


def user_folder(what: Literal["data", "state"]) -> Path:
    """limpet's folder of this kind; it need not be there.

    On Linux without platformdirs, whose import takes a tenth of a short command.
    """
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:
        variable, usual = _XDG[what]
        said = os.environ.get(variable, "").strip()
        return (Path(said) if said.startswith("/") else Path(usual).expanduser()) / "limpet"
    import platformdirs

    named = platformdirs.user_data_dir if what == "data" else platformdirs.user_state_dir
    return Path(named("limpet", appauthor=False))
