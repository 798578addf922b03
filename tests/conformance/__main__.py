"""The conformance suite of the Model Context Protocol against limpet over HTTP: `make mcp-conformance`.

The suite asks for tools, resources and prompts by names of its own. Here each of those names stands for what limpet
offers of that sort, and the answer is limpet's. What limpet does not offer is in `not_offered.yml`: those scenarios must
fail, and every other must pass.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn

import limpet
from limpet.agents.protocol import Service
from limpet.features.serve.listener import HOST
from limpet.features.serve.sdk import server_of

PACKAGE = "@modelcontextprotocol/conformance@0.1.16"
TO_INSTALL = f"""The suite needs Node 22 or newer, in a folder that can be thrown away:

    mkdir conformance && cd conformance
    npm install node@22 {PACKAGE}
    export PATH="$PWD/node_modules/node/bin:$PWD/node_modules/.bin:$PATH"
"""

TOOLS = {
    "test_simple_text": ("recall", {"query": "Which port does Redis have?"}),
    "test_error_handling": ("recall", {}),
}


class Renamed(Service):
    """limpet under the names of the suite."""

    def __init__(self, memory):
        super().__init__(memory)
        id = memory.remember("Ticket 123 is about Redis on port 6380", topics=["redis"]).id
        self._places = {
            "test://static-text": "memory://index",
            "test://template/123/data": f"memory://{id}",
        }

    def answer(self, method, params, session=""):
        name, uri = params.get("name"), params.get("uri")
        if name in TOOLS:
            own, given = TOOLS[name]
            params = params | {"name": own, "arguments": given}
        elif name == "test_simple_prompt":
            params = params | {"name": "reflect"}
        elif name == "test_prompt_with_arguments":
            params = params | {"name": "brief", "arguments": {"task": " ".join(params["arguments"].values())}}
        elif uri in self._places:
            params = params | {"uri": self._places[uri]}
        found = super().answer(method, params, session)
        if method == "resources/read":
            found["contents"][0]["uri"] = uri
        return found


def main():
    if shutil.which("conformance") is None:
        sys.exit(TO_INSTALL)
    with tempfile.TemporaryDirectory() as folder, socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        with limpet.open(f"{folder}/memory.db", scope="project:conformance") as memory:
            app = server_of(Renamed(memory)).streamable_http_app(host=HOST)
            server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on", ws="none"))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
            thread.start()
            argv = ["conformance", "server", "--url", f"http://{HOST}:{port}/mcp", "--suite", "all"]
            argv += ["--expected-failures", str(Path(__file__).with_name("not_offered.yml"))]
            done = subprocess.run(argv, check=False)
            server.should_exit = True
            thread.join(10)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
