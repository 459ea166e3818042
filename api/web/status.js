// The operator's glance: parts, books, documents; for the admin also runs, quarantine and index versions.
import { element } from "./markdown.js";
import { fetchJson, postJson } from "./server.js";

/** @import { components } from "./types.d.ts" */
/** @typedef {components["schemas"]["IngestionJob"]} Job */
/** @typedef {components["schemas"]["VersionEntry"]} Version */

const KEY = "askbook_admin_key"; // sessionStorage: gone with the tab
const PAGE = 1000; // documents per request
const $ = (id) => /** @type {any} */ (document.getElementById(id)); // an element of status.html
const adminHeaders = () => ({ "X-Admin-Key": sessionStorage.getItem(KEY) ?? "" });

function table(names, rows, empty) {
  if (!rows.length) return element("p", { class: "quiet" }, empty);
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : element("td", {}, cell ?? "–")))));
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": names.join(", ") }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

const number = (value) => element("td", {}, (value ?? 0).toLocaleString("en"));
const mark = (kind, words) => element("td", {}, element("span", { class: `mark ${kind}` }, words));
const tiles = (pairs) => element("ul", { class: "tiles" }, ...pairs.map(([name, value]) => element("li", {}, element("b", {}, value.toLocaleString("en")), element("span", {}, name))));

/** A moment, as this reader writes it; with its exact time on hover. */
function when(time) {
  if (!time) return element("td", {}, "–");
  const words = new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return element("td", { class: "whole" }, element("time", { datetime: time, title: time }, words));
}

const READY = { ready: ["good", "Questions can be answered"], degraded: ["wait", "Search works, questions do not"], unready: ["bad", "The book cannot be read"] };
const PARTS = { ok: "good", down: "bad", unused: "" };

async function showHealth() {
  /** @type {components["schemas"]["Readiness"]} */
  const ready = await fetch("/ready").then((response) => response.json());
  const facts = `${ready.book_id}, ${ready.chunks.toLocaleString("en")} chunks${ready.index_version ? `, index ${ready.index_version}` : ""}`;
  const rows = Object.entries(ready.dependencies).map(([name, part]) => [name, mark(PARTS[part.status], part.status), part.detail ?? ""]);
  $("health").replaceChildren(table(["Part", "State", "Details"], [["All together", mark(...READY[ready.status]), facts], ...rows], ""));
}

async function showBooks() {
  const { books } = await fetchJson("/api/books");
  const rows = books.map((book) => [element("td", {}, element("a", { href: "/" }, book.title), element("small", {}, book.book_id)), number(book.documents), number(book.total_chunks), when(book.last_full_ingest), when(book.last_incremental_update)]);
  $("books").replaceChildren(table(["Book", "Pages", "Chunks", "Last full run", "Last changes"], rows, "No book is indexed yet."));
}

async function showDocuments() {
  const { documents, states, total } = await fetchJson(`/api/documents?limit=${PAGE}`);
  const others = documents.filter((each) => each.state !== "indexed");
  const rows = others.map((each) => [each.file_path, each.book_id, mark("wait", each.exists ? each.state : "gone from the folder"), when(each.last_indexed_at)]);
  const more = total > PAGE ? `Among the first ${PAGE.toLocaleString("en")} of ${total.toLocaleString("en")} files.` : "";
  $("documents").replaceChildren(
    tiles([["indexed", states.indexed ?? 0], ["stale", states.stale ?? 0], ["not indexed", states.unindexed ?? 0]]),
    table(["File", "Book", "State", "Indexed"], rows, "Every file is indexed as it is."),
    element("p", { class: "quiet" }, more),
  );
}

async function showAdmin() {
  const [{ jobs, prefect_pages: pages }, { versions }] = await Promise.all([fetchJson("/api/ingest/jobs?limit=20", { headers: adminHeaders() }), fetchJson("/api/index/versions", { headers: adminHeaders() })]);
  $("key-form").hidden = true;
  $("admin").hidden = false;
  $("runs").replaceChildren(table(["Run", "Book", "State", "Files", "Chunks", "Started", "Took", "Prefect"], jobs.map((job) => runRow(job, pages)), "Nothing has run yet."));
  $("quarantine").replaceChildren(quarantine(jobs));
  $("versions").replaceChildren(table(["Version", "State", "Chunks", "Made", "Embedding model", ""], versions.map(versionRow), "No version is published yet."));
}

const STATES = { completed: "good", failed: "bad", running: "wait", queued: "wait" };

/** @param {Job} job @param {string | null} pages */
function runRow(job, pages) {
  const files = Object.entries(job.report?.files ?? {}).filter(([, count]) => count).map(([name, count]) => `${count} ${name}`).join(", ");
  const state = mark(STATES[job.status] ?? "wait", job.status);
  if (job.error_message) state.append(element("small", { class: "bad" }, job.error_message));
  if (job.progress) state.append(element("small", {}, `${Math.round(job.progress.percent)} %, ${job.progress.description}`));
  const link = pages && /^https?:/.test(pages) && job.flow_run_id ? element("a", { href: `${pages}/runs/flow-run/${job.flow_run_id}`, rel: "noopener" }, "Open") : "–";
  const took = job.duration_seconds === null ? "–" : `${job.duration_seconds} s`;
  return [element("td", {}, `#${job.job_id}`, element("small", {}, job.mode)), job.book_id, state, files || `${job.files_processed} processed`, element("td", { class: "whole" }, `+${job.chunks_created} −${job.chunks_deleted}`), when(job.started_at ?? job.queued_at), took, link];
}

/** The last finished run of every book says which files it left alone, and why. @param {Job[]} jobs */
function quarantine(jobs) {
  const last = new Map();
  for (const job of jobs) if (job.status === "completed" && !last.has(job.book_id)) last.set(job.book_id, job);
  const rows = [...last.values()].flatMap((job) => (job.report?.quarantined ?? []).map((file) => [file.line ? `${file.source_file}:${file.line}` : file.source_file, job.book_id, file.reason]));
  return table(["File", "Book", "Reason"], rows, "No file is quarantined.");
}

/** @param {Version} version */
function versionRow(version) {
  const back = element("button", { type: "button", class: "button" }, "Roll back", element("span", { class: "unseen" }, ` to ${version.name}`));
  back.addEventListener("click", () => rollBack(version));
  return [version.name, version.current ? mark("good", "readers see it") : "kept", number(version.points), when(version.created_at), `${version.embedding_model} (${version.dimensions})`, version.current ? "" : back];
}

async function rollBack(version) {
  $("sure-words").textContent = `Send all readers back to ${version.name}, with ${version.points.toLocaleString("en")} chunks? Later runs start from it.`;
  $("sure").returnValue = "no";
  $("sure").showModal();
  await new Promise((resolve) => $("sure").addEventListener("close", resolve, { once: true }));
  if ($("sure").returnValue !== "yes") return;
  await attempt(async () => {
    await postJson("/api/index/rollback", { version: version.name }, { headers: adminHeaders() });
    await showAll();
    say(`Readers see ${version.name} now.`);
  });
}

function say(words) {
  $("said").textContent = words;
  $("said").className = words ? "notice" : "";
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (error.status === 401 || error.status === 403) forget();
    say(error.message);
  }
}

function forget() {
  sessionStorage.removeItem(KEY);
  $("admin").hidden = true;
  $("key-form").hidden = false;
}

async function showAll() {
  say("");
  await Promise.all([attempt(showHealth), attempt(showBooks), attempt(showDocuments), sessionStorage.getItem(KEY) ? attempt(showAdmin) : null]);
}

$("refresh").addEventListener("click", showAll);
$("forget").addEventListener("click", forget);
$("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, $("key").value);
  $("key").value = "";
  say("");
  await attempt(showAdmin);
});
document.querySelector(".skip").addEventListener("click", () => $("content").focus());
await showAll();
