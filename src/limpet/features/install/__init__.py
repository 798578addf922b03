"""`limpet install CLIENT`: merging limpet into a client's own files, and taking it out again.

`clients.py` is the table of clients: what goes where; `entries.py` tells limpet's entries from others'; `jsonc.py` and
`toml.py` edit one format each and leave every other byte alone; `change.py` makes the plan and carries it out;
`check.py` is what `doctor` does about clients.
"""
