// Markdown to DOM nodes. Text only ever becomes text nodes: nothing of the source is parsed as HTML
// by the browser, so no script can come out of a book, an answer or stored data.
import { colorCode } from "./code-colors.js";
import { parseBlocks } from "./markdown-blocks.js";
import { parseInline, plainText } from "./markdown-inline.js";
import { mathNode } from "./math.js";

/** @typedef {{node: Text | Element, start: number, end: number}} Placed A node and its place in the source (UTF-16). */
/** @typedef {{level: number, id: string, title: string}} Heading */

const TITLES = { note: "Note", tip: "Tip", info: "Info", important: "Important", warning: "Warning", caution: "Caution", danger: "Danger" };

/** Make an element. Attributes with null are left out; children are nodes or text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/**
 * Render Markdown.
 * @param {string} source
 * @param {{mdx?: boolean, citation?: (number: number) => Node | null, link?: (href: string) => string | null,
 *          image?: (src: string) => string | null, idPrefix?: string}} [options]
 *   `citation` makes the node for [1]; `link` and `image` turn an address into one that may be opened, or null.
 * @returns {{content: DocumentFragment, placed: Placed[], headings: Heading[]}}
 */
export function renderMarkdown(source, options = {}) {
  const { blocks, page } = parseBlocks(source, { mdx: options.mdx, citations: Boolean(options.citation) });
  const rendering = new Rendering(page, options);
  const content = document.createDocumentFragment();
  content.append(...rendering.blocks(blocks));
  const notes = rendering.noteList();
  if (notes) content.append(notes);
  return { content, placed: rendering.placed, headings: rendering.headings };
}

class Rendering {
  constructor(page, options) {
    this.page = page;
    this.options = options;
    this.placed = [];
    this.headings = [];
    this.slugs = new Map();
    this.noted = [];
  }

  blocks(blocks) {
    return blocks.map((block) => this[block.type](block));
  }

  paragraph({ body }) {
    return element("p", { dir: "auto" }, ...this.inline(body));
  }

  label({ text }) {
    return element("p", { class: "label", dir: "auto" }, text);
  }

  heading({ level, id, body }) {
    const nodes = parseInline(body, this.page);
    const title = plainText(nodes, body.text).trim();
    const anchor = id ?? this.slug(title);
    this.headings.push({ level, id: anchor, title });
    return element(`h${level}`, { id: `${this.options.idPrefix ?? ""}${anchor}`, dir: "auto", tabindex: "-1" }, ...this.nodes(nodes, body));
  }

  /** The anchor Docusaurus gives a heading: github-slugger's rules. */
  slug(title) {
    const base = title.toLowerCase().replace(/[^\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
    let anchor = base;
    while (this.slugs.has(anchor)) {
      this.slugs.set(base, this.slugs.get(base) + 1);
      anchor = `${base}-${this.slugs.get(base)}`;
    }
    this.slugs.set(anchor, 0);
    return anchor;
  }

  rule() {
    return element("hr");
  }

  code({ language, title, body }) {
    const code = element("code", { class: language ? `language-${language}` : null });
    for (const [kind, from, to] of colorCode(body.text, language)) {
      const target = kind ? code.appendChild(element("span", { class: `code-${kind}` })) : code;
      target.append(...this.text(body, from, to));
    }
    const name = title ?? language;
    const pre = element("pre", { tabindex: "0", dir: "ltr", role: "region", "aria-label": name ? `Code, ${name}` : "Code" }, code);
    return element("figure", { class: "code" }, name ? element("figcaption", {}, name) : null, pre);
  }

  math({ text, start, end }) {
    return this.place(element("div", { class: "math" }, mathNode(text, true)), start, end);
  }

  admonition({ kind, title, children }) {
    const name = title ? this.inline(title) : [TITLES[kind] ?? kind];
    const known = kind in TITLES ? kind : "note";
    return element("aside", { class: `admonition ${known}`, role: "note" }, element("p", { class: "admonition-title", dir: "auto" }, ...name), ...this.blocks(children));
  }

  quote({ children }) {
    return element("blockquote", { dir: "auto" }, ...this.blocks(children));
  }

  list({ isOrdered, start, isLoose, items }) {
    const made = element(isOrdered ? "ol" : "ul", { start: isOrdered && start !== 1 ? start : null });
    for (const { children, task } of items) {
      const box = task === null ? null : element("input", { type: "checkbox", disabled: true, checked: task, "aria-label": task ? "done" : "open" });
      const content = children.flatMap((block) => (block.type === "paragraph" && !isLoose ? this.inline(block.body) : this[block.type](block)));
      made.append(element("li", { dir: "auto", class: box ? "task" : null }, box, ...content));
    }
    return made;
  }

  details({ summary, children }) {
    const name = summary ? this.inline(summary) : ["Details"];
    return element("details", {}, element("summary", { dir: "auto" }, ...name), ...this.blocks(children));
  }

  table({ aligns, head, rows }) {
    const row = (cells, name) => element("tr", {}, ...cells.map((cell, n) => element(name, { class: aligns[n] ?? null, dir: "auto", scope: name === "th" ? "col" : null }, ...this.inline(cell))));
    const hasHead = head.some((cell) => cell.text.trim());
    const made = element("table", {}, hasHead ? element("thead", {}, row(head, "th")) : null, element("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
    return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, made);
  }

  inline(stretch) {
    return this.nodes(parseInline(stretch, this.page), stretch);
  }

  nodes(nodes, stretch) {
    return nodes.flatMap((node) => this.node(node, stretch));
  }

  node(node, stretch) {
    const children = () => this.nodes(node.children, stretch);
    switch (node.type) {
      case "text":
        return node.text === undefined ? this.text(stretch, node.from, node.to) : this.whole(document.createTextNode(node.text), node, stretch);
      case "break":
        return element("br");
      case "code":
        return element("code", { dir: "ltr" }, ...this.text(stretch, ...node.inner));
      case "html-code":
        return element("code", { dir: "ltr" }, ...children());
      case "math":
        return this.whole(element("span", { class: "math", dir: "ltr" }, mathNode(node.text, false)), node, stretch);
      case "link":
        return this.link(node, children());
      case "image":
        return this.image(node, stretch);
      case "note":
        return this.noteMark(node.name);
      case "citation":
        return this.citations(node, stretch);
      default:
        return element(node.type, {}, ...children());
    }
  }

  link(node, children) {
    const href = (this.options.link ?? outsideLink)(node.href);
    if (!href) return children;
    const isOutside = /^https?:/i.test(href) && new URL(href).origin !== location.origin;
    return element("a", { href, title: node.title, target: isOutside ? "_blank" : null, rel: isOutside ? "noopener noreferrer" : null }, ...children);
  }

  image(node, stretch) {
    const src = this.options.image?.(node.src) ?? null;
    const alternative = this.whole(element("span", { class: "image", dir: "auto" }, node.alt || "Image"), node, stretch);
    if (!src) return node.alt ? alternative : [];
    const shown = element("img", { src, alt: node.alt, loading: "lazy" });
    shown.addEventListener("error", () => shown.replaceWith(alternative));
    return shown;
  }

  citations(node, stretch) {
    const made = node.numbers.map((number) => this.options.citation(number));
    return made.every(Boolean) ? made : this.text(stretch, node.from, node.to);
  }

  noteMark(name) {
    if (!this.noted.includes(name)) this.noted.push(name);
    const number = this.noted.indexOf(name) + 1;
    const prefix = this.options.idPrefix ?? "";
    const mark = element("a", { href: `#${prefix}note-${number}`, class: "note-mark", role: "doc-noteref" }, String(number));
    mark.addEventListener("click", (event) => {
      event.preventDefault(); // the address of the page names the lesson, not a place in it
      const note = mark.getRootNode().getElementById(`${prefix}note-${number}`);
      note?.scrollIntoView({ block: "center" });
      note?.focus({ preventScroll: true });
    });
    return element("sup", {}, mark);
  }

  noteList() {
    const list = element("ol");
    for (let n = 0; n < this.noted.length; n += 1) {
      const blocks = this.page.notes.get(this.noted[n]) ?? [];
      list.append(element("li", { id: `${this.options.idPrefix ?? ""}note-${n + 1}`, dir: "auto", tabindex: "-1" }, ...this.blocks(blocks)));
    }
    return this.noted.length ? element("section", { class: "notes", role: "doc-endnotes", "aria-label": "Notes" }, list) : null;
  }

  text(stretch, from, to) {
    return [...stretch.runs(from, to)].map((run) => this.place(document.createTextNode(run.text), run.start, run.end));
  }

  whole(made, node, stretch) {
    return this.place(made, stretch.place(node.from), stretch.place(node.to - 1) + 1);
  }

  place(node, start, end) {
    this.placed.push({ node, start, end });
    return node;
  }
}

/** Only addresses of the web and of mail may be opened from text nobody checked. */
export function outsideLink(href) {
  return /^(?:https?:\/\/|mailto:)[^\s]+$/i.test(href) ? href : null;
}
