"""What MkDocs is to do with docstrings: their examples are shown as code. An extension of Griffe, for `make site`."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Each `>>>` and what follows it, up to an empty line, in a fence: Markdown takes it for a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
