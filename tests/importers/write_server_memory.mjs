// Writes memory.jsonl by the MCP reference memory server, asked by MCP. Run by node: `make test-importers`.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, path] = process.argv.slice(2);
const require = createRequire(`${folder}/@modelcontextprotocol/server-memory/dist/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)));
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");

const client = new Client({ name: "writer", version: "1" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [`${folder}/@modelcontextprotocol/server-memory/dist/index.js`],
    env: { ...process.env, MEMORY_FILE_PATH: path },
  }),
);
const call = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
};
await call("create_entities", {
  entities: [
    { name: "Ana", entityType: "person", observations: ["Leads billing", "Prefers tabs over spaces"] },
    { name: "billing", entityType: "team", observations: [] },
    { name: "gone", entityType: "team", observations: ["This one was deleted"] },
  ],
});
await call("create_relations", { relations: [{ from: "Ana", to: "billing", relationType: "part_of" }] });
await call("add_observations", { observations: [{ entityName: "Ana", contents: ["Works from Lisbon"] }] });
await call("delete_observations", {
  deletions: [{ entityName: "Ana", observations: ["Prefers tabs over spaces"] }],
});
await call("delete_entities", { entityNames: ["gone"] });
await client.close();
