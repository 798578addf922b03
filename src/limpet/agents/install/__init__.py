"""`limpet install CLIENT`: merging limpet into a client's own files, and taking it out again.

`clients.py` says what goes where; `jsonc.py` and `toml.py` edit one format each and leave every other byte alone;
`files.py` reads and writes safely; `change.py` makes the plan and carries it out; `plugin.py` writes a plugin for
Claude Code; `check.py` is what `doctor` does about clients.
"""
