// Text of a block together with where each of its characters stands in the source file.

/** @typedef {{text: string, at: number}} Line A line without its container's prefix; `at` is where it starts. */

/** Lines of one block, joined; remembers the place of every character (UTF-16 units). */
export class Stretch {
  /** @param {Line[]} lines */
  constructor(lines) {
    this.text = lines.map((line) => line.text).join("\n");
    /** @type {{index: number, at: number}[]} */
    this.starts = [];
    let index = 0;
    for (const line of lines) {
      this.starts.push({ index, at: line.at });
      index += line.text.length + 1;
    }
  }

  /** Where character `index` stands in the source. */
  place(index) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle].index <= index) low = middle;
      else high = middle - 1;
    }
    const line = this.starts[low];
    return line ? line.at + index - line.index : 0;
  }

  /** The part [from, to) as pieces that are each one unbroken slice of the source. */
  *runs(from, to) {
    let begin = from;
    for (const [n, line] of this.starts.entries()) {
      const before = this.starts[n - 1];
      if (!before || line.index <= begin || line.index >= to) continue;
      if (line.at === before.at + line.index - before.index) continue;
      yield this.run(begin, line.index);
      begin = line.index;
    }
    if (begin < to) yield this.run(begin, to);
  }

  run(from, to) {
    return { text: this.text.slice(from, to), start: this.place(from), end: this.place(to - 1) + 1 };
  }

  /** The part [from, to) as a stretch of its own. */
  slice(from, to) {
    const lines = [];
    let index = 0;
    for (const text of this.text.split("\n")) {
      const start = Math.max(index, from);
      const end = Math.min(index + text.length, to);
      if (start <= end) lines.push({ text: this.text.slice(start, end), at: this.place(start) });
      index += text.length + 1;
    }
    return new Stretch(lines);
  }
}

/** The lines of a file, without their ends. @returns {Line[]} */
export function linesOf(source) {
  const lines = [];
  let at = 0;
  for (const text of source.split("\n")) {
    lines.push({ text: text.endsWith("\r") ? text.slice(0, -1) : text, at });
    at += text.length + 1;
  }
  return lines;
}

/** Code points before `offset` counted as UTF-16 units: offsets of the API into a JavaScript string. */
export function utf16Offset(text, offset) {
  let units = 0;
  for (let left = offset; left > 0 && units < text.length; left -= 1) {
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
  }
  return units;
}
