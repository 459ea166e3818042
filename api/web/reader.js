// The reader: shelf, contents, lessons and search on one page; the address says which.
import { icon } from "./icons.js";
import { markSpan, renderLesson } from "./lesson.js";
import { addressOf, Library, readAddress } from "./library.js";
import { element } from "./markdown.js";
import { fetchJson } from "./server.js";

/** @import { Book, Place } from "./library.js" */

const $ = (id) => /** @type {any} */ (document.getElementById(id)); // an element of index.html
const [contents, main, outline, menu, ask, searchForm] = ["contents", "content", "outline", "menu", "ask", "search"].map($);

class Reader {
  /** @param {Library} library */
  constructor(library) {
    this.library = library;
    this.book = library.books[0];
    this.going = new AbortController();
  }

  /** Show what the address asks for. */
  async go() {
    this.going.abort(); // the reader has gone on: what was being fetched is not wanted any more
    const { signal } = (this.going = new AbortController());
    const address = readAddress(location.hash);
    closeMenu();
    if (address.view !== "search") searchForm.reset();
    try {
      await this.view(address, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.showPage(element("p", { class: "notice", role: "alert" }, error.message), "Not found");
    }
  }

  view(address, signal) {
    if (!this.book) return this.showPage(emptyShelf(), "No books");
    if (address.view === "read") return this.lesson(this.library.find(address.book, address.file), address, signal);
    if (address.view === "lesson") return this.lesson(this.library.findById(address.id), address, signal);
    if (address.view === "search") return this.search(address.parameters, signal);
    return this.showPage(shelf(this.library.books), this.library.books.length === 1 ? this.book.title : "Books");
  }

  /** @param {Place | undefined} place */
  async lesson(place, address, signal) {
    if (!place) return this.showPage(element("p", { class: "notice", role: "alert" }, "This lesson is not in the book any more."), "Not found");
    this.openBook(place.book);
    const source = await fetchJson(`/api/lessons/${place.lesson.parent_doc_id}/source`, { signal });
    const { article, headings, placed } = renderLesson(source, place, this.library);
    if (source.state === "stale") article.prepend(element("p", { class: "notice" }, "This page has changed since it was indexed. Marked places may be off."));
    this.showPage(article, source.title, place);
    showOutline(headings, article, (at) => addressOf({ book: place.book.book_id, file: source.source_file, at }));
    if (address.end > address.start) reveal(markSpan(source.text, placed, address));
    else if (address.at) reveal(document.getElementById(address.at));
  }

  async search(parameters, signal) {
    const wanted = this.library.books.find((book) => book.book_id === parameters.get("book"));
    if (wanted) this.openBook(wanted);
    searchForm.elements.q.value = parameters.get("q") ?? "";
    const { searchView } = await import("./search.js"); // fetched by the first search
    this.showPage(await searchView(parameters, this.book, signal), "Search");
  }

  /** @param {Book} book */
  openBook(book) {
    this.book = book;
    ask.setAttribute("book", book.book_id);
    $("brand").textContent = book.title;
    if (contents.dataset.book === book.book_id) return;
    contents.dataset.book = book.book_id;
    contents.replaceChildren(...book.modules.map((module) => moduleView(book, module)));
  }

  /** @param {Place} [place] */
  showPage(page, title, place) {
    main.replaceChildren(page);
    outline.hidden = true;
    outline.replaceChildren();
    document.title = `${title} · ${this.book?.title ?? "askbook"}`;
    for (const link of contents.querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    const here = place && contents.querySelector(`[data-lesson="${CSS.escape(place.lesson.parent_doc_id)}"]`);
    if (here) {
      here.setAttribute("aria-current", "page");
      here.closest("details")?.setAttribute("open", "");
      keepVisible(here);
    }
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

function keepVisible(link) {
  const [box, at] = [contents.getBoundingClientRect(), link.getBoundingClientRect()];
  if (at.top < box.top || at.bottom > box.bottom) contents.scrollTop += at.top - box.top - box.height / 3;
}

function lessonLink(book, lesson) {
  return element("a", { href: addressOf({ book: book.book_id, file: lesson.source_file }), "data-lesson": lesson.parent_doc_id, dir: "auto" }, lesson.title);
}

function lessonLinks(book, lessons) {
  return element("ul", {}, ...lessons.map((lesson) => element("li", {}, lessonLink(book, lesson))));
}

/** Chapters with their lessons. The overview of a chapter is its heading. */
function chapterViews(book, chapters) {
  return chapters.flatMap((chapter) => {
    const [first, ...others] = chapter.lessons;
    if (!others.length) return [lessonLinks(book, [first])];
    const hasOverview = first.title === chapter.title;
    const heading = hasOverview ? lessonLink(book, first) : chapter.title;
    return [element("h3", { dir: "auto" }, heading), lessonLinks(book, hasOverview ? others : chapter.lessons)];
  });
}

/** The only page of a module, such as a book's first one; null where there are more. */
function onlyLesson({ chapters }) {
  return chapters.length === 1 && chapters[0].lessons.length === 1 ? chapters[0].lessons[0] : null;
}

/** The overview of a module, if its first page is one. */
function overviewOf({ title, chapters }) {
  const first = chapters[0]?.lessons[0];
  return chapters.length > 1 && chapters[0].lessons.length === 1 && first.title === title ? first : null;
}

function moduleView(book, module) {
  const only = onlyLesson(module);
  if (only) return lessonLinks(book, [{ ...only, title: only.title === book.title ? "Introduction" : only.title }]);
  const overview = overviewOf(module);
  const first = overview ? [lessonLinks(book, [{ ...overview, title: "Overview" }])] : [];
  const chapters = overview ? module.chapters.slice(1) : module.chapters;
  return element("details", { open: book.modules.length === 1 }, element("summary", { dir: "auto" }, module.title || book.title), ...first, ...chapterViews(book, chapters));
}

function shelf(books) {
  return element("div", { class: "shelf" }, ...(books.length > 1 ? [element("h1", { tabindex: "-1" }, "Books")] : []), ...books.map((book) => bookView(book, books.length > 1 ? "h2" : "h1")));
}

function bookView(book, heading) {
  const first = book.modules[0]?.chapters[0]?.lessons[0];
  const modules = book.modules.filter((module) => onlyLesson(module)?.title !== book.title || book.modules.length === 1);
  const counts = `${book.documents} lessons in ${modules.length === 1 ? "one module" : `${modules.length} modules`}. Read it, search it, or ask it.`;
  const begin = first ? element("a", { class: "begin", href: addressOf({ book: book.book_id, file: first.source_file }) }, "Start reading") : null;
  return element("section", {}, element(heading, { tabindex: "-1", dir: "auto" }, book.title), element("p", { class: "quiet" }, counts), begin, element("ul", { class: "modules" }, ...modules.map((module) => moduleCard(book, module))));
}

function moduleCard(book, module) {
  const overview = overviewOf(module);
  const title = overview ? lessonLink(book, overview) : module.title || book.title;
  return element("li", {}, element("h2", { dir: "auto" }, title), ...chapterViews(book, overview ? module.chapters.slice(1) : module.chapters));
}

function emptyShelf() {
  return element("div", { class: "shelf" }, element("h1", { tabindex: "-1" }, "No book is indexed yet"), element("p", {}, "Run ", element("code", {}, "askbook ingest path/to/book"), " and reload this page."));
}

function showOutline(headings, article, address) {
  const shown = headings.filter((each) => each.level === 2 || each.level === 3);
  if (shown.length < 2) return;
  const links = new Map(shown.map((each) => [each.id, element("a", { href: address(each.id), class: each.level === 3 ? "deep" : null, dir: "auto" }, each.title)]));
  outline.replaceChildren(element("h2", {}, "On this page"), element("ul", {}, ...[...links.values()].map((link) => element("li", {}, link))));
  outline.hidden = false;
  const watch = new IntersectionObserver((entries) => {
    const top = entries.filter((entry) => entry.isIntersecting)[0];
    if (!top) return;
    for (const [id, link] of links) {
      if (id === top.target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-70px 0px -70% 0px" });
  for (const id of links.keys()) {
    const heading = article.querySelector(`#${CSS.escape(id)}`);
    if (heading) watch.observe(heading);
  }
}

/** Bring a place into view, out of closed details if need be. */
function reveal(place) {
  if (!place) return;
  for (let around = place.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  place.scrollIntoView({ block: place.matches("mark, .cited") ? "center" : "start" });
  place.focus({ preventScroll: true });
}

function closeMenu() {
  contents.classList.remove("is-open");
  menu.setAttribute("aria-expanded", "false");
}

function wire(reader) {
  menu.append(icon("menu"));
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(contents.classList.toggle("is-open"))));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !contents.classList.contains("is-open")) return;
    closeMenu();
    menu.focus();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  searchForm.querySelector("button").append(icon("search"));
  searchForm.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = `#/search?${new URLSearchParams({ q: searchForm.elements.q.value.trim(), book: reader.book?.book_id ?? "" })}`;
  });
  ask.addEventListener("ask-book-cite", (event) => {
    const { source_file: file, start_char_offset: start, end_char_offset: end, quotes } = event.detail;
    const place = reader.library.find(ask.getAttribute("book") ?? "-", file);
    if (!place) return;
    event.preventDefault();
    const address = addressOf({ book: place.book.book_id, file, start, end, quotes });
    if (location.hash === address) reader.go();
    else location.hash = address;
  });
  window.addEventListener("hashchange", () => reader.go());
}

async function open() {
  try {
    const reader = new Reader(await Library.open());
    if (reader.book) reader.openBook(reader.book);
    wire(reader);
    await reader.go();
  } catch (error) {
    main.replaceChildren(element("p", { class: "notice", role: "alert" }, error.message));
  }
}

await open();
