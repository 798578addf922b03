"""One process for a team: MCP over HTTP, an HTTP/JSON API, and the tokens that say who may do what in which scope."""
