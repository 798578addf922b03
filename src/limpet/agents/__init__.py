"""What agents talk to: the MCP server.

Each function here parses, makes one engine call and answers; no rule of memory lives in this room. Nothing is imported
until it is used: the `mcp` package alone takes about a second. Read first: `mcp.py`.
"""
