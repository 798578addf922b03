"""The work of the queue: finding repeated statements and keys that mean the same, and the doctor."""
