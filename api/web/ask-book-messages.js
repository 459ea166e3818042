// Questions and answers as readers see them: text, citation chips and cards, confidence, actions.
import { icon } from "./icons.js";
import { element, renderMarkdown } from "./markdown.js";

/** @import { Message } from "./conversation.js" */
/** @import { Citation } from "./answer-stream.js" */
/** @typedef {Citation & {quotes: string[]}} Cited */

const MOST_QUOTES = 6; // in an address
const LONGEST_QUOTE = 300;
const LEVELS = [
  [0.8, "high", "High confidence"],
  [0.6, "fair", "Fair confidence"],
  [0, "low", "Low confidence: read the cited passages"],
];

/** How sure the book is of an answer, in words. */
export function confidenceInWords(confidence) {
  const [, level, words] = LEVELS.find(([from]) => confidence >= from);
  return { level, words };
}

/** Whether the book had no answer. */
export const isRefusal = (message) => !message.isStreaming && !message.stopped && !message.citations?.length && (message.confidence ?? 0) === 0;

/** What a screen reader is told of a finished answer. */
export function wordsOf(message) {
  const text = message.content.replace(/\s*\[[\d, ]+\]/g, "");
  if (isRefusal(message)) return `No answer: ${text}`;
  return `Answer: ${text} ${confidenceInWords(message.confidence ?? 0).words}. ${message.citations.length} cited passages.`;
}

/** @param {Message} message */
export function questionView(message) {
  const quote = message.selected_text ? element("blockquote", { dir: "auto" }, message.selected_text) : null;
  return element("li", { class: "question" }, element("span", { class: "unseen" }, "You asked:"), quote, element("p", { dir: "auto" }, message.content));
}

/** One answer; `update` follows it while it is being written. */
export class AnswerView {
  /**
   * @param {Message} message
   * @param {{placeOf: (cited: Cited) => string | null, open: (cited: Cited) => boolean,
   *          retry: (() => void) | null, say: (text: string) => void}} page
   */
  constructor(message, page) {
    this.message = message;
    this.page = page;
    this.body = element("div", { class: "text" });
    this.item = element("li", { class: "answer" });
    this.card = null;
    this.update();
  }

  update() {
    const { message } = this;
    const { content } = renderMarkdown(message.content, { citation: (number) => this.chip(number), idPrefix: `${message.id}-` });
    this.body.replaceChildren(content);
    for (const block of this.body.querySelectorAll("p, li, td")) foldChips(block);
    this.item.classList.toggle("refused", isRefusal(message));
    const parts = [element("span", { class: "unseen" }, "The book answers:"), this.body];
    if (isRefusal(message)) parts.splice(1, 0, icon("missing"));
    if (message.isStreaming) parts.push(element("span", { class: "writing", "aria-hidden": "true" }, element("i"), element("i"), element("i")));
    else parts.push(...this.foot());
    this.item.replaceChildren(...parts);
  }

  foot() {
    const { message } = this;
    const citations = message.citations ?? [];
    const parts = [];
    if (message.stopped) parts.push(element("p", { class: "confidence" }, "Not complete"));
    else if (citations.length) {
      const { level, words } = confidenceInWords(message.confidence ?? 0);
      parts.push(element("p", { class: `confidence ${level}` }, words));
    }
    if (citations.length) parts.push(element("ol", { class: "sources", "aria-label": "Cited passages" }, ...citations.map((citation, n) => element("li", {}, this.source(citation, n + 1)))));
    const copy = action("copy", "Copy", () => this.copy(copy));
    parts.push(element("div", { class: "actions" }, copy, this.page.retry ? action("retry", "Ask again", this.page.retry) : null));
    return parts;
  }

  /** The chip for [1]. While the answer is being written its citations are not known yet. */
  chip(number) {
    const citation = this.message.citations?.[number - 1];
    if (!citation) return this.message.isStreaming ? element("sup", { class: "chip" }, String(number)) : null;
    const chip = element("button", { type: "button", class: "chip", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-label": `Source ${number}: ${nameOf(citation)}` }, String(number));
    chip.addEventListener("click", () => this.toggle(chip, citation, number));
    return chip;
  }

  source(citation, number) {
    const made = element("button", { type: "button", class: "source", "aria-haspopup": "dialog", "aria-expanded": "false" }, element("b", { "aria-hidden": "true" }, String(number)), element("span", { dir: "auto" }, nameOf(citation)));
    made.addEventListener("click", () => this.toggle(made, citation, number));
    return made;
  }

  toggle(chip, citation, number) {
    const wasOpen = chip.getAttribute("aria-expanded") === "true";
    this.closeCard();
    if (!wasOpen) this.openCard(chip, citation, number);
  }

  openCard(chip, citation, number) {
    const cited = { ...citation, quotes: quotesOf(this.message, number) };
    const href = this.page.placeOf(cited);
    const jump = href ? element("a", { class: "jump", href }, icon("open"), "Open in the book") : null;
    jump?.addEventListener("click", (event) => {
      if (!this.page.open(cited)) event.preventDefault();
    });
    const close = action("close", "Close", () => this.closeCard());
    const where = element("p", { class: "where", dir: "auto" }, element("strong", {}, citation.chapter_title), ...(citation.section && citation.section !== citation.chapter_title ? [` › ${citation.section}`] : []));
    this.card = element("div", { class: "card", role: "dialog", "aria-label": `Source ${number}` }, close, where, element("blockquote", { dir: "auto" }, citation.excerpt), jump);
    this.card.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.closeCard();
    });
    chip.setAttribute("aria-expanded", "true");
    this.opener = chip;
    const around = chip.closest("p, li, .table, blockquote") ?? chip;
    if (around.matches("li")) around.append(this.card); // between list items nothing may stand
    else around.after(this.card);
    (jump ?? close).focus();
    this.card.scrollIntoView({ block: "nearest" });
  }

  closeCard() {
    if (!this.card) return;
    this.card.remove();
    this.card = null;
    this.opener.setAttribute("aria-expanded", "false");
    this.opener.focus();
  }

  async copy(control) {
    const sources = (this.message.citations ?? []).map((citation, n) => `[${n + 1}] ${nameOf(citation)} (${citation.source_file})`);
    try {
      await navigator.clipboard.writeText([this.message.content, ...sources].join("\n"));
      control.replaceChildren(icon("done"), "Copied");
      this.page.say("Copied.");
    } catch {
      this.page.say("The browser does not allow copying here.");
    }
  }
}

/** Sentences in a row that rest on the same passage share one chip, at the end of the last. */
function foldChips(block) {
  const chips = [...block.querySelectorAll(".chip")].filter((chip) => chip.closest("p, li, td") === block);
  chips.forEach((chip, n) => {
    if (chip.textContent !== chips[n + 1]?.textContent) return;
    const before = chip.previousSibling;
    if (before instanceof Text) before.data = before.data.trimEnd();
    chip.remove();
  });
}

/** The sentences of an answer that rest on passage `number`, and the excerpt: what to look for in the book. */
function quotesOf(message, number) {
  const sentences = [...message.content.matchAll(/([^[\]]+?)\s*((?:\[[\d,\s]+\]\s*)+)/g)].filter((found) => found[2].match(/\d+/g).map(Number).includes(number)).map((found) => found[1].trim());
  const excerpt = message.citations[number - 1].excerpt;
  return [...new Set([excerpt, ...sentences])].filter(Boolean).slice(0, MOST_QUOTES).map((quote) => quote.slice(0, LONGEST_QUOTE));
}

const nameOf = (citation) => [...new Set([citation.chapter_title, citation.section])].filter(Boolean).join(" › ");

function action(picture, name, act) {
  const made = element("button", { type: "button", class: "action", "aria-label": name }, icon(picture), name);
  made.addEventListener("click", act);
  return made;
}
