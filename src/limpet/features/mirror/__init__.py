"""The Markdown copy that people read and edit: `page` and `index` are its text, `folder` its files, `state` what both
sides said at the last sync, `reconcile` the three-way decision, `sync` carries it out. Read first: `page`, then `sync`.
"""

OWN = ".limpet"  # the mirror's own folder in it: what was last alike, the lock, files that were taken away
STATE = "mirror.json"  # in there; its time is that of the last sync
