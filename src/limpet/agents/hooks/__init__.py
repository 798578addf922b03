"""`limpet hook CLIENT EVENT`: what agent clients call at their events.

`entry.py` is the process: it ends with exit code 0 whatever happens. `client_adapters.py` knows the clients,
`answer.py` does what an event asks for, `gate.py` says whether a message is worth a look-up, `actions.py` tells a tool
call in a line, `injected.py` makes the text that is injected. Nothing here imports a heavy library, or anything before
it is needed.
"""
