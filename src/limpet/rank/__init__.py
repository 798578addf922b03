"""Pure scoring: no I/O, no clock, no third-party imports; `now` is an argument.

`constants.py` holds every number with its source; `adjust.py` applies use, decay and confidence; the `*weights.py` are
fitted.
"""
