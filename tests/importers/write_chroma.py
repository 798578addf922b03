"""Writes a folder of collections by Chroma's own PersistentClient. Run by its own environment: `make test-importers`."""

import sys

import chromadb

client = chromadb.PersistentClient(sys.argv[1], settings=chromadb.Settings(anonymized_telemetry=False))
notes = client.create_collection("notes", embedding_function=None)
about = [{"topic": "deploy", "n": 3, "share": 0.5, "ok": True}, {"kind": "decision"}, {"only": "metadata"}]
texts = ["Deploys go out on Tuesdays", "The staging port is 5432"]
notes.add(ids=["n1", "n2"], documents=texts, embeddings=[[1, 0, 0], [0, 1, 0]], metadatas=about[:2])
notes.upsert(ids=["n2"], documents=["The staging port is 5433"], embeddings=[[0, 1, 1]], metadatas=about[1:2])
notes.add(ids=["n3", "n4"], embeddings=[[0, 0, 1], [1, 1, 1]], metadatas=[about[2], about[2]])
notes.delete(ids=["n4"])
people = client.create_collection("people", embedding_function=None)
people.add(ids=["n1"], documents=["Ana leads billing"], embeddings=[[1, 0]])
