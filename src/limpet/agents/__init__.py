"""Serve agents: the MCP server and the hooks.

Each function here parses, makes one call of the API and answers; no rule of memory lives in this package. Nothing is
imported until it is used: the `mcp` package alone takes about a second. Read first: `mcp.py`.
"""
