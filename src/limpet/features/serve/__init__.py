"""One process for a team: MCP over HTTP, a web page, and the tokens that say who may do what in which scope."""
