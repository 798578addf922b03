-- Whether a session has been shown a memory: asked for each that a hook is about to show.
CREATE INDEX surfaced_session ON surfaced (session, memory);
