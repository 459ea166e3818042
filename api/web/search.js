// Search results with filters; found words are marked.
import { addressOf } from "./library.js";
import { element, renderMarkdown } from "./markdown.js";
import { postJson } from "./server.js";

/** @import { components } from "./types.d.ts" */
/** @import { Book } from "./library.js" */
/** @typedef {components["schemas"]["SearchResult"]} Hit */

const LEVELS = ["A1", "A2", "B1", "B2", "C1", "C2"];
const COMMON = new Set("a an and are as at be by can do does for from how in is it of on or that the this to was what when where which who why with you".split(" "));
const SNIPPET = 320; // characters

/** @param {URLSearchParams} parameters @param {Book} book @param {AbortSignal} signal */
export async function searchView(parameters, book, signal) {
  const words = parameters.get("q")?.trim() ?? "";
  const view = element("section", { class: "found" }, element("h1", { tabindex: "-1", dir: "auto" }, words ? `Search: ${words}` : "Search"), filters(parameters, book));
  if (words.length < 3) view.append(element("p", {}, "Please search with at least three characters."));
  else view.append(...results(await ask(words, parameters, book, signal), words, book));
  return view;
}

function ask(words, parameters, book, signal) {
  const level = parameters.get("level");
  const query = {
    text: words.slice(0, 1000),
    book_id: book.book_id,
    hardware_tier_filter: Number(parameters.get("tier")) || 4,
    module_filter: parameters.get("module") || null,
    proficiency_levels: LEVELS.includes(level) ? [level] : null,
    limit: 20,
  };
  return postJson("/api/search", query, { signal });
}

function filters(parameters, book) {
  const form = element("form", { class: "filters", "aria-label": "Filters" },
    choice("module", "Module", [["", "All modules"], ...book.modules.filter((each) => each.module).map((each) => [each.module, each.title])], parameters),
    choice("tier", "Hardware", [["", "Any tier"], ["1", "Tier 1"], ["2", "Tier 2 or lower"], ["3", "Tier 3 or lower"], ["4", "Tier 4 or lower"]], parameters),
    choice("level", "Level", [["", "Any level"], ...LEVELS.map((each) => [each, each])], parameters),
  );
  form.addEventListener("change", () => {
    const next = new URLSearchParams(parameters);
    for (const [name, value] of new FormData(form)) {
      if (value) next.set(name, String(value));
      else next.delete(name);
    }
    location.hash = `#/search?${next}`;
  });
  return form;
}

function choice(name, label, options, parameters) {
  const select = element("select", { name }, ...options.map(([value, words]) => element("option", { value, selected: value === (parameters.get(name) ?? "") }, words)));
  return element("label", {}, label, select);
}

function results(found, words, book) {
  const hits = found.results;
  if (!hits.length) return [element("p", { role: "status" }, "Nothing fits. Try other words, or fewer filters.")];
  return [element("p", { class: "unseen", role: "status" }, `${hits.length} passages found`), element("ol", { class: "hits" }, ...hits.map((hit) => hitView(hit, words, book)))];
}

/** @param {Hit} hit */
function hitView(hit, words, book) {
  const href = addressOf({ book: book.book_id, file: hit.source_file, start: hit.start_char_offset, end: hit.end_char_offset });
  const title = [hit.chapter_title, hit.section_title].filter((each, n, all) => each && all.indexOf(each) === n).join(" › ");
  const facts = [hit.module, `Tier ${hit.hardware_tier}`, hit.proficiency_level].filter(Boolean).join(" · ");
  return element("li", {}, element("a", { href, dir: "auto" }, ...marked(title, words)), element("p", { dir: "auto" }, ...marked(snippet(hit.text, words), words)), element("p", { class: "facts" }, facts));
}

function wordPattern(words) {
  const wanted = (words.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => word.length > 1 && !COMMON.has(word));
  if (!wanted.length) return null;
  const stems = wanted.map((word) => (word.length > 5 ? word.replace(/(?:ing|ies|es|s|ed)$/, "") : word));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${[...new Set(stems)].join("|")})[\\p{L}\\p{N}]*`, "giu");
}

/** The text with found words in <mark>. */
export function marked(text, words) {
  const pattern = wordPattern(words);
  if (!pattern) return [text];
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    parts.push(text.slice(at, found.index), element("mark", {}, found[0]));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}

/** The part of a passage around the first found word, without markup. */
function snippet(markdown, words) {
  const box = element("div", {}, renderMarkdown(markdown).content);
  for (const heading of box.querySelectorAll(":scope > :is(h1, h2, h3, h4, h5, h6), figcaption")) heading.remove(); // the title says it
  for (const block of box.querySelectorAll("p, li, td, th, h1, h2, h3, h4, h5, h6, pre, summary")) block.append(" ");
  const text = box.textContent.replace(/\s+/g, " ").trim();
  const first = Math.max(0, text.search(wordPattern(words) ?? /^/) - 60);
  const start = first ? text.indexOf(" ", first) + 1 : 0;
  if (text.length <= start + SNIPPET) return `${start ? "… " : ""}${text.slice(start)}`;
  return `${start ? "… " : ""}${text.slice(start, text.lastIndexOf(" ", start + SNIPPET))} …`;
}
