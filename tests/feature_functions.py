"""The functions of features that `limpet.Limpet` does not have: `mirror.sync(memory, folder)`."""

from __future__ import annotations

import inspect

from limpet.features import evaluate, mirror, organize, share, starting, transfer, upkeep, usefulness

FUNCTIONS = {
    f"{package.__name__.rpartition('.')[2]}.{name}": function
    for package in (evaluate, mirror, organize, share, starting, transfer, upkeep, usefulness)
    for name, function in vars(package).items()
    if inspect.isfunction(function)
    and function.__module__ == package.__name__
    and not name.startswith("_")
    and next(iter(inspect.signature(function).parameters)) == "memory"
}
