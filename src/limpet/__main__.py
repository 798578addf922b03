"""`python -m limpet` is the command line."""

from .cli.start import run

run()
