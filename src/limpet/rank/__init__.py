"""Pure scoring: no I/O, no clock, no third-party imports; `now` is an argument.

`constants.py` holds every number with its source; `adjust.py` computes the factors of use, decay and confidence, which
`recall/score.py` applies; the `*weights.py` are fitted.
"""
