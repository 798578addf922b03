"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 7997 messages and
7035 questions of training/written; guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.0609,
    "cosine": 3.8755,
    "behind": -0.6696,
    "alone": 2.3486,
    "length": 0.1510,
}
FITS_JUDGED: dict[str, float] = {
    "one": -2.4289,
    "behind": -0.6160,
    "alone": 2.1641,
    "length": 0.1056,
    "judge": 0.3755,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHARE_OF_BEST = 0.28, 0.5
