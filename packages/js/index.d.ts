/** Kinds of memories. */
export type Kind =
  | "fact" | "decision" | "inference" | "correction" | "skill" | "episode" | "preference" | "opinion" | "lesson" | "goal" | "note";
/** Who said it. What comes from tools and the web is believed less. */
export type Origin = "user" | "agent" | "team" | "tool" | "web" | "import";

export interface Statement {
  content: string;
  kind?: Kind;
  topics?: string[];
  key?: string;
  origin?: Origin;
  source?: string;
  valid_from?: string;
  because?: string[];
  session?: string;
}

export interface Receipt {
  id?: string;
  status: "created" | "observed" | "proposed" | "quarantined" | "changed" | "unchanged" | "rejected";
  reason?: string;
  redacted?: string[];
  added?: string[];
  kind?: Kind;
  rule?: string;
}

export interface RecallOptions {
  k?: number;
  kind?: Kind[];
  topics?: string[];
  since?: string;
  until?: string;
  known_at?: string;
  budget_tokens?: number;
}

export interface Item {
  id: string;
  kind: Kind;
  content: string;
  score: number;
  confidence_word: string;
  date: string;
  topics?: string[];
  key?: string;
  origin?: Origin;
}

export interface Recall {
  /** Whether anything answers the question; `note` says so in a sentence. */
  relevant: boolean;
  note?: string;
  items: Item[];
  missing?: string[];
  truncated?: boolean;
}

export interface Tool {
  name: string;
  description?: string;
  inputSchema: Record<string, unknown>;
}

export interface Options {
  /** As `limpet serve --listen PORT` prints it: http://127.0.0.1:PORT/mcp */
  url: string;
  /** As `limpet serve token create` prints it. */
  token: string;
  /** Milliseconds that a call may take; 30,000 unless said. */
  timeout?: number;
  fetch?: typeof globalThis.fetch;
}

/** The server answered with an error: of the protocol (`code`), of HTTP (`status`), or of a tool (neither). */
export class LimpetError extends Error {
  code?: number;
  status?: number;
}

/** A connection to `limpet serve`. It is made by the first call; a session that has ended is begun anew. */
export class LimpetClient {
  constructor(options: Options);
  /** What matters for a question, the best first. */
  recall(query: string, options?: RecallOptions): Promise<Recall>;
  /** Keep statements. One that is not taken has the status "rejected"; if none is, LimpetError is thrown. */
  remember(items: string | Statement | (string | Statement)[]): Promise<Receipt[]>;
  /** What an agent should know before it answers a message, as text. */
  prepare(message: string, options?: { budget_tokens?: number }): Promise<string>;
  feedback(ids: string[], verdict: "useful" | "not_useful" | "wrong"): Promise<{ noted: number; rejected?: unknown[] }>;
  /** Every tool of the server, with its JSON Schema. */
  tools(): Promise<Tool[]>;
  /** Any tool, with its structured answer. */
  call<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T>;
  /** End the session. */
  close(): Promise<void>;
}
