// Light colouring of code: comments, strings, numbers and the words of the language.

const WORDS = {
  python: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  c: "auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend if inline int long namespace new nullptr operator override private protected public return short signed sizeof static std struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
  js: "as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of return static super switch this throw true try type typeof undefined var void while yield",
  shell: "case do done elif else esac export fi for function if in local return set source sudo then until while",
  sql: "alter and as asc between by case create delete desc distinct drop else end exists from group having in index inner insert into is join left like limit not null on or order outer primary right select set table then union unique update using values view when where with",
  rust: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  data: "true false null yes no on off",
};
const LANGUAGES = { python: "python py pycon", c: "c cpp c++ cc cuda h hpp java cs csharp go kotlin swift", js: "js javascript jsx mjs ts tsx typescript", shell: "bash sh shell zsh console shell-session dockerfile cmake make makefile", sql: "sql", rust: "rust rs", data: "yaml yml json json5 toml ini cfg env" };
const KIND = new Map(Object.entries(LANGUAGES).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind])));
const HASH = String.raw`(?<![\w$&{])#[^\n]*`;
const SLASHES = String.raw`//[^\n]*|/\*[\s\S]*?(?:\*/|$)`;
const STRING = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const COMMENT = { python: HASH, shell: HASH, data: HASH, sql: String.raw`--[^\n]*|/\*[\s\S]*?(?:\*/|$)`, c: SLASHES, js: SLASHES, rust: SLASHES };
const SPECIAL_STRING = { python: String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|`, js: String.raw`${"`"}(?:\\.|[^${"`"}\\])*${"`"}?|` };
const TAGS = /(?<comment><!--[\s\S]*?(?:-->|$))|(?<word><\/?[A-Za-z][\w:.-]*|\/?>)|(?<string>"[^"<]*"|'[^'<]*')|(?<name>[\w:-]+(?==["']))/g;
const LONGEST = 60_000; // characters; beyond that, code stays plain

const rules = new Map();

function ruleFor(language) {
  if (/^(?:html|xml|urdf|sdf|xacro|svg|launch|mdx)$/.test(language)) return TAGS;
  const kind = KIND.get(language);
  if (!kind) return null;
  if (!rules.has(kind)) {
    const string = (SPECIAL_STRING[kind] ?? "") + STRING;
    const key = kind === "data" ? String.raw`|(?<name>^[ \t-]*[\w.$/-]+(?=:(?:\s|$)|\s*=)|"[^"\n]*"(?=\s*:))` : "";
    const words = `(?<word>\\b(?:${WORDS[kind].replaceAll(" ", "|")})\\b)`;
    const call = kind === "data" || kind === "shell" ? "" : String.raw`|(?<name>\b[A-Za-z_]\w*(?=\())`;
    rules.set(kind, new RegExp(`(?<comment>${COMMENT[kind]})${key}|(?<string>${string})|${words}${call}|(?<number>\\b(?:0x[\\da-fA-F]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)|(?<decorator>^[ \\t]*@[\\w.]+)`, kind === "sql" ? "gim" : "gm"));
  }
  return rules.get(kind);
}

/** Cut code into [kind or null, from, to], without gaps. */
export function* colorCode(text, language) {
  const rule = text.length > LONGEST ? null : ruleFor(language);
  let at = 0;
  for (const found of rule ? text.matchAll(rule) : []) {
    if (!found[0]) continue;
    if (found.index > at) yield [null, at, found.index];
    at = found.index + found[0].length;
    yield [Object.keys(found.groups).find((name) => found.groups[name] !== undefined), found.index, at];
  }
  if (at < text.length) yield [null, at, text.length];
}
