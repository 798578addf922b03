"""The write path: validate what may be stored, recognise what is there already, and decide which events to append."""
