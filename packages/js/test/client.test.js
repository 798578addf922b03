// Against a real `limpet serve`, run by LIMPET_PYTHON (default: that of the repository's .venv).
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as listen } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { LimpetClient, LimpetError } from "../index.js";

const python = process.env.LIMPET_PYTHON ?? fileURLToPath(new URL("../../../.venv/bin/python", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "limpet-js-"));
/** @type {import("node:child_process").ChildProcess} */
let server;
let url = "";

const create = ["serve", "token", "create", "tests", "--role", "write", "--scope", "project:shop"];
const TOKEN = execFileSync(python, ["-m", "limpet", "--store", join(folder, "memory.db"), ...create], { encoding: "utf8" }).trim();

const freePort = () =>
  new Promise((done) => {
    const one = listen().listen(0, "127.0.0.1", () => {
      const port = one.address().port;
      one.close(() => done(port));
    });
  });

async function start(port) {
  const args = ["-m", "limpet", "--store", join(folder, "memory.db"), "--scope", "project:shop", "serve", "--listen", String(port)];
  server = spawn(python, args, { stdio: "ignore" });
  for (let tries = 0; tries < 300; tries += 1) {
    try {
      await fetch(`http://127.0.0.1:${port}/mcp`);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new Error("the server did not start");
}

const stop = () =>
  new Promise((done) => {
    server.once("exit", done);
    server.kill();
  });

let port = 0;
before(async () => {
  port = await freePort();
  url = `http://127.0.0.1:${port}/mcp`;
  await start(port);
});
after(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

test("what is remembered is recalled by meaning", async () => {
  const memory = new LimpetClient({ url, token: TOKEN });
  const [first, second] = await memory.remember(["Releases leave the building on Tuesdays", { content: "Ana waters the plants", kind: "fact", topics: ["office"] }]);
  assert.equal(first.status, "created");
  assert.ok(second.id);

  let found = await memory.recall("when do we ship new versions?", { k: 1 });
  for (let tries = 0; tries < 100 && !found.items.length; tries += 1) {
    await new Promise((done) => setTimeout(done, 100)); // its vector is made in the background
    found = await memory.recall("when do we ship new versions?", { k: 1 });
  }
  assert.equal(found.items[0].content, "Releases leave the building on Tuesdays");
  assert.match(await memory.prepare("When do releases leave?"), /Tuesdays/);
  assert.equal((await memory.feedback([first.id], "useful")).noted, 1);
  await memory.close();
});

test("calls at once share a session, and one that has ended is begun anew", async () => {
  const memory = new LimpetClient({ url, token: TOKEN });
  const found = await Promise.all([1, 2, 3, 4].map(() => memory.recall("who waters the plants?")));
  assert.ok(found.every((one) => one.items.some((item) => item.content.includes("Ana"))));
  await stop();
  await start(port);
  assert.ok((await memory.recall("who waters the plants?")).items.length > 0);
  await memory.close();
  assert.ok((await memory.tools()).some((one) => one.name === "recall"));
  await memory.close();
});

test("errors say what is wrong", async () => {
  const memory = new LimpetClient({ url, token: TOKEN });
  await assert.rejects(memory.call("recal"), LimpetError);
  await assert.rejects(memory.recall("x", { k: -1 }), (error) => error instanceof LimpetError && /k/.test(error.message));
  await assert.rejects(memory.remember([""]), (error) => error instanceof LimpetError && /rejected/.test(error.message));
  await assert.rejects(new LimpetClient({ url, token: "wrong" }).recall("x"), (error) => error.status === 401);
  await memory.close();
});

test("answers in a stream of events are read, and a server that is silent is given up", async () => {
  const answers = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const { id, method } = JSON.parse(body || "{}");
      if (method === "tools/call") return; // silent
      response.setHeader("content-type", "text/event-stream");
      const result = method === "tools/list" ? { tools: [{ name: "ä", inputSchema: {} }] } : {};
      const note = { jsonrpc: "2.0", method: "notifications/message", params: {} };
      response.end(`event: message\r\ndata: ${JSON.stringify(note)}\r\n\r\n: ping\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
    });
  });
  await new Promise((done) => answers.listen(0, "127.0.0.1", done));
  const memory = new LimpetClient({ url: `http://127.0.0.1:${answers.address().port}`, token: "t", timeout: 300 });
  assert.deepEqual(await memory.tools(), [{ name: "ä", inputSchema: {} }]);
  await assert.rejects(memory.recall("x"), { name: "TimeoutError" });
  answers.closeAllConnections();
  answers.close();
});

test("the example for the Vercel AI SDK runs with a model of the tests", async (context) => {
  let ai;
  try {
    ai = await import("ai/test");
  } catch {
    return context.skip("npm install brings the SDK");
  }
  const { answer } = await import("../examples/vercel-ai-sdk.js");
  const asked = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const Model = ai.MockLanguageModelV3 ?? ai.MockLanguageModelV2;
  const model = new Model({
    doGenerate: async (given) => {
      asked.push(given);
      const content = asked.length === 1
        ? [{ type: "tool-call", toolCallId: "c1", toolName: "recall", input: JSON.stringify({ query: "when do we ship?" }) }]
        : [{ type: "text", text: "On Tuesdays." }];
      return { content, finishReason: asked.length === 1 ? "tool-calls" : "stop", usage, warnings: [] };
    },
  });
  const memory = new LimpetClient({ url, token: TOKEN });
  assert.equal(await answer(model, memory, "When do releases leave?"), "On Tuesdays.");
  await memory.close();
  assert.match(JSON.stringify(asked[0].prompt), /Tuesdays/); // the brief
  assert.match(JSON.stringify(asked[1].prompt), /Releases leave the building/); // what the tool answered
});
