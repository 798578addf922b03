// Made by `limpet install opencode`: hands OpenCode's events to `limpet hook opencode EVENT` and what comes back to the model.
import { spawn } from "node:child_process"

const RUN = [/* run */]
const OPTIONS = [/* options */]
const PATIENCE_MS = 3000
// Of what was found for a session's messages so much stays before the model, some 2,000 tokens; the oldest goes first.
// To limpet that was shown, so it comes back after a compaction, or when the model recalls it. What a session began with
// stays whole.
const KEPT_CHARACTERS = 8000

function hook(event, data) {
  return new Promise((done) => {
    let out = ""
    let child
    const end = () => {
      try {
        done(out ? JSON.parse(out) : {})
      } catch {
        done({})
      }
    }
    try {
      child = spawn(RUN[0], [...RUN.slice(1), "hook", "opencode", event, ...OPTIONS], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: PATIENCE_MS,
      })
      child.on("error", () => done({}))
      child.on("close", end)
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (out += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(data))
    } catch {
      done({})
    }
  })
}

export const Limpet = async ({ directory }) => {
  // What a session began with, and what was found for its messages. A system prompt is made anew for each request and
  // limpet shows a memory once in a session: so each request gets what was shown before, too.
  const started = new Map()
  const found = new Map()
  const ask = async (event, data) => {
    const { off, additionalContext } = await hook(event, data)
    if (off) {
      // What was shown is not to be before the model while limpet is off. When it is on again, the session starts anew.
      started.delete(data.sessionID)
      found.delete(data.sessionID)
    }
    return additionalContext ?? ""
  }
  const keep = (id, text) => {
    const kept = [...(found.get(id) ?? []), text].filter(Boolean)
    while (kept.length > 1 && kept.join("").length > KEPT_CHARACTERS) kept.shift()
    found.delete(id) // the session that was asked last is the last of the map
    found.set(id, kept)
  }
  const start = async (id, source) => {
    started.set(id, started.get(id) ?? "")
    const text = await ask("session.created", { sessionID: id, directory, source })
    if (text) started.set(id, text)
  }
  return {
    event: async ({ event }) => {
      const id = event.properties?.info?.id
      if (event.type === "session.created") {
        if (event.properties?.info?.parentID) started.set(id, "")
        else await start(id)
      } else if (event.type === "session.deleted") {
        started.delete(id)
        found.delete(id)
        await ask("session.deleted", { sessionID: id, directory })
      }
    },
    "chat.message": async (input, output) => {
      const prompt = output.parts
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      // Of a session that another process began, nothing that it showed is before the model any more.
      if (!started.has(input.sessionID)) await start(input.sessionID, "clear")
      keep(input.sessionID, await ask("chat.message", { sessionID: input.sessionID, directory, prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID ?? [...found.keys()].pop()
      for (const text of [started.get(id), ...(found.get(id) ?? [])]) if (text) output.system.push(text)
    },
    "tool.execute.after": async (input, output) => {
      const error = output?.metadata?.exit ? `exit ${output.metadata.exit}` : undefined
      const args = input.args ?? output?.args
      void ask("tool.execute.after", { sessionID: input.sessionID, directory, tool: input.tool, args, error })
    },
    "experimental.session.compacting": async (input, output) => {
      // From here on limpet shows again what was shown.
      found.delete(input.sessionID)
      const text = await ask("experimental.session.compacting", { sessionID: input.sessionID, directory })
      if (text) output.context.push(text)
    },
  }
}
