"""The work of the queue: the checks of stored memories, and the doctor."""
