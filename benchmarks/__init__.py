"""Measurements of quality and speed, through the public API only. Not part of the tests: they take data paths and time.

    python -m benchmarks.locomo --data FILE        which turns a question finds in long chats between two people
    python -m benchmarks.longmemeval --data FILE   the same in haystacks of chats with an assistant
    python -m benchmarks.speed --sizes 1000,10000  writes, recalls, listings, cold processes, file size
    python -m benchmarks.turns                     processor time of a warm recall, against another checkout by turns
    python -m benchmarks.agents                    the MCP server over stdio and cold hooks, against their bars

Data sets of others are not here: a benchmark without its `--data` says where to download it (`public.py`).
`harness.py` has metrics, tables and the record that a result carries; `retrieval.py` stores haystacks and asks;
`embedding_cache.py` keeps vectors between runs. Recorded runs lie in `results/<date>-<machine>/`.
"""
