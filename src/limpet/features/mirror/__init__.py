"""The Markdown copy that people read and edit: `page` and `index` are its text, `folder` its files, `state` what both
sides said at the last sync, `reconcile` the three-way decision, `sync` carries it out. Read first: `page`, then `sync`.
"""
