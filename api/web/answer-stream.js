// One question to the server; its answer as it comes (server-sent events of `StreamChunk`).

/** @import { components } from "./types.d.ts" */
/** @typedef {components["schemas"]} Schemas */
/** @typedef {Pick<Schemas["HistoryMessage"], "role" | "content">} Earlier */
/** @typedef {{question: string, conversation_history?: Earlier[]} & Partial<Pick<Schemas["AskRequest"], "book_id" | "selected_text">>} AskRequest */
/** @typedef {components["schemas"]["StreamChunk"]} StreamChunk */
/** @typedef {components["schemas"]["Citation"]} Citation */

/**
 * Why there is no answer: "limit" (too many questions), "busy" (a part is down), "offline" (the server
 * cannot be reached), "dropped" (the connection broke in mid-answer), "invalid" or "failed".
 */
export class NoAnswer extends Error {
  /** @param {string} kind @param {string} message @param {number | null} wait seconds until it makes sense to ask again */
  constructor(kind, message, wait = null) {
    super(message);
    this.kind = kind;
    this.wait = wait;
  }
}

/**
 * Ask, and yield the events of the answer. Always ends with a `done` event or a `NoAnswer`.
 * @param {string} server @param {AskRequest} question @param {AbortSignal} signal
 * @returns {AsyncGenerator<StreamChunk & {remaining?: number}>}
 */
export async function* askStream(server, question, signal) {
  const response = await send(`${server}/api/ask/stream`, question, signal);
  if (!response.ok) throw await refusal(response);
  const remaining = Number(response.headers.get("X-RateLimit-Remaining") ?? NaN);
  for await (const data of events(response, signal)) {
    const event = JSON.parse(data);
    if (event.error) throw new NoAnswer("failed", event.error);
    yield event.done ? { ...event, remaining } : event;
    if (event.done) return;
  }
  throw new NoAnswer("dropped", "The connection was lost before the answer was complete.");
}

async function send(url, question, signal) {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(question),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new NoAnswer("offline", navigator.onLine ? "The server cannot be reached." : "You are offline.");
  }
}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  const wait = Number(response.headers.get("Retry-After")) || null;
  const detail = problem.errors?.map((each) => each.message).join(" ") || problem.detail || "The server could not answer.";
  if (response.status === 429) return new NoAnswer("limit", detail, wait ?? 60);
  if (response.status >= 500) return new NoAnswer("busy", detail, wait);
  return new NoAnswer("invalid", detail);
}

/** The `data` of each event. Comments (heartbeats) and other fields are skipped. */
async function* events(response, signal) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r?\n/);
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        else if (line === "" && data.length) {
          yield data.join("\n");
          data = [];
        }
      }
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof TypeError)) throw error;
    return; // the connection broke; the caller says so
  } finally {
    reader.cancel().catch(() => {}); // tells the server that nobody listens any more
  }
}
