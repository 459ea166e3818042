// Block structure of Markdown and MDX. Nothing is lost of where each line stands in the source.
import { readTag, attribute, closingBrace } from "./markup-tags.js";
import { Stretch, linesOf } from "./source-text.js";

/** @import { Line } from "./source-text.js" */
/** @typedef {{type: string, [more: string]: any}} Block */
/** @typedef {{mdx: boolean, citations?: boolean, notes: Map<string, Block[]>, links: Map<string, string>}} Page */

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})\s*(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)(?=\S)|[ \t]*$)/;
const QUOTE = /^ {0,3}> ?/;
const ALERT = /^\s*\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*$/i;
const ADMONITION = /^ {0,3}(:{3,})[ \t]*([A-Za-z][\w-]*)?[ \t]*(?:\[(.*)\])?[ \t]*(?:\{[^}]*\})?[ \t]*(.*)$/;
const STATEMENT = /^(?:import\s+(?:['"]|[\w*{][^'"]*\sfrom\s+['"])|export\s+(?:const|let|var|default|function|class|async|\{|\*))/;
const CELLS = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const UNREAD = new Set(["script", "style", "iframe", "svg", "object", "template", "noscript"]);
const MAX_DEPTH = 24; // deeper quotes and lists are shown as plain paragraphs

/** Parse a page. @returns {{blocks: Block[], page: Page}} */
export function parseBlocks(source, { mdx = false, citations = false } = {}) {
  const page = { mdx, citations, notes: new Map(), links: new Map() };
  const lines = linesOf(source);
  if (lines[0]?.text.startsWith("\ufeff")) lines[0] = { text: lines[0].text.slice(1), at: 1 };
  const first = frontmatterEnd(lines);
  return { blocks: blocksOf(lines.slice(first), page, 0), page };
}

function frontmatterEnd(lines) {
  if (lines[0]?.text.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)\s*$/.test(line.text));
  return end < 0 ? 0 : end + 1;
}

/** @param {Line[]} lines @param {Page} page @returns {Block[]} */
function blocksOf(lines, page, depth) {
  const blocks = [];
  for (let i = 0; i < lines.length; ) {
    if (!lines[i].text.trim()) {
      i += 1;
      continue;
    }
    const [block, next] = readBlock(lines, i, page, depth);
    if (Array.isArray(block)) blocks.push(...block);
    else if (block) blocks.push(block);
    i = Math.max(next, i + 1);
  }
  return blocks;
}

function readBlock(lines, i, page, depth) {
  const { text } = lines[i];
  for (const read of [fence, indentedCode, statement, heading, rule, displayMath]) {
    const found = read(lines, i, page);
    if (found) return found;
  }
  if (depth < MAX_DEPTH) {
    for (const read of [admonition, quote, list, markup]) {
      const found = read(lines, i, page, depth);
      if (found) return found;
    }
  }
  if (text.includes("|")) {
    const found = table(lines, i);
    if (found) return found;
  }
  return definition(lines, i, page, depth) ?? paragraph(lines, i, page);
}

function fence(lines, i) {
  const open = lines[i].text.match(FENCE);
  if (!open) return null;
  const mark = open[2];
  const closes = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}\\s*$`);
  let end = i + 1;
  while (end < lines.length && !closes.test(lines[end].text)) end += 1;
  const inside = lines.slice(i + 1, end).map((line) => unindent(line, open[1].length));
  const title = open[3].match(/title=(?:"([^"]*)"|'([^']*)')/);
  const language = open[3].match(/^\{?\.?([\w+#.-]*)/)[1].toLowerCase();
  return [{ type: "code", language, title: title?.[1] ?? title?.[2], body: new Stretch(inside) }, end + 1];
}

function indentedCode(lines, i, page) {
  if (page.mdx || !/^(?: {4}|\t)/.test(lines[i].text)) return null;
  let end = i;
  for (let at = i; at < lines.length && (/^(?: {4}|\t)/.test(lines[at].text) || !lines[at].text.trim()); at += 1) {
    if (lines[at].text.trim()) end = at + 1;
  }
  const body = new Stretch(lines.slice(i, end).map((line) => unindent(line, 4)));
  return [{ type: "code", language: "", body }, end];
}

function statement(lines, i) {
  if (!STATEMENT.test(lines[i].text)) return null;
  let end = i;
  while (end < lines.length && lines[end].text.trim()) end += 1;
  const body = lines.slice(i, end).map((line) => line.text).join("\n");
  const brace = body.indexOf("{");
  if (brace >= 0 && closingBrace(body, brace) < 0) {
    // A statement with blank lines in it goes on to the line that closes it.
    while (end < lines.length && !/^[})\]]+;?\s*$/.test(lines[end].text)) end += 1;
    end += 1;
  }
  return [null, end];
}

function heading(lines, i) {
  const found = lines[i].text.match(HEADING);
  if (!found) return null;
  const words = found[2] ?? "";
  const from = words ? lines[i].text.indexOf(words, lines[i].text.indexOf(found[1]) + found[1].length) : 0;
  return [headingBlock(found[1].length, { text: words, at: lines[i].at + from }), i + 1];
}

function headingBlock(level, line) {
  const custom = line.text.match(/\s*(?:\{#([^{}\s]+)\}|\{\/\*\s*#([^\s*]+)\s*\*\/\})\s*$/);
  const text = custom ? line.text.slice(0, custom.index) : line.text;
  return { type: "heading", level, id: custom?.[1] ?? custom?.[2], body: new Stretch([{ ...line, text }]) };
}

function rule(lines, i) {
  return RULE.test(lines[i].text) ? [{ type: "rule" }, i + 1] : null;
}

function displayMath(lines, i) {
  const open = lines[i].text.match(/^\s*\$\$(.*)$/);
  if (!open) return null;
  const single = open[1].match(/^(.+?)\$\$\s*$/);
  const at = { start: lines[i].at, type: "math" };
  if (single) return [{ ...at, text: single[1], end: lines[i].at + lines[i].text.length }, i + 1];
  let end = i + 1;
  while (end < lines.length && !/\$\$\s*$/.test(lines[end].text)) end += 1;
  if (end === lines.length) return null;
  const text = [open[1], ...lines.slice(i + 1, end + 1).map((line) => line.text)].join("\n").replace(/\$\$\s*$/, "");
  return [{ ...at, text, end: lines[end].at + lines[end].text.length }, end + 1];
}

function admonition(lines, i, page, depth) {
  const open = lines[i].text.match(ADMONITION);
  if (!open || !(open[2] || open[3])) return null;
  const stack = [open[1].length];
  let end = i + 1;
  for (let inFence = ""; end < lines.length; end += 1) {
    const { text } = lines[end];
    const mark = text.match(/^\s*(`{3,}|~{3,})/)?.[1];
    if (mark && (!inFence || mark.startsWith(inFence))) inFence = inFence ? "" : mark;
    const colons = inFence ? null : text.match(/^\s*(:{3,})(?!:)\s*(.*)$/);
    if (!colons) continue;
    if (colons[2]) stack.push(colons[1].length);
    else while (stack.length && stack.pop() < colons[1].length);
    if (!stack.length) break;
  }
  const title = open[3] ?? open[4];
  const at = lines[i].at + lines[i].text.lastIndexOf(title);
  const name = title ? new Stretch([{ text: title, at }]) : null;
  const children = blocksOf(lines.slice(i + 1, end), page, depth + 1);
  return [{ type: "admonition", kind: (open[2] ?? "note").toLowerCase(), title: name, children }, end + 1];
}

function quote(lines, i, page, depth) {
  if (!QUOTE.test(lines[i].text)) return null;
  const inside = [];
  let end = i;
  for (; end < lines.length; end += 1) {
    const mark = lines[end].text.match(QUOTE)?.[0].length;
    if (mark === undefined && (!lines[end].text.trim() || interrupts(lines, end) || !inside.at(-1)?.text.trim())) break;
    inside.push({ text: lines[end].text.slice(mark ?? 0), at: lines[end].at + (mark ?? 0) });
  }
  const alert = inside[0].text.match(ALERT);
  const children = blocksOf(alert ? inside.slice(1) : inside, page, depth + 1);
  if (alert) return [{ type: "admonition", kind: alert[1].toLowerCase(), title: null, children }, end];
  return [{ type: "quote", children }, end];
}

function list(lines, i, page, depth) {
  const first = lines[i].text.match(ITEM);
  if (!first) return null;
  const isOrdered = /\d/.test(first[2]);
  const kind = first[2].at(-1);
  const items = [];
  const continues = (text) => {
    const mark = text.match(ITEM);
    return mark && mark[2].at(-1) === kind && /\d/.test(mark[2]) === isOrdered && !RULE.test(text);
  };
  let isLoose = false;
  let at = i;
  while (at < lines.length) {
    const mark = lines[at].text.match(ITEM);
    if (!continues(lines[at].text)) break;
    const end = itemEnd(lines, at, contentColumn(mark));
    const inside = lines.slice(at, end);
    while (inside.length && !inside.at(-1).text.trim()) inside.pop();
    items.push(item(inside, mark, page, depth));
    isLoose ||= end < lines.length && inside.length < end - at && continues(lines[end].text);
    isLoose ||= hasGap(inside, contentColumn(mark));
    at = end;
  }
  return [{ type: "list", isOrdered, start: isOrdered ? parseInt(first[2], 10) : 1, isLoose, items }, at];
}

function contentColumn(mark) {
  const gap = mark[3] ? columnsOf(mark[3]) : 1;
  return mark[1].length + mark[2].length + (gap > 4 ? 1 : gap);
}

/** An item goes on over blank lines while what follows is indented, and over lazy lines of a paragraph. */
function itemEnd(lines, at, column) {
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const { text } = lines[end];
    if (!text.trim() || indentOf(text) >= column) continue;
    if (!lines[end - 1].text.trim() || interrupts(lines, end) || ITEM.test(text)) break;
  }
  return end;
}

function item(lines, mark, page, depth) {
  const column = contentColumn(mark);
  const skipped = Math.min(lines[0].text.length, column);
  const first = { text: lines[0].text.slice(skipped), at: lines[0].at + skipped };
  const task = first.text.match(/^\[([ xX])\](?=\s)/);
  if (task) Object.assign(first, { text: first.text.slice(3), at: first.at + 3 });
  const inside = [first, ...lines.slice(1).map((line) => unindent(line, column))];
  return { children: blocksOf(inside, page, depth + 1), task: task ? task[1] !== " " : null };
}

function hasGap(lines, column) {
  let inFence = false;
  return lines.some((line, i) => {
    if (/^\s*(?:`{3}|~{3})/.test(line.text)) inFence = !inFence;
    const next = lines[i + 1];
    return !inFence && !line.text.trim() && next && indentOf(next.text) < column + 2 && !ITEM.test(next.text.trimStart());
  });
}

/** HTML and JSX that stand on lines of their own: the tags go, what readers see stays. */
function markup(lines, i, page, depth) {
  const { text } = lines[i];
  if (!/^\s*(?:<[!/A-Za-z>]|\{)/.test(text)) return null;
  const rest = new Stretch(lines.slice(i, i + 400));
  const from = text.length - text.trimStart().length;
  const lineAfter = (index) => i + rest.text.slice(0, index).split("\n").length - 1;
  if (rest.text.startsWith("<!--", from)) return dropped(rest.text, rest.text.indexOf("-->", from), 3, lineAfter);
  if (rest.text[from] === "{") {
    if (!page.mdx && !rest.text.startsWith("{/*", from)) return null;
    return dropped(rest.text, closingBrace(rest.text, from), 1, lineAfter);
  }
  const tag = readTag(rest.text, from);
  if (!tag) return null;
  const name = tag.name.toLowerCase();
  if (name === "details" && !tag.closing) return details(lines, i, tag, page, depth);
  if (name === "table" && !tag.closing) return htmlTable(rest, tag, lineAfter);
  if (UNREAD.has(name) && !tag.closing && !tag.empty) {
    const end = rest.text.indexOf(`</${tag.name}`, tag.end);
    return [null, end < 0 ? lines.length : lineAfter(end) + 1];
  }
  const lineEnd = (rest.text + "\n").indexOf("\n", tag.end);
  if (rest.text.slice(tag.end, lineEnd).trim() || /^(?:img|br)$/.test(name)) return null; // part of a paragraph
  const label = name === "tabitem" && !tag.closing ? (attribute(tag, "label") ?? attribute(tag, "value")) : null;
  return [label ? { type: "label", text: label } : null, lineAfter(tag.end) + 1];
}

function dropped(text, end, length, lineAfter) {
  if (end < 0) return null;
  const lineEnd = (text + "\n").indexOf("\n", end);
  return text.slice(end + length, lineEnd).trim() ? null : [null, lineAfter(end) + 1];
}

function details(lines, i, tag, page, depth) {
  let end = i;
  for (let open = 0; end < lines.length; end += 1) {
    open += (lines[end].text.match(/<details\b/gi) ?? []).length - (lines[end].text.match(/<\/details>/gi) ?? []).length;
    if (open <= 0) break;
  }
  const whole = new Stretch(lines.slice(i, end + 1));
  const from = whole.text.indexOf(tag.source) + tag.source.length;
  const last = whole.text.toLowerCase().lastIndexOf("</details>");
  const until = last < from ? whole.text.length : last;
  const found = whole.text.slice(from, until).match(/<summary\b[^>]*>([\s\S]*?)<\/summary>/i);
  const after = found ? from + found.index + found[0].length : from;
  const start = found ? from + found.index + found[0].indexOf(">") + 1 : from;
  const summary = found ? whole.slice(start, start + found[1].length) : null;
  const inside = linesOfStretch(whole.slice(after, until));
  return [{ type: "details", summary, children: blocksOf(inside, page, depth + 1) }, end + 1];
}

const linesOfStretch = (stretch) => stretch.text.split("\n").map((text, n) => ({ text, at: stretch.starts[n].at }));

function htmlTable(rest, tag, lineAfter) {
  const end = rest.text.indexOf("</table>", tag.end);
  if (end < 0) return null;
  const rows = [];
  for (const cell of rest.text.slice(tag.end, end).matchAll(/<tr\b|<(t[dh])\b[^>]*>([\s\S]*?)(?=<\/?t[dhr]\b|$)/gi)) {
    if (!cell[1]) rows.push([]);
    else {
      const from = tag.end + cell.index + cell[0].length - cell[2].length;
      if (!rows.length) rows.push([]);
      rows.at(-1).push(rest.slice(from, from + cell[2].length));
    }
  }
  const [head = [], ...body] = rows.filter((row) => row.length);
  return [{ type: "table", aligns: [], head, rows: body }, lineAfter(end) + 1];
}

function table(lines, i) {
  if (i + 1 >= lines.length || !lines[i + 1].text.includes("-") || !CELLS.test(lines[i + 1].text)) return null;
  const head = cellsOf(lines[i]);
  const marks = cellsOf(lines[i + 1]);
  if (head.length !== marks.length || !(lines[i + 1].text.includes("|") || head.length > 1)) return null;
  const aligns = marks.map(({ text }) => (/^:.*:$/.test(text) ? "center" : text.endsWith(":") ? "end" : null));
  let end = i + 2;
  while (end < lines.length && lines[end].text.trim() && !interrupts(lines, end)) end += 1;
  const rows = lines.slice(i + 2, end).map((line) => head.map((_, n) => cellsOf(line)[n] ?? new Stretch([])));
  return [{ type: "table", aligns, head, rows }, end];
}

/** Cells of a row: split at every bar that is not escaped. @returns {Stretch[]} */
function cellsOf(line) {
  const { text } = line;
  const cells = [];
  let from = text.search(/\S/);
  if (text[from] === "|") from += 1;
  const add = (to) => {
    const cell = text.slice(from, to);
    const lead = cell.length - cell.trimStart().length;
    cells.push(new Stretch([{ text: cell.trim().replaceAll("\\|", "|"), at: line.at + from + lead }]));
    from = to + 1;
  };
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "|") add(at);
  }
  if (text.slice(from).trim()) add(text.length);
  return cells;
}

/** Footnotes and link addresses, kept for where they are referred to. */
function definition(lines, i, page, depth) {
  const note = lines[i].text.match(/^ {0,3}\[\^([^\]\s]+)\]:[ \t]*/);
  if (note) {
    let end = i + 1;
    while (end < lines.length && (indentOf(lines[end].text) >= 4 || (lines[end].text.trim() ? lines[end - 1].text.trim() && !interrupts(lines, end) && !/^ {0,3}\[\^/.test(lines[end].text) : indentOf(lines[end + 1]?.text ?? "") >= 4))) end += 1;
    const first = { text: lines[i].text.slice(note[0].length), at: lines[i].at + note[0].length };
    const inside = [first, ...lines.slice(i + 1, end).map((line) => unindent(line, 4))];
    page.notes.set(note[1], blocksOf(inside, page, depth + 1));
    return [null, end];
  }
  const link = lines[i].text.match(/^ {0,3}\[([^\]^][^\]]*)\]:\s*<?([^\s<>]+)>?(?:\s+["'(].*["')])?\s*$/);
  if (!link || page.citations) return null;
  if (!page.links.has(link[1].toLowerCase().trim())) page.links.set(link[1].toLowerCase().trim(), link[2]);
  return [null, i + 1];
}

function paragraph(lines, i, page) {
  let end = i + 1;
  for (; end < lines.length; end += 1) {
    const { text } = lines[end];
    const underline = text.match(/^ {0,3}(=+|-+)[ \t]*$/);
    if (underline) {
      const words = trimmed(lines.slice(i, end));
      return [{ ...headingBlock(underline[1][0] === "=" ? 1 : 2, words[0]), body: new Stretch(words) }, end + 1];
    }
    if (!text.trim() || interrupts(lines, end) || (page.mdx && isTagLine(text))) break;
  }
  return [{ type: "paragraph", body: new Stretch(trimmed(lines.slice(i, end))) }, end];
}

const isTagLine = (text) => /^\s*<\/?[A-Za-z][^<>]*>\s*$/.test(text);

function trimmed(lines) {
  return lines.map(({ text, at }) => {
    const lead = text.length - text.trimStart().length;
    return { text: text.slice(lead), at: at + lead };
  });
}

/** Whether this line starts a block even right after a paragraph's line. */
function interrupts(lines, i) {
  const { text } = lines[i];
  const mark = text.match(ITEM);
  if (mark) return mark[3] !== undefined && (!/\d/.test(mark[2]) || parseInt(mark[2], 10) === 1);
  return FENCE.test(text) || HEADING.test(text) || RULE.test(text) || QUOTE.test(text) || /^\s{0,3}(?::{3,}|\$\$)/.test(text) || /^\s{0,3}<\/?(?:details|summary|table|div|p|ul|ol|[A-Z][\w.]*)\b[^<]*>?\s*$/.test(text);
}

function indentOf(text) {
  return text.trim() ? columnsOf(text.match(/^[ \t]*/)[0]) : 0;
}

function columnsOf(blank) {
  let columns = 0;
  for (const char of blank) columns += char === "\t" ? 4 - (columns % 4) : 1;
  return columns;
}

/** Take up to `columns` of indentation off a line. */
function unindent(line, columns) {
  let [taken, width] = [0, 0];
  while (width < columns && /[ \t]/.test(line.text[taken] ?? "")) {
    width += line.text[taken] === "\t" ? 4 - (width % 4) : 1;
    taken += 1;
  }
  return { text: line.text.slice(taken), at: line.at + taken };
}
