"""What grows out of the queue: looking for what was said twice, keys that mean the same, the doctor."""
