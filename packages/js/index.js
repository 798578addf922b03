// A client for `limpet serve --listen PORT`: MCP over streamable HTTP, with a method for each thing that programs ask for.

const PROTOCOL = "2025-11-25";
const TIMEOUT = 30_000;
const ENDED = 404; // the session is not there any more

export class LimpetError extends Error {
  /**
   * @param {string} message
   * @param {{code?: number, status?: number}} [about]
   */
  constructor(message, about = {}) {
    super(message);
    this.name = "LimpetError";
    this.code = about.code;
    this.status = about.status;
  }
}

export class LimpetClient {
  /** @type {import("./index.js").Options} */
  #options;
  /** @type {string | undefined} */
  #session;
  /** @type {Promise<void> | undefined} */
  #begun;
  #last = 0;

  /** @param {import("./index.js").Options} options */
  constructor(options) {
    this.#options = options;
  }

  /**
   * @param {string} query
   * @param {import("./index.js").RecallOptions} [options]
   * @returns {Promise<import("./index.js").Recall>}
   */
  async recall(query, options = {}) {
    const found = await this.call("recall", { query, ...options });
    return /** @type {any} */ ({ ...found, relevant: Boolean(found.relevant), items: found.items ?? [] });
  }

  /**
   * @param {string | import("./index.js").Statement | (string | import("./index.js").Statement)[]} items
   * @returns {Promise<import("./index.js").Receipt[]>}
   */
  async remember(items) {
    const several = (Array.isArray(items) ? items : [items]).map((one) => (typeof one === "string" ? { content: one } : one));
    return /** @type {any} */ ((await this.call("remember", { items: several })).results);
  }

  /**
   * @param {string} message
   * @param {{budget_tokens?: number}} [options]
   * @returns {Promise<string>}
   */
  async prepare(message, options = {}) {
    return String((await this.call("prepare", { message, ...options })).brief ?? "");
  }

  /**
   * @param {string[]} ids
   * @param {"useful" | "not_useful" | "wrong"} verdict
   * @returns {Promise<any>}
   */
  async feedback(ids, verdict) {
    return this.call("feedback", { ids, verdict });
  }

  /** @returns {Promise<import("./index.js").Tool[]>} */
  async tools() {
    return (await this.#ask("tools/list", {})).tools;
  }

  /**
   * @param {string} name
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  async call(name, args = {}) {
    const answer = await this.#ask("tools/call", { name, arguments: args });
    if (answer.isError) {
      throw new LimpetError((answer.content ?? []).map((/** @type {any} */ one) => one.text).join("\n"));
    }
    return answer.structuredContent ?? {};
  }

  async close() {
    if (this.#session) {
      await this.#send(undefined, { method: "DELETE" }).catch(() => undefined);
    }
    this.#session = this.#begun = undefined;
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   */
  async #ask(method, params) {
    await this.#begin();
    try {
      return await this.#request(method, params);
    } catch (error) {
      if (!(error instanceof LimpetError) || error.status !== ENDED) throw error;
      this.#session = this.#begun = undefined; // nothing was done: a server does not read a call of a session it has not
      await this.#begin();
      return this.#request(method, params);
    }
  }

  #begin() {
    this.#begun ??= this.#handshake().catch((error) => {
      this.#begun = undefined;
      throw error;
    });
    return this.#begun;
  }

  async #handshake() {
    const about = { name: "limpet-client", version: "0.1.0" };
    await this.#request("initialize", { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: about });
    await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /**
   * @param {string} method
   * @param {Record<string, unknown>} params
   */
  async #request(method, params) {
    const id = ++this.#last;
    const answer = await this.#send({ jsonrpc: "2.0", id, method, params }, {}, id);
    if (!answer) throw new LimpetError(`no answer to ${method}`);
    if (answer.error) throw new LimpetError(answer.error.message, { code: answer.error.code });
    return answer.result;
  }

  /**
   * Send a message, and read the answer that has the id.
   * @param {unknown} message
   * @param {RequestInit} [init]
   * @param {number} [id]
   */
  async #send(message, init = {}, id) {
    const { url, token, timeout = TIMEOUT, fetch = globalThis.fetch } = this.#options;
    /** @type {Record<string, string>} */
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    if (this.#session) {
      headers["mcp-session-id"] = this.#session;
      headers["mcp-protocol-version"] = PROTOCOL;
    }
    const body = message === undefined ? undefined : JSON.stringify(message);
    const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeout), ...init });
    const text = await response.text();
    if (!response.ok) {
      throw new LimpetError(`${response.status} ${saidBy(text) || response.statusText}`, { status: response.status });
    }
    this.#session ??= response.headers.get("mcp-session-id") ?? undefined;
    if (id === undefined) return undefined;
    return messagesIn(text, response.headers.get("content-type") ?? "").find((one) => one.id === id);
  }
}

/**
 * The messages of a body: one, or those of a stream of events.
 * @param {string} text
 * @param {string} type
 * @returns {any[]}
 */
function messagesIn(text, type) {
  if (!type.startsWith("text/event-stream")) return text ? [JSON.parse(text)] : [];
  const events = text.split(/\r?\n\r?\n/);
  const data = events.map((event) => event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n"));
  return data.filter(Boolean).map((one) => JSON.parse(one));
}

/** @param {string} text */
function saidBy(text) {
  try {
    const said = JSON.parse(text);
    return said.error?.message ?? said.error ?? "";
  } catch {
    return text.slice(0, 200);
  }
}
