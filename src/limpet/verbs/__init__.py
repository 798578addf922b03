"""Parts of the façade, each about one thing. `Limpet` inherits them; their methods are thin, the rooms do the work."""
