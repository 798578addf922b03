// Memory for the Vercel AI SDK: a brief before the answer, and limpet's tools for the model.
//
//   limpet serve --listen 8765
//   LIMPET_TOKEN=... node examples/vercel-ai-sdk.js
import { generateText, jsonSchema, stepCountIs, tool } from "ai";

import { LimpetClient } from "limpet-client";

/**
 * recall and remember as tools of the SDK.
 * @param {LimpetClient} memory
 */
export async function memoryTools(memory) {
  const wanted = (await memory.tools()).filter((one) => ["recall", "remember"].includes(one.name));
  return Object.fromEntries(
    wanted.map((one) => [
      one.name,
      tool({
        description: one.description ?? "",
        inputSchema: jsonSchema(/** @type {any} */ (one.inputSchema)),
        execute: async (/** @type {any} */ args) => memory.call(one.name, args),
      }),
    ]),
  );
}

/**
 * @param {import("ai").LanguageModel} model
 * @param {LimpetClient} memory
 * @param {string} prompt
 */
export async function answer(model, memory, prompt) {
  const brief = await memory.prepare(prompt, { budget_tokens: 600 });
  const tools = await memoryTools(memory);
  const { text } = await generateText({ model, system: brief, prompt, tools, stopWhen: stepCountIs(5) });
  return text;
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const memory = new LimpetClient({ url: "http://127.0.0.1:8765/mcp", token: process.env.LIMPET_TOKEN ?? "" });
  console.log(await answer("openai/gpt-5-mini", memory, "When do we ship?"));
  await memory.close();
}
