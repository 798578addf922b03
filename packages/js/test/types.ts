// Read by tsc alone: what the types promise.
import { LimpetClient, LimpetError, type Recall, type Receipt } from "../index.js";

const client = new LimpetClient({ url: "http://127.0.0.1:1/mcp", token: "t" });
const found: Recall = await client.recall("q", { k: 3, kind: ["fact"] });
const first: string = found.items[0].content;
const receipts: Receipt[] = await client.remember(["a", { content: "b", origin: "user" }]);
const status: "created" extends Receipt["status"] ? true : false = true;
// @ts-expect-error: no such kind
await client.recall("q", { kind: ["thing"] });
// @ts-expect-error: no such verdict
await client.feedback(["id"], "nice");
export { first, receipts, status, LimpetError };
