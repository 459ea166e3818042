// Inline Markdown: emphasis, code, links, math, notes. Every node keeps its place in the source.
import { attribute, closingBrace, readTag } from "./markup-tags.js";

/** @import { Stretch } from "./source-text.js" */
/**
 * @typedef {{type: string, from: number, to: number, text?: string, children?: Node[], [more: string]: any}} Node
 * A node of inline Markdown; `from` and `to` are indices into its stretch.
 */

const PUNCTUATION = /[!-/:-@[-`{-~\p{P}\p{S}]/u;
const SPECIAL = /[\\`$<{!\[*_~&\n]|https?:\/\//g;
const KEPT = new Map(Object.entries({ b: "strong", strong: "strong", i: "em", em: "em", sub: "sub", sup: "sup", kbd: "kbd", code: "html-code", mark: "mark", del: "del", s: "del", u: "u" }));

const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…", mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", times: "×", divide: "÷", plusmn: "±", deg: "°", micro: "µ", middot: "·", bull: "•", sect: "§", para: "¶", larr: "←", rarr: "→", uarr: "↑", darr: "↓", harr: "↔", le: "≤", ge: "≥", ne: "≠", asymp: "≈", infin: "∞", sum: "∑", radic: "√", euro: "€", pound: "£", alpha: "α", beta: "β", gamma: "γ", delta: "δ", theta: "θ", lambda: "λ", mu: "μ", pi: "π", sigma: "σ", phi: "φ", omega: "ω", check: "✓", lbrace: "{", rbrace: "}", lcub: "{", rcub: "}", lbrack: "[", rbrack: "]", ast: "*", lowbar: "_", num: "#", vert: "|", grave: "`", shy: "\u00ad", ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009" }));

/** Parse one stretch of inline Markdown. `page` holds link definitions and what the page allows. */
export function parseInline(stretch, page) {
  return new Inline(stretch, page).parse(0, stretch.text.length);
}

class Inline {
  /** @param {Stretch} stretch */
  constructor(stretch, page) {
    this.s = stretch.text;
    this.page = page;
  }

  /** @returns {Node[]} */
  parse(from, to) {
    const nodes = [];
    let at = from;
    while (at < to) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(this.s);
      const next = found && found.index < to ? found.index : to;
      if (next > at) nodes.push({ type: "text", from: at, to: next });
      if (next === to) break;
      const node = this.at(next, to) ?? { type: "text", from: next, to: next + 1 };
      if (!node.dropped) nodes.push(node);
      at = node.to;
    }
    return emphasize(nodes);
  }

  at(i, to) {
    const char = this.s[i];
    if (char === "\\") return this.escape(i, to);
    if (char === "`") return this.code(i, to);
    if (char === "$") return this.math(i, to);
    if (char === "<") return this.angle(i, to);
    if (char === "{") return this.brace(i, to);
    if (char === "!") return this.s[i + 1] === "[" ? this.image(i, to) : null;
    if (char === "[") return this.bracket(i, to);
    if (char === "&") return this.entity(i, to);
    if (char === "\n") return this.lineEnd(i);
    if (char === "h") return this.bareAddress(i, to);
    return this.delimiters(i, to);
  }

  escape(i, to) {
    const next = this.s[i + 1];
    if (i + 1 >= to) return null;
    if (next === "\n") return { type: "break", from: i, to: i + 2 };
    return /[!-/:-@[-`{-~]/.test(next) ? { type: "text", from: i + 1, to: i + 2 } : null;
  }

  lineEnd(i) {
    return / {2,}$/.test(this.s.slice(Math.max(0, i - 4), i)) ? { type: "break", from: i, to: i + 1 } : null;
  }

  code(i, to) {
    const ticks = this.s.slice(i).match(/^`+/)[0];
    const end = this.closingTicks(i + ticks.length, to, ticks.length);
    if (end < 0) return { type: "text", from: i, to: i + ticks.length };
    let [from, until] = [i + ticks.length, end];
    const inside = this.s.slice(from, until);
    if (/^[ \n].*[ \n]$/s.test(inside) && inside.trim()) [from, until] = [from + 1, until - 1];
    return { type: "code", from, to: end + ticks.length, inner: [from, until] };
  }

  closingTicks(at, to, length) {
    for (const run of this.s.slice(at, to).matchAll(/`+/g)) {
      if (run[0].length === length) return at + run.index;
    }
    return -1;
  }

  math(i, to) {
    const found = this.s.slice(i, to).match(/^\$\$([^$]+)\$\$|^\$(?![\s$])((?:\\.|[^$\\])*?)(?<![\s\\])\$(?!\d)/);
    if (!found) return null;
    return { type: "math", from: i, to: i + found[0].length, text: found[1] ?? found[2] };
  }

  angle(i, to) {
    const rest = this.s.slice(i, to);
    const comment = rest.match(/^<!--[\s\S]*?-->/);
    if (comment) return { dropped: true, to: i + comment[0].length };
    const address = rest.match(/^<((?:https?:|mailto:)[^\s<>]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/i);
    if (address) {
      const href = /^(?:https?|mailto):/i.test(address[1]) ? address[1] : `mailto:${address[1]}`;
      const inner = [{ type: "text", from: i + 1, to: i + 1 + address[1].length }];
      return { type: "link", from: i, to: i + address[0].length, href, children: inner };
    }
    const tag = readTag(this.s, i);
    return tag && tag.end <= to ? this.element(tag, i, to) : null;
  }

  /** A few tags mean something to readers; of all others only what stands between them is kept. */
  element(tag, i, to) {
    const name = tag.name.toLowerCase();
    if (name === "br") return { type: "break", from: i, to: tag.end };
    if (name === "img") {
      const alt = attribute(tag, "alt") ?? "";
      return { type: "image", from: i, to: tag.end, src: attribute(tag, "src") ?? "", alt };
    }
    const type = KEPT.get(tag.name) ?? (tag.name === "a" ? "link" : null);
    const end = tag.closing || tag.empty ? -1 : this.s.indexOf(`</${tag.name}>`, tag.end);
    if (end < 0 || end >= to) return { dropped: true, to: tag.end };
    const after = end + tag.name.length + 3;
    if (name === "script" || name === "style") return { dropped: true, to: after };
    if (!type) return { dropped: true, to: tag.end };
    const children = this.parse(tag.end, end);
    return { type, from: i, to: after, children, href: attribute(tag, "href") ?? "" };
  }

  brace(i, to) {
    if (!this.page.mdx && !this.s.startsWith("{/*", i)) return null;
    const end = closingBrace(this.s, i);
    if (end < 0 || end >= to) return null;
    const literal = this.s.slice(i + 1, end).match(/^\s*(["'`])([^"'`$]*)\1\s*$/);
    if (!literal) return { dropped: true, to: end + 1 };
    return { type: "text", from: i, to: end + 1, text: literal[2] };
  }

  image(i, to) {
    const close = this.closingBracket(i + 1, to);
    const target = close < 0 ? null : this.target(close + 1, this.s.slice(i + 2, close), to);
    if (!target) return null;
    const alt = plainText(this.parse(i + 2, close), this.s);
    return { type: "image", from: i, to: target.to, src: target.href, alt };
  }

  bracket(i, to) {
    const note = this.s.slice(i, to).match(/^\[\^([^\]\s]+)\]/);
    if (note && this.page.notes?.has(note[1])) return { type: "note", from: i, to: i + note[0].length, name: note[1] };
    const mark = this.page.citations && this.s.slice(i, to).match(/^\[(?:Source )?(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/i);
    if (mark) {
      const numbers = mark[1].split(",").map(Number);
      return { type: "citation", from: i, to: i + mark[0].length, numbers };
    }
    const close = this.closingBracket(i, to);
    const target = close < 0 ? null : this.target(close + 1, this.s.slice(i + 1, close), to);
    if (!target) return null;
    return { type: "link", from: i, to: target.to, href: target.href, title: target.title, children: this.parse(i + 1, close) };
  }

  closingBracket(i, to) {
    for (let at = i, depth = 0; at < to; at += 1) {
      const char = this.s[at];
      if (char === "\\") at += 1;
      else if (char === "`") at = this.code(at, to).to - 1;
      else if (char === "[") depth += 1;
      else if (char === "]" && --depth === 0) return at;
    }
    return -1;
  }

  /** What follows the closing bracket: (address "title"), [label], or nothing. */
  target(at, label, to) {
    const rest = this.s.slice(at, to);
    const inline = rest.match(/^\(\s*(?:<([^<>\n]*)>|((?:\\.|\((?:[^()\s\\]|\\.)*\)|[^\s()\\])*))(?:\s+(?:"((?:\\.|[^"])*)"|'((?:\\.|[^'])*)'))?\s*\)/);
    if (inline) {
      const href = (inline[1] ?? inline[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1");
      return { href, title: inline[3] ?? inline[4], to: at + inline[0].length };
    }
    const reference = rest.match(/^\[([^\]]*)\]/);
    const href = this.page.links?.get((reference?.[1] || label).toLowerCase().trim());
    return href === undefined ? null : { href, to: at + (reference?.[0].length ?? 0) };
  }

  entity(i, to) {
    const found = this.s.slice(i, Math.min(to, i + 40)).match(/^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/);
    if (!found) return null;
    const code = found[1] ? parseInt(found[1], 10) : parseInt(found[2] ?? "", 16);
    const text = found[3] ? ENTITIES.get(found[3]) : code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    return text === undefined ? null : { type: "text", from: i, to: i + found[0].length, text };
  }

  bareAddress(i, to) {
    if (/[\w/]/.test(this.s[i - 1] ?? "")) return { type: "text", from: i, to: i + 4 };
    const found = this.s.slice(i, to).match(/^https?:\/\/[^\s<>"'`{}|\\^[\]]*[^\s<>"'`{}|\\^[\].,:;!?)*_~]/);
    if (!found) return { type: "text", from: i, to: i + 4 };
    const end = i + found[0].length;
    return { type: "link", from: i, to: end, href: found[0], children: [{ type: "text", from: i, to: end }] };
  }

  delimiters(i, to) {
    const char = this.s[i];
    let end = i + 1;
    while (end < to && this.s[end] === char) end += 1;
    const before = i > 0 ? charBefore(this.s, i) : " ";
    const after = end < this.s.length ? String.fromCodePoint(this.s.codePointAt(end)) : " ";
    const left = !/\s/u.test(after) && (!PUNCTUATION.test(after) || /\s/u.test(before) || PUNCTUATION.test(before));
    const right = !/\s/u.test(before) && (!PUNCTUATION.test(before) || /\s/u.test(after) || PUNCTUATION.test(after));
    const inWord = char === "_" && left && right;
    const opens = left && (!inWord || PUNCTUATION.test(before));
    const closes = right && (!inWord || PUNCTUATION.test(after));
    return { type: "delimiters", char, from: i, to: end, opens, closes, length: end - i };
  }
}

function charBefore(text, index) {
  const low = text.charCodeAt(index - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(index - 2, index) : text[index - 1];
}

/** CommonMark's rule for emphasis: each closing run looks back for the nearest run that can open. */
function emphasize(nodes) {
  for (let i = 0; i < nodes.length; i += 1) {
    const closer = nodes[i];
    if (closer.type !== "delimiters" || !closer.closes) continue;
    const open = lastOpener(nodes, i);
    if (open < 0) continue;
    const opener = nodes[open];
    const used = closer.char === "~" ? opener.to - opener.from : Math.min(2, opener.to - opener.from, closer.to - closer.from);
    const type = closer.char === "~" ? "del" : used === 2 ? "strong" : "em";
    const children = nodes.slice(open + 1, i).map(asText);
    const made = { type, from: opener.to - used, to: closer.from + used, children };
    opener.to -= used;
    closer.from += used;
    const left = [opener, made, closer].filter((node) => node === made || node.from < node.to);
    nodes.splice(open, i - open + 1, ...left);
    i = open + left.indexOf(made); // a closing run that has more left is looked at again
  }
  return merged(nodes.map(asText));
}

/** Neighbouring pieces of plain text as one. */
function merged(nodes) {
  const made = [];
  for (const node of nodes) {
    const last = made.at(-1);
    const joins = last?.type === "text" && node.type === "text" && last.text === undefined && node.text === undefined && last.to === node.from;
    if (joins) last.to = node.to;
    else made.push(node);
  }
  return made;
}

function lastOpener(nodes, i) {
  const closer = nodes[i];
  for (let at = i - 1; at >= 0; at -= 1) {
    const opener = nodes[at];
    if (opener.type !== "delimiters" || opener.char !== closer.char || !opener.opens) continue;
    const [a, b] = [opener.to - opener.from, closer.to - closer.from];
    if (closer.char === "~") {
      if (a === b && a <= 2) return at;
    } else if (!((opener.closes || closer.opens) && (opener.length + closer.length) % 3 === 0 && !(opener.length % 3 === 0 && closer.length % 3 === 0))) {
      return at;
    }
  }
  return -1;
}

const asText = (node) => (node.type === "delimiters" ? { type: "text", from: node.from, to: node.to } : node);

/** The words of inline nodes without any markup. */
export function plainText(nodes, text) {
  return nodes
    .map((node) => {
      if (node.type === "break") return " ";
      if (node.type === "code") return text.slice(...node.inner);
      if (node.type === "note" || node.type === "citation") return "";
      return node.children ? plainText(node.children, text) : (node.text ?? node.alt ?? text.slice(node.from, node.to));
    })
    .join("");
}
