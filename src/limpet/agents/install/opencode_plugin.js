// Made by `limpet install opencode`: hands OpenCode's events to `limpet hook opencode EVENT` and what comes back to the model.
import { spawn } from "node:child_process"

const RUN = [/* run */]
const OPTIONS = [/* options */]
const PATIENCE_MS = 3000

function hook(event, data) {
  return new Promise((done) => {
    let out = ""
    let child
    const end = () => {
      try {
        done(out ? (JSON.parse(out).additionalContext ?? "") : "")
      } catch {
        done("")
      }
    }
    try {
      child = spawn(RUN[0], [...RUN.slice(1), "hook", "opencode", event, ...OPTIONS], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: PATIENCE_MS,
      })
      child.on("error", () => done(""))
      child.on("close", end)
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (out += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(data))
    } catch {
      done("")
    }
  })
}

export const Limpet = async ({ directory }) => {
  // What was found for a session, handed over with the next request to the model.
  const started = new Map()
  const found = new Map()
  return {
    event: async ({ event }) => {
      const id = event.properties?.info?.id
      if (event.type === "session.created") {
        if (event.properties?.info?.parentID) return
        started.set(id, await hook("session.created", { sessionID: id, directory }))
      } else if (event.type === "session.deleted") {
        started.delete(id)
        found.delete(id)
        await hook("session.deleted", { sessionID: id, directory })
      }
    },
    "chat.message": async (input, output) => {
      const prompt = output.parts
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      found.set(input.sessionID, await hook("chat.message", { sessionID: input.sessionID, directory, prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID ?? [...found.keys()].pop()
      for (const text of [started.get(id), found.get(id)]) if (text) output.system.push(text)
    },
    "tool.execute.after": async (input, output) => {
      const error = output?.metadata?.exit ? `exit ${output.metadata.exit}` : undefined
      const args = input.args ?? output?.args
      void hook("tool.execute.after", { sessionID: input.sessionID, directory, tool: input.tool, args, error })
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await hook("experimental.session.compacting", { sessionID: input.sessionID, directory })
      if (text) output.context.push(text)
    },
  }
}
