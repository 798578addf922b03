"""Pure scoring: no I/O, no clock, no third-party imports; `now` is an argument.

`constants.py` holds every number with its source; `fuse.py` merges signals; `adjust.py` applies use, decay and
confidence; `trace.py` is what `--explain` shows.
"""
