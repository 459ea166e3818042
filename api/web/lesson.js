// One lesson: rendered from its source; a cited span is found again and marked.
import { addressOf, linkedFile } from "./library.js";
import { element, outsideLink, renderMarkdown } from "./markdown.js";
import { utf16Offset } from "./source-text.js";

/** @import { components } from "./types.d.ts" */
/** @import { Library, Place } from "./library.js" */
/** @import { Placed } from "./markdown.js" */
/** @typedef {components["schemas"]["LessonSource"]} LessonSource */

/**
 * Render a lesson.
 * @param {LessonSource} source @param {Place} place @param {Library} library
 * @returns {{article: HTMLElement, headings: import("./markdown.js").Heading[], placed: Placed[]}}
 */
export function renderLesson(source, place, library) {
  const link = (href) => inBook(href, source, library) ?? outsideLink(href);
  const image = (src) => (/^\/(?![/\\])/.test(src) ? src : null); // this host's own; all others stay words
  const isMdx = source.source_file.toLowerCase().endsWith(".mdx");
  const { content, placed, headings } = renderMarkdown(source.text, { mdx: isMdx, link, image });
  const hasTitle = headings.some((heading) => heading.level === 1);
  const article = element("article", { class: "lesson" });
  if (place.trail.length) article.append(element("p", { class: "trail", dir: "auto" }, place.trail.join(" › ")));
  if (!hasTitle) article.append(element("h1", { tabindex: "-1", dir: "auto" }, source.title));
  article.append(content, turning(source));
  return { article, headings, placed };
}

function inBook(href, source, library) {
  const target = linkedFile(source.source_file, href);
  if (!target) return null;
  const names = [target.file, `${target.file}.md`, `${target.file}.mdx`, `${target.file}/README.md`, `${target.file}/index.md`, `${target.file}/index.mdx`];
  const found = names.map((name) => library.find(source.book_id, name)).find(Boolean);
  return found ? addressOf({ book: source.book_id, file: found.lesson.source_file, at: target.anchor }) : null;
}

function turning(source) {
  const link = (to, name, words) => element("a", { class: name, href: addressOf({ book: source.book_id, file: to.source_file }), rel: name }, element("small", {}, words), to.title);
  const links = [source.previous && link(source.previous, "prev", "Previous"), source.next && link(source.next, "next", "Next")];
  return element("nav", { class: "turn", "aria-label": "Lessons before and after" }, ...links.filter(Boolean));
}

/**
 * Mark [start, end) of the source (code points) and, in it, the quoted words.
 * @param {string} text the source @param {Placed[]} placed
 * @returns {HTMLElement | null} the first mark
 */
export function markSpan(text, placed, { start, end, quote }) {
  const [from, to] = [utf16Offset(text, start), utf16Offset(text, end)];
  const inside = placed.filter((each) => each.start < to && each.end > from).map((each) => clipped(each, from, to));
  const quoted = quotedParts(inside, quote);
  let first = null;
  let firstQuoted = null;
  for (const part of inside) {
    for (const mark of wrap(part, quoted.get(part))) {
      first ??= mark;
      if (mark.className === "quoted") firstQuoted ??= mark;
    }
  }
  return firstQuoted ?? first;
}

/** The part of a placed node that lies in the range; nodes whose text is not their source count whole. */
function clipped({ node, start, end }, from, to) {
  if (!(node instanceof Text)) return { node, from: 0, to: 0 };
  if (node.data.length !== end - start) return { node, from: 0, to: node.data.length };
  return { node, from: Math.max(0, from - start), to: Math.min(node.data.length, to - start) };
}

/** Where the quoted words stand, compared by letters and digits alone: markup and spaces differ. */
function quotedParts(parts, quote) {
  const letters = [];
  for (const part of parts) {
    if (!(part.node instanceof Text)) continue;
    for (let at = part.from; at < part.to; at += 1) {
      if (/[\p{L}\p{N}]/u.test(part.node.data[at])) letters.push({ part, at, char: part.node.data[at].toLowerCase() });
    }
  }
  const wanted = [...(quote ?? "").toLowerCase()].filter((char) => /[\p{L}\p{N}]/u.test(char)).join("");
  const index = wanted ? letters.map((each) => each.char).join("").indexOf(wanted) : -1;
  const found = new Map();
  if (index < 0) return found;
  for (const { part, at } of letters.slice(index, index + wanted.length)) {
    const [from] = found.get(part) ?? [at];
    found.set(part, [from, at + 1]);
  }
  const [last, range] = [...found].at(-1);
  range[1] += last.node.data.slice(range[1], last.to).match(/^[.!?;:,)»”"']*/)[0].length; // its full stop, too
  return found;
}

/** Put marks around a part of a node; the quoted stretch gets one of its own. */
function wrap({ node, from, to }, quoted) {
  if (!(node instanceof Text)) {
    node.classList.add("cited");
    return [node];
  }
  const borders = quoted ? [[from, quoted[0], "cited"], [...quoted, "quoted"], [quoted[1], to, "cited"]] : [[from, to, "cited"]];
  const marks = [];
  for (const [start, end, kind] of borders.reverse()) {
    if (start >= end || !node.data.slice(start, end).trim()) continue;
    const mark = element("mark", { class: kind, tabindex: "-1" });
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    range.surroundContents(mark);
    marks.unshift(mark);
  }
  return marks;
}
