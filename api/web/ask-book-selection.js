// "Ask about this": a button beside selected text.
import { icon } from "./icons.js";
import { element } from "./markdown.js";

const SHORTEST = 3;

export class SelectionButton {
  /** @param {string} where selector of the text that may be asked about @param {(text: string) => void} ask */
  constructor(where, ask) {
    this.where = where;
    this.text = "";
    this.button = element("button", { type: "button", class: "pick", hidden: true }, icon("ask"), "Ask about this");
    this.button.addEventListener("pointerdown", (event) => event.preventDefault()); // or the selection is gone
    this.button.addEventListener("click", () => {
      const { text } = this;
      this.hide();
      ask(text);
    });
    this.look = () => this.follow();
    this.settle = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.look, 150); // while a selection is being drawn, nothing flickers
    };
  }

  watch() {
    if (!this.where) return;
    document.addEventListener("selectionchange", this.settle);
    window.addEventListener("scroll", this.settle, { passive: true });
    window.addEventListener("resize", this.settle);
  }

  stop() {
    clearTimeout(this.timer);
    document.removeEventListener("selectionchange", this.settle);
    window.removeEventListener("scroll", this.settle);
    window.removeEventListener("resize", this.settle);
  }

  hide() {
    this.button.hidden = true;
  }

  follow() {
    const selection = document.getSelection();
    const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
    const holder = range?.commonAncestorContainer;
    const inside = holder && (holder instanceof Element ? holder : holder.parentElement)?.closest(this.where);
    this.text = inside && !selection.isCollapsed ? selection.toString().trim() : "";
    this.button.hidden = this.text.length < SHORTEST;
    if (this.button.hidden) return;
    const box = range.getBoundingClientRect();
    const top = box.top > 56 ? box.top - 44 : Math.min(box.bottom + 8, innerHeight - 48);
    this.button.style.top = `${Math.max(8, top)}px`;
    this.button.style.left = `${Math.min(Math.max(8, box.left), innerWidth - 180)}px`;
  }
}
