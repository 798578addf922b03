"""What can be read off a text without knowing anything else: its normal form, its dates, its secrets. No I/O."""
