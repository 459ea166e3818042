/*
 * <ask-book>: asks a book, streams the cited answer, opens the cited place.
 *
 *   <script type="module" src="https://books.example.org/ask-book.js"></script>
 *   <ask-book></ask-book>
 *
 * Attributes, all optional: server (default: where this file comes from), book, name, suggestions ("a | b"),
 * pages ("/docs/{path}#{anchor}": address of a page of the book; default: askbook's own reader),
 * selection (CSS selector of the text that may be selected and asked about; "" for none), open.
 * Events: "ask-book-cite" before a citation is opened; preventDefault() to open it yourself.
 */
import { askStream, NoAnswer } from "./answer-stream.js";
import { styleSheet } from "./ask-book-style.js";
import { AnswerView, questionView, wordsOf } from "./ask-book-messages.js";
import { SelectionButton } from "./ask-book-selection.js";
import { Conversation } from "./conversation.js";
import { icon } from "./icons.js";
import { element } from "./markdown.js";
import { Patience } from "./patience.js";

const HOME = new URL(".", import.meta.url).href.replace(/\/$/, "");
const LONGEST_QUESTION = 1000;
const LONGEST_SELECTION = 5000;
const EXPLAIN = "What does this passage say?";

export class AskBook extends HTMLElement {
  static observedAttributes = ["open", "name"];

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [styleSheet()];
    this.conversation = new Conversation(tabStorage());
    this.selectedText = "";
    this.stopping = null;
    this.build();
  }

  get server() {
    return (this.getAttribute("server") ?? HOME).replace(/\/$/, "");
  }

  get isOpen() {
    return this.hasAttribute("open");
  }

  connectedCallback() {
    this.picker = new SelectionButton(this.getAttribute("selection") ?? "main, article", (text) => this.askAbout(text));
    this.shadowRoot.append(this.picker.button);
    this.picker.watch();
    this.show();
  }

  disconnectedCallback() {
    this.picker.stop();
    this.picker.button.remove();
    this.patience.end();
    this.stopping?.abort();
  }

  attributeChangedCallback(name, before, now) {
    if (name === "name") this.titleText.textContent = now ?? "Ask the book";
    if (name === "open" && (before === null) !== (now === null)) this.showOpen();
  }

  build() {
    this.log = element("ol", { class: "log", "aria-label": "Conversation" });
    this.status = element("p", { class: "unseen", role: "status" });
    this.patience = new Patience(() => this.showState());
    this.launcher = button("launcher", "ask", "Ask the book", () => this.open());
    this.launcher.append(element("span", {}, "Ask the book"));
    this.titleText = element("h2", { id: "title" }, "Ask the book");
    this.badge = element("span", { class: "badge" });
    this.clearButton = button("quiet", "clear", "Clear the conversation", () => this.clear());
    const head = element("header", {}, this.titleText, this.badge, this.clearButton, button("quiet", "close", "Close", () => this.close()));
    this.scroller = element("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Messages" }, this.log);
    this.panel = element("section", { class: "panel", role: "dialog", "aria-labelledby": "title", hidden: true }, head, this.scroller, this.patience.notice, this.composer(), this.status);
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.close();
    });
    this.shadowRoot.append(this.launcher, this.panel);
  }

  composer() {
    this.quote = element("div", { class: "selected", hidden: true });
    this.input = element("textarea", { id: "question", rows: "1", maxlength: LONGEST_QUESTION, placeholder: "Ask a question…", dir: "auto", "aria-describedby": "hint" });
    this.hint = element("p", { id: "hint", class: "hint" });
    this.sendButton = button("send", "send", "Send", null, "submit");
    this.stopButton = button("send", "stop", "Stop answering", () => this.stop());
    const form = element("form", { novalidate: true }, this.quote, element("label", { for: "question", class: "unseen" }, "Your question"), element("div", { class: "line" }, this.input, this.sendButton, this.stopButton), this.hint);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.input.addEventListener("input", () => this.showState());
    return form;
  }

  open() {
    this.picker?.hide();
    if (!this.selectedText && this.picker?.text) this.select(this.picker.text);
    this.setAttribute("open", "");
    this.input.focus();
  }

  close() {
    this.removeAttribute("open");
    this.launcher.focus();
  }

  /** Open with a passage as the only context of the next question. */
  askAbout(text) {
    this.select(text);
    this.open();
  }

  select(text) {
    this.selectedText = text.trim().slice(0, LONGEST_SELECTION);
    this.showState();
  }

  clear() {
    this.stopping?.abort();
    this.conversation.clear();
    this.select("");
    this.patience.end();
    this.show();
    this.say("The conversation is cleared.");
    this.input.focus();
  }

  stop() {
    this.stopping?.abort();
    this.input.focus();
  }

  submit() {
    const text = this.input.value.trim() || (this.selectedText ? EXPLAIN : "");
    if (this.conversation.isLoading || this.patience.forbidsAsking) return;
    if (text.length < 3) {
      this.hint.textContent = "Please ask with at least three characters.";
      this.say(this.hint.textContent);
      return;
    }
    this.conversation.ask(text, this.selectedText);
    this.input.value = "";
    this.selectedText = "";
    this.answer();
  }

  /** Ask the last question again. */
  retry() {
    if (this.conversation.isLoading || this.patience.forbidsAsking || !this.conversation.takeBack()) return;
    this.answer();
    this.input.focus();
  }

  async answer() {
    const question = this.conversation.unanswered;
    const body = { question: question.content, ...this.context(question) };
    const { signal } = (this.stopping = new AbortController());
    const answer = this.conversation.startAnswer();
    this.patience.end();
    this.show();
    this.say("Looking in the book…");
    const view = this.views.get(answer.id);
    try {
      for await (const event of askStream(this.server, body, signal)) {
        if (signal.aborted) break;
        answer.content += event.content;
        if (!event.done) this.keepInView(() => view.update());
        else this.finish({ citations: event.citations ?? [], confidence: event.confidence ?? 0 }, event.remaining);
      }
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
    if (signal.aborted && this.conversation.streamingMessageId === answer.id) {
      this.finish({ stopped: true });
      this.say("Stopped.");
    }
  }

  context(question) {
    const book = this.getAttribute("book");
    const history = this.conversation.history();
    return {
      ...(book ? { book_id: book } : {}),
      ...(question.selected_text ? { selected_text: question.selected_text } : {}),
      ...(history.length ? { conversation_history: history } : {}),
    };
  }

  finish(end, remaining = NaN) {
    const answer = this.conversation.endAnswer(end);
    this.show();
    if (answer && !end.stopped) this.say(wordsOf(answer));
    if (remaining <= 3) this.hint.textContent = remaining === 1 ? "One more question this hour." : `${remaining} more questions this hour.`;
  }

  fail(error) {
    const reason = error instanceof NoAnswer ? error : new NoAnswer("failed", "Something went wrong.");
    if (!(error instanceof NoAnswer)) console.error(error);
    this.conversation.endAnswer({ stopped: true });
    this.conversation.error = { kind: reason.kind, message: reason.message };
    this.show();
    this.patience.begin(reason, `${this.server}/health`);
    this.say(this.patience.notice.textContent);
  }

  /** Bring the page in line with the conversation. */
  show() {
    this.views = new Map();
    const messages = this.conversation.messages.map((message, n, all) => {
      if (message.role === "user") return questionView(message);
      const isLast = n === all.length - 1;
      const view = new AnswerView(message, { placeOf: (citation) => this.placeOf(citation), open: (citation) => this.openPlace(citation), retry: isLast ? () => this.retry() : null, say: (text) => this.say(text) });
      this.views.set(message.id, view);
      return view.item;
    });
    if (this.conversation.unanswered) messages.push(this.unansweredView());
    this.log.replaceChildren(...(messages.length ? messages : this.welcome()));
    this.showState();
    this.showLast();
  }

  /** Scroll to the end, but no further than the last question: answers are read from their start. */
  showLast() {
    if (!this.isOpen) return;
    const question = [...this.log.querySelectorAll(".question")].at(-1);
    const top = question ? question.offsetTop - this.log.offsetTop - 12 : 0;
    this.scroller.scrollTop = Math.min(top, this.scroller.scrollHeight);
  }

  unansweredView() {
    const again = button("action", "retry", "Ask again", () => this.retry());
    again.append("Ask again");
    return element("li", { class: "unanswered" }, again);
  }

  welcome() {
    const suggestions = (this.getAttribute("suggestions") ?? "").split("|").map((each) => each.trim()).filter(Boolean);
    const buttons = suggestions.map((text) => {
      const made = element("button", { type: "button", class: "suggestion", dir: "auto" }, text);
      made.addEventListener("click", () => {
        this.input.value = text;
        this.submit();
        this.input.focus();
      });
      return made;
    });
    const words = "Answers come from this book alone, with the passages they rest on. Select text on the page to ask about just that.";
    return [element("li", { class: "welcome" }, element("p", {}, words), ...buttons)];
  }

  showState() {
    const { isLoading } = this.conversation;
    this.badge.textContent = this.selectedText ? "Selection" : "Whole book";
    this.badge.classList.toggle("is-selection", Boolean(this.selectedText));
    this.quote.hidden = !this.selectedText;
    if (this.selectedText) {
      this.quote.replaceChildren(icon("quote"), element("q", { dir: "auto" }, this.selectedText), button("quiet", "close", "Ask the whole book instead", () => {
        this.select("");
        this.input.focus();
      }));
    }
    this.input.placeholder = this.selectedText ? EXPLAIN : "Ask a question…";
    this.sendButton.hidden = isLoading;
    this.stopButton.hidden = !isLoading;
    this.sendButton.disabled = this.patience.forbidsAsking;
    this.clearButton.hidden = !this.conversation.messages.length;
    const left = LONGEST_QUESTION - this.input.value.length;
    this.hint.textContent = left < 100 ? `${left} characters left` : "";
    for (const again of this.log.querySelectorAll("[aria-label='Ask again']")) again.disabled = this.patience.forbidsAsking;
  }

  showOpen() {
    this.panel.hidden = !this.isOpen;
    this.launcher.hidden = this.isOpen;
    this.showLast();
  }

  /** Change the log; stay at its end if the reader was there. */
  keepInView(change) {
    const box = this.scroller;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
    change();
    if (isAtEnd) box.scrollTop = box.scrollHeight;
  }

  say(text) {
    this.status.textContent = text;
  }

  /** Address of a cited place. */
  placeOf(citation) {
    const pages = this.getAttribute("pages");
    if (pages === null) {
      const book = this.getAttribute("book");
      const range = new URLSearchParams([["start", citation.start_char_offset], ["end", citation.end_char_offset], ...citation.quotes.map((quote) => ["quote", quote])]);
      const path = citation.source_file.split("/").map(encodeURIComponent).join("/");
      return `${this.server}/#/read/${book ? encodeURIComponent(book) : "-"}/${path}?${range}`;
    }
    const address = pages.replaceAll("{file}", citation.source_file).replaceAll("{path}", pagePath(citation.source_file)).replaceAll("{anchor}", citation.anchor ?? "");
    return /^(?:https?:|\/|\.|#)/.test(address) ? address : null;
  }

  openPlace(citation) {
    const isOurs = this.dispatchEvent(new CustomEvent("ask-book-cite", { bubbles: true, composed: true, cancelable: true, detail: citation }));
    if (!isOurs && matchMedia("(max-width: 40rem)").matches) this.removeAttribute("open"); // it would cover the place
    return isOurs;
  }
}

/** The address Docusaurus gives a file: no extension, no number prefixes, no README or index. */
function pagePath(file) {
  const parts = file.replace(/\.mdx?$/, "").split("/").map((part) => part.replace(/^\d+\s*[-_.]+\s*(?=[^\d\s-_.])/, ""));
  if (/^(?:readme|index)$/i.test(parts.at(-1)) || parts.at(-1) === parts.at(-2)) parts.pop();
  return parts.map(encodeURIComponent).join("/");
}

function button(className, picture, name, act, type = "button") {
  const made = element("button", { type, class: className, "aria-label": name, title: className === "launcher" ? null : name }, icon(picture));
  if (act) made.addEventListener("click", act);
  return made;
}

function tabStorage() {
  try {
    return window.sessionStorage;
  } catch {
    return null; // forbidden here; the conversation lives as long as the page
  }
}

customElements.define("ask-book", AskBook);
