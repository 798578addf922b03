"""The organizer: memories from what already happened, agents' transcripts and folders of notes.

Read first: `turns.py` (what a reader yields), `rules.py` and `work.py` (what is worth remembering), `run.py` (scan,
skip, write). With a language model: `reading.py`. Never on a read path, and never without somebody having asked for
it.
"""
