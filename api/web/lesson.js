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
 * Mark [start, end) of the source (code points) and the quoted sentences nearest to it.
 * @param {string} text the source @param {Placed[]} placed
 * @param {{start: number, end: number, quotes: string[]}} cited
 * @returns {HTMLElement | null} the first mark, of a quote if there is one
 */
export function markSpan(text, placed, { start, end, quotes }) {
  const [from, to] = [utf16Offset(text, start), utf16Offset(text, end)];
  const quoted = quotedRanges(placed, quotes, from);
  const marks = placed.flatMap((each) => {
    /** @type {[number, number]} */
    const inSpan = each.start < to && each.end > from ? clipped(each, from, to) : [0, 0];
    return wrap(each.node, inSpan, quoted.get(each) ?? []);
  });
  return marks.find((mark) => mark.classList.contains("quoted")) ?? marks[0] ?? null;
}

/**
 * The part of a node that lies in the span; a node whose text is not its source counts whole.
 * @returns {[number, number]}
 */
function clipped({ node, start, end }, from, to) {
  const length = node instanceof Text ? node.data.length : 1;
  return length === end - start ? [Math.max(0, from - start), Math.min(length, to - start)] : [0, length];
}

const LETTER = /[\p{L}\p{N}]/u;

/** Where the quoted words stand, compared by letters and digits alone: markup and spaces differ. */
function quotedRanges(placed, quotes, near) {
  const letters = [];
  for (const each of placed) {
    if (!(each.node instanceof Text)) continue;
    for (let at = 0; at < each.node.data.length; at += 1) {
      if (LETTER.test(each.node.data[at])) letters.push({ each, at, char: each.node.data[at].toLowerCase() });
    }
  }
  const all = letters.map(({ char }) => char).join("");
  const origin = letters.findIndex(({ each, at }) => each.start + at >= near);
  const found = new Map();
  for (const quote of quotes) {
    const wanted = [...quote.toLowerCase()].filter((char) => LETTER.test(char)).join("");
    const index = nearest(all, wanted, origin);
    if (index >= 0) collect(found, letters.slice(index, index + wanted.length));
  }
  return found;
}

function nearest(text, wanted, origin) {
  if (wanted.length < 3) return -1;
  const [after, before] = [text.indexOf(wanted, origin), text.lastIndexOf(wanted, origin)];
  if (after < 0 || before < 0) return Math.max(after, before);
  return after - origin <= origin - before ? after : before;
}

/** Add a run of letters to the ranges of their nodes, with the full stop behind the last. */
function collect(found, run) {
  const ranges = new Map();
  for (const { each, at } of run) ranges.set(each, [ranges.get(each)?.[0] ?? at, at + 1]);
  const [last, range] = [...ranges].at(-1);
  range[1] += last.node.data.slice(range[1]).match(/^[.!?;:,)»”"']*/)[0].length;
  for (const [each, made] of ranges) found.set(each, [...(found.get(each) ?? []), made]);
}

/** Put marks around parts of a node: quoted ranges, and what else of it is in the span. */
function wrap(node, [from, to], quoted) {
  if (!(node instanceof Text)) {
    if (from < to) node.classList.add("cited");
    return from < to ? [node] : [];
  }
  const joined = [...quoted].sort(([a], [b]) => a - b).map(([start, end]) => [start, end + node.data.slice(end).match(/^\s*/)[0].length]); // no gap between sentences
  const kinds = Array.from({ length: node.data.length }, (_, at) => (joined.some(([start, end]) => at >= start && at < end) ? "quoted" : at >= from && at < to ? "cited" : ""));
  const marks = [];
  for (let end = kinds.length; end > 0; ) {
    let start = end - 1;
    while (start > 0 && kinds[start - 1] === kinds[end - 1]) start -= 1;
    if (kinds[start] && node.data.slice(start, end).trim()) marks.unshift(surround(node, start, end, kinds[start]));
    end = start;
  }
  return marks;
}

function surround(node, start, end, kind) {
  const mark = element("mark", { class: kind, tabindex: "-1" });
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  range.surroundContents(mark);
  return mark;
}
