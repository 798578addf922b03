// Writes claude-mem.db by claude-mem's own SessionStore. Run by bun, which it needs: `make test-importers`.
import { createRequire } from "node:module";

const [folder, path] = process.argv.slice(2);
const { SessionStore } = createRequire(import.meta.url)(`${folder}/claude-mem/plugin/sqlite/SessionStore.js`);
const store = new SessionStore(path, { syncOpsEnabled: false });
const at = Date.UTC(2026, 0, 5, 12);
const session = store.createSDKSession("session-of-claude", "shop", "Why do deploys hang?");
store.ensureMemorySessionIdRegistered(session, "inner-1");
store.saveUserPrompt("session-of-claude", 1, "Why do deploys hang?", session);
store.storeObservations(
  "inner-1",
  "shop",
  [
    {
      type: "bugfix",
      title: "Deploys hang when the VPN is down",
      subtitle: "Reconnecting lets them go on",
      facts: ["The deploy waits for the registry", "The registry is behind the VPN"],
      narrative: "A deploy waited for ten minutes until the VPN was connected again.",
      concepts: ["problem-solution", "gotcha"],
      files_read: ["deploy.py"],
      files_modified: ["deploy.py", "ops/vpn.md"],
    },
    {
      type: "decision",
      title: "The staging port is 5433",
      subtitle: null,
      facts: [],
      narrative: null,
      concepts: [],
      files_read: [],
      files_modified: [],
    },
  ],
  {
    request: "Find why deploys hang",
    investigated: "The log of the deploy",
    learned: "The registry is behind the VPN",
    completed: "A check of the VPN before a deploy",
    next_steps: "Tell the team",
    notes: null,
  },
  1,
  120,
  at,
  "a-model",
);
store.close();
