// The books, their contents, and the addresses of their lessons.
import { fetchJson } from "./server.js";

/** @import { components } from "./types.d.ts" */
/** @typedef {components["schemas"]["BookEntry"]} Book */
/** @typedef {components["schemas"]["LessonEntry"]} Lesson */
/** @typedef {{book: Book, lesson: Lesson, trail: string[]}} Place */

export class Library {
  /** @param {Book[]} books */
  constructor(books) {
    this.books = books;
    /** @type {Place[]} */
    this.places = books.flatMap((book) =>
      book.modules.flatMap((module) =>
        module.chapters.flatMap((chapter) => chapter.lessons.map((lesson) => ({ book, lesson, trail: trailOf(module, chapter, lesson) }))),
      ),
    );
  }

  static async open() {
    return new Library((await fetchJson("/api/books")).books);
  }

  /** The lesson of a file; the book "-" means whichever has it. @returns {Place | undefined} */
  find(bookId, file) {
    return this.places.find(({ book, lesson }) => lesson.source_file === file && (bookId === "-" || book.book_id === bookId));
  }

  /** @returns {Place | undefined} */
  findById(id) {
    return this.places.find(({ lesson }) => lesson.parent_doc_id === id);
  }
}

function trailOf(module, chapter, lesson) {
  return [...new Set([module.title, chapter.title])].filter((title) => title !== lesson.title);
}

/**
 * Address of a place in a lesson.
 * @param {{book: string, file: string, start?: number, end?: number, quotes?: string[], at?: string}} place
 */
export function addressOf({ book, file, quotes = [], ...where }) {
  const path = file.split("/").map(encodeURIComponent).join("/");
  const given = Object.entries(where).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const pairs = [...given, ...quotes.map((quote) => ["quote", quote])];
  const query = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `#/read/${encodeURIComponent(book)}/${path}${query ? `?${query}` : ""}`;
}

/** What the address of the page asks for. */
export function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/").map(decoded);
  const parameters = new URLSearchParams(query);
  const number = (name) => (/^\d{1,9}$/.test(parameters.get(name) ?? "") ? Number(parameters.get(name)) : undefined);
  if (view === "read") return { view, book: rest[0] ?? "-", file: rest.slice(1).join("/"), start: number("start"), end: number("end"), quotes: parameters.getAll("quote"), at: parameters.get("at") ?? "" };
  if (view === "lesson") return { view, id: rest[0] ?? "", start: number("start"), end: number("end"), quotes: parameters.getAll("quote"), at: "" };
  if (view === "search") return { view, parameters };
  return { view: "shelf" };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The file that a relative link in `from` means, and its anchor; null for links to elsewhere. */
export function linkedFile(from, href) {
  const [path, anchor = ""] = href.split("#");
  if (!path) return { file: from, anchor };
  if (/^[a-z][\w+.-]*:|^\/\//i.test(path)) return null;
  const parts = path.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of decoded(path.split("?")[0]).split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return { file: parts.join("/"), anchor };
}
