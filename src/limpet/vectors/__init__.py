"""Meaning as vectors: the Embedder plug-in point, the local model, and exact search over the store's chunks.

Importing this package imports neither NumPy nor a model: `embedder.py` loads an embedder when it is needed.
"""
