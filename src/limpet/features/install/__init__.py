"""`limpet install CLIENT`: merging limpet into a client's own files, and taking it out again.

`clients.py` says what goes where; `jsonc.py` and `toml.py` edit one format each and leave every other byte alone;
`change.py` makes the plan and carries it out; `existing.py` reads what an earlier install wrote; `check.py` is what
`doctor` does about clients.
"""
