"""`python -m limpet` is the command line."""

from .cli.main import run

run()
