// HTML and JSX tags, told apart from text that merely contains a "<".

const START = /<(\/?)([A-Za-z][\w.:-]*|)/y;

/**
 * Read the tag at `index`, attributes in quotes and braces included.
 * @returns {{name: string, closing: boolean, empty: boolean, end: number, source: string} | null}
 */
export function readTag(text, index) {
  START.lastIndex = index;
  const start = START.exec(text);
  if (!start) return null;
  let at = START.lastIndex;
  if (!start[2] && text[at] !== ">") return null; // only <> and </> have no name
  if (start[2] && !/[\s/>]/.test(text[at] ?? "")) return null;
  for (let quote = "", depth = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quote) {
      if (char === quote) quote = "";
    } else if (depth === 0 && char === ">") {
      const source = text.slice(index, at + 1);
      return { name: start[2], closing: start[1] === "/", empty: source.endsWith("/>"), end: at + 1, source };
    } else if (depth === 0 && char === "<") return null;
    else if (char === "{") depth += 1;
    else if (char === "}") depth -= 1;
    else if (char === '"' || char === "'" || (depth > 0 && char === "`")) quote = char;
  }
  return null;
}

/** The value of one attribute of a tag; null where it has none that is plain text. */
export function attribute(tag, name) {
  const found = tag.source.match(new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|\\{["']([^"']*)["']\\})`));
  return found ? (found[1] ?? found[2] ?? found[3]) : null;
}

/** Where the braces that open at `index` close again; -1 where they do not. */
export function closingBrace(text, index) {
  let depth = 0;
  for (let at = index, quote = ""; at < text.length; at += 1) {
    const char = text[at];
    if (quote) {
      if (char === quote) quote = "";
    } else if (text.startsWith("/*", at)) {
      at = text.indexOf("*/", at) + 1;
      if (at === 0) return -1;
    } else if (char === '"' || char === "`") quote = char;
    else if (char === "{") depth += 1;
    else if (char === "}" && --depth === 0) return at;
  }
  return -1;
}
