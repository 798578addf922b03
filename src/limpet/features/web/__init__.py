"""`limpet ui`: a local web page that shows what agents believe and lets a person put it right.

`commands.py` listens, `access.py` decides who is answered, `site.py` calls a view for a request, and the views
(`views_*.py`) call verbs of `api.py` and fill a template.
"""
