// The conversation of one browser tab: its state, its rules, and its copy in sessionStorage.

/** @import { Citation } from "./answer-stream.js" */
/**
 * @typedef {{id: string, role: "user" | "assistant", content: string, timestamp: string,
 *   mode?: "rag" | "selected_text", selected_text?: string, citations?: Citation[], confidence?: number,
 *   stopped?: boolean, isStreaming?: boolean}} Message
 */

export const SESSION_KEY = "chatbot_session";
export const MAX_MESSAGES = 50;
const LONGEST_PART = 1500; // characters of each: what matters for a follow-up stands at the start
const HISTORY = 10; // messages sent along: the last five pairs
const CONTEXT_MS = 30 * 60 * 1000; // a conversation's context lapses after 30 minutes of silence

/** Messages in the order of their time; at most one of them is streaming. */
export class Conversation {
  constructor(storage) {
    this.storage = storage;
    this.begin(load(storage));
  }

  begin(stored) {
    this.sessionId = stored?.session_id ?? newId();
    this.createdAt = stored?.created_at ?? new Date().toISOString();
    /** @type {Message[]} */
    this.messages = stored?.messages ?? [];
    /** @type {string | null} */
    this.streamingMessageId = null;
    /** @type {{kind: string, message: string} | null} */
    this.error = null;
  }

  get isLoading() {
    return this.streamingMessageId !== null;
  }

  /** The message being written, or null. */
  get streaming() {
    return this.messages.find((message) => message.id === this.streamingMessageId) ?? null;
  }

  /** The question that has no answer yet, or null: it may be asked again. */
  get unanswered() {
    const last = this.messages.at(-1);
    return last?.role === "user" ? last : null;
  }

  /** Put a question. @returns {Message} */
  ask(content, selectedText) {
    if (this.isLoading) throw new Error("one answer at a time");
    /** @type {Message["mode"]} */
    const mode = selectedText ? "selected_text" : "rag";
    const question = { ...message("user", content), mode, ...(selectedText ? { selected_text: selectedText } : {}) };
    this.messages.push(question);
    this.save();
    return question;
  }

  /** Start the answer to the last question. @returns {Message} */
  startAnswer() {
    if (this.isLoading) throw new Error("one answer at a time");
    this.error = null;
    const answer = { ...message("assistant", ""), mode: this.unanswered?.mode ?? "rag", isStreaming: true };
    this.messages.push(answer);
    this.streamingMessageId = answer.id;
    return answer;
  }

  /**
   * End the answer: whole, or stopped by the reader. An answer without a word is not kept.
   * @param {{citations?: Citation[], confidence?: number, stopped?: boolean}} [end]
   */
  endAnswer({ citations = [], confidence, stopped = false } = {}) {
    const answer = this.streaming;
    this.streamingMessageId = null;
    if (!answer) return null;
    delete answer.isStreaming;
    if (!answer.content.trim()) {
      this.messages.splice(this.messages.indexOf(answer), 1);
      return null;
    }
    Object.assign(answer, { citations }, confidence === undefined ? {} : { confidence }, stopped ? { stopped } : {});
    this.save();
    return answer;
  }

  /** Take the last answer back, so that its question can be asked again. @returns {Message | null} */
  takeBack() {
    if (this.isLoading) return null;
    if (this.messages.at(-1)?.role === "assistant") this.messages.pop();
    this.save();
    return this.unanswered;
  }

  /** What came before the last question, as the server takes it. */
  history(now = Date.now()) {
    const earlier = this.messages.slice(0, -1).filter((each) => each.content && !each.isStreaming);
    const last = earlier.at(-1);
    if (!last || now - Date.parse(last.timestamp) > CONTEXT_MS) return [];
    return earlier.slice(-HISTORY).map(({ role, content }) => ({ role, content: content.slice(0, LONGEST_PART) }));
  }

  clear() {
    this.begin(null);
    forget(this.storage);
  }

  save() {
    this.messages.splice(0, this.messages.length - MAX_MESSAGES);
    const messages = this.messages.filter((each) => !each.isStreaming);
    const session = { session_id: this.sessionId, messages, created_at: this.createdAt };
    try {
      this.storage?.setItem(SESSION_KEY, JSON.stringify(session));
    } catch {
      forget(this.storage); // full or forbidden: the conversation goes on in memory
    }
  }
}

/** A version 4 UUID; `crypto.randomUUID` is missing on pages served without TLS. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** @param {Message["role"]} role @param {string} content @returns {Message} */
function message(role, content) {
  return { id: newId(), role, content, timestamp: new Date().toISOString() };
}

function forget(storage) {
  try {
    storage?.removeItem(SESSION_KEY);
  } catch {
    // a browser that forbids storage has nothing to forget
  }
}

/** The stored conversation; what is not exactly one is discarded. */
function load(storage) {
  try {
    const text = storage?.getItem(SESSION_KEY);
    if (!text) return null;
    const session = JSON.parse(text);
    if (isSession(session)) return session;
  } catch {
    // not JSON, or no storage
  }
  forget(storage);
  return null;
}

const isText = (value) => typeof value === "string";
const isTime = (value) => isText(value) && !Number.isNaN(Date.parse(value));
const isMaybe = (check) => (value) => value === undefined || value === null || check(value);
const isOffset = (value) => Number.isInteger(value) && value >= 0;
const isIn = (...values) => (value) => values.includes(value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const fits = (shape) => (value) => isObject(value) && Object.entries(shape).every(([name, check]) => check(value[name]));

const isCitation = fits({
  chapter_title: isText,
  source_file: isText,
  excerpt: isText,
  section: isMaybe(isText),
  anchor: isMaybe(isText),
  start_char_offset: isMaybe(isOffset),
  end_char_offset: isMaybe(isOffset),
});
const isMessage = fits({
  role: isIn("user", "assistant"),
  content: isText,
  timestamp: isTime,
  id: isMaybe(isText),
  mode: isMaybe(isIn("rag", "selected_text")),
  selected_text: isMaybe(isText),
  confidence: isMaybe((value) => typeof value === "number" && value >= 0 && value <= 1),
  citations: isMaybe((value) => Array.isArray(value) && value.every(isCitation)),
});

function isSession(session) {
  const isWhole = fits({ session_id: isText, created_at: isTime, messages: Array.isArray })(session);
  if (!isWhole || session.messages.length > MAX_MESSAGES || !session.messages.every(isMessage)) return false;
  for (const each of session.messages) each.id ??= newId(); // seed 000 stores none
  return session.messages.every((each, n, all) => n === 0 || Date.parse(all[n - 1].timestamp) <= Date.parse(each.timestamp));
}
