// TeX as books use it, to MathML. What is not known stays readable as its own source.

const SYMBOLS = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ϵ", varepsilon: "ε", zeta: "ζ", eta: "η", theta: "θ", vartheta: "ϑ", iota: "ι", kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", xi: "ξ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "ϕ", varphi: "φ", chi: "χ", psi: "ψ", omega: "ω", Gamma: "Γ", Delta: "Δ", Theta: "Θ", Lambda: "Λ", Xi: "Ξ", Pi: "Π", Sigma: "Σ", Phi: "Φ", Psi: "Ψ", Omega: "Ω", ell: "ℓ", hbar: "ℏ", infty: "∞", partial: "∂", nabla: "∇", emptyset: "∅", degree: "°", prime: "′", ldots: "…", dots: "…", cdots: "⋯", top: "⊤", bot: "⊥",
};
const OPERATORS = {
  cdot: "⋅", times: "×", div: "÷", pm: "±", mp: "∓", le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", neq: "≠", approx: "≈", equiv: "≡", sim: "∼", propto: "∝", ll: "≪", gg: "≫", to: "→", rightarrow: "→", leftarrow: "←", Rightarrow: "⇒", Leftarrow: "⇐", leftrightarrow: "↔", iff: "⇔", Longleftrightarrow: "⟺", Longrightarrow: "⟹", longrightarrow: "⟶", implies: "⇒", mapsto: "↦", in: "∈", notin: "∉", subset: "⊂", subseteq: "⊆", cup: "∪", cap: "∩", forall: "∀", exists: "∃", land: "∧", lor: "∨", neg: "¬", sum: "∑", prod: "∏", int: "∫", oint: "∮", circ: "∘", ast: "∗", star: "⋆", mid: "∣", lVert: "‖", rVert: "‖", Vert: "‖", lvert: "|", rvert: "|", langle: "⟨", rangle: "⟩", lfloor: "⌊", rfloor: "⌋", lceil: "⌈", rceil: "⌉", parallel: "∥", perp: "⟂", oplus: "⊕", otimes: "⊗", colon: ":", "{": "{", "}": "}", "|": "‖", "%": "%", "#": "#", "&": "&", _: "_", $: "$",
};
const SPACES = { ",": "0.17em", ";": "0.28em", ":": "0.22em", " ": "0.28em", quad: "1em", qquad: "2em", "!": "0" };
const ACCENTS = { hat: "^", widehat: "^", bar: "¯", overline: "¯", tilde: "~", vec: "→", dot: "˙", ddot: "¨" };
const FUNCTIONS = new Set("sin cos tan cot arcsin arccos arctan sinh cosh tanh exp log ln min max arg argmin argmax sup inf lim det dim ker deg Pr tr sgn".split(" "));
const UPRIGHT = new Set(["text", "mathrm", "operatorname", "textrm", "mathsf", "texttt", "textbf", "mathtt"]);
const STYLED = new Set(["mathbf", "boldsymbol", "mathbb", "mathcal", "bm"]);
const SIZES = /^(?:left|right|big|Big|bigl|bigr|Bigl|Bigr|displaystyle|textstyle|limits|nolimits)$/;
const DEEPEST = 40;

const tag = (name, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/** A formula as MathML, or as its TeX source where it holds something not known here. */
export function mathNode(tex, isBlock) {
  try {
    const reader = new Tex(tex.trim());
    const row = reader.row(() => reader.at >= reader.tokens.length);
    return tag("math", { display: isBlock ? "block" : "inline" }, row);
  } catch (error) {
    if (!(error instanceof UnknownTex)) throw error;
    return Object.assign(document.createElement("code"), { textContent: tex.trim() });
  }
}

class UnknownTex extends Error {}

class Tex {
  constructor(tex) {
    this.tokens = tex.match(/\\[A-Za-z]+|\\[\s\S]|\d+(?:[.,]\d+)?|\s+|[\s\S]/gu) ?? [];
    this.at = 0;
    this.depth = 0;
  }

  take() {
    if (this.at >= this.tokens.length) throw new UnknownTex();
    return this.tokens[this.at++];
  }

  skipBlank() {
    while (/^\s+$/.test(this.tokens[this.at] ?? "")) this.at += 1;
  }

  row(isEnd) {
    if ((this.depth += 1) > DEEPEST) throw new UnknownTex();
    const nodes = [];
    for (this.skipBlank(); !isEnd(); this.skipBlank()) {
      if (this.at >= this.tokens.length) throw new UnknownTex();
      const node = this.scripts(this.atom(this.take()));
      if (node) nodes.push(node);
    }
    this.depth -= 1;
    return nodes.length === 1 ? nodes[0] : tag("mrow", {}, ...nodes);
  }

  scripts(base) {
    let [below, above] = [null, null];
    for (this.skipBlank(); /^[_^']$/.test(this.tokens[this.at] ?? ""); this.skipBlank()) {
      const mark = this.take();
      if (mark === "'") above = tag("mo", {}, "′");
      else if (mark === "_") below = this.argument();
      else above = this.argument();
    }
    base ??= tag("mrow");
    if (below && above) return tag("msubsup", {}, base, below, above);
    if (below) return tag("msub", {}, base, below);
    return above ? tag("msup", {}, base, above) : base;
  }

  argument() {
    this.skipBlank();
    const token = this.take();
    return (token === "{" ? this.group() : this.atom(token)) ?? tag("mrow");
  }

  group() {
    const row = this.row(() => this.tokens[this.at] === "}");
    this.take();
    return row;
  }

  words() {
    this.skipBlank();
    if (this.take() !== "{") throw new UnknownTex();
    let text = "";
    for (let depth = 1; ; ) {
      const token = this.take();
      depth += token === "{" ? 1 : token === "}" ? -1 : 0;
      if (!depth) return text;
      text += token.startsWith("\\") ? token.slice(1) : token;
    }
  }

  atom(token) {
    if (token === "{") return this.group();
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^\d/.test(token)) return tag("mn", {}, token);
    if (/^\p{L}$/u.test(token)) return tag("mi", {}, token);
    if (token === "&" || token === "}") throw new UnknownTex();
    return tag("mo", /[()[\]|]/.test(token) ? { stretchy: "false" } : {}, token === "-" ? "−" : token === "~" ? "\u00a0" : token);
  }

  command(name) {
    if (name in SYMBOLS) return tag("mi", {}, SYMBOLS[name]);
    if (name in OPERATORS) return tag("mo", {}, OPERATORS[name]);
    if (name in SPACES) return tag("mspace", { width: SPACES[name] });
    if (FUNCTIONS.has(name)) return tag("mi", {}, name);
    if (UPRIGHT.has(name)) return tag("mtext", {}, this.words());
    if (STYLED.has(name)) return tag("mi", { mathvariant: "normal", class: name === "mathcal" ? "" : "bold" }, this.words());
    if (name in ACCENTS) return tag("mover", { accent: "true" }, this.argument(), tag("mo", {}, ACCENTS[name]));
    if (/^[dt]?frac$/.test(name)) return tag("mfrac", {}, this.argument(), this.argument());
    if (name === "sqrt") return tag("msqrt", {}, this.argument());
    if (name === "begin") return this.environment(this.words());
    if (SIZES.test(name)) return this.delimiter(name);
    if (name === "\\" || name === "\n") return null;
    throw new UnknownTex();
  }

  delimiter(name) {
    if (!/^(?:left|right|[bB]ig)/.test(name)) return null;
    this.skipBlank();
    const token = this.take();
    if (token === ".") return null;
    const char = token.startsWith("\\") ? OPERATORS[token.slice(1)] : token;
    if (!char) throw new UnknownTex();
    return tag("mo", {}, char);
  }

  environment(name) {
    const fences = { matrix: ["", ""], pmatrix: ["(", ")"], bmatrix: ["[", "]"], vmatrix: ["|", "|"], cases: ["{", ""], aligned: ["", ""], align: ["", ""], "align*": ["", ""] }[name];
    if (!fences) throw new UnknownTex();
    const isCellEnd = () => /^(?:&|\\\\|\\end)$/.test(this.tokens[this.at] ?? "");
    const rows = [[]];
    for (let token = ""; token !== "\\end"; ) {
      rows.at(-1).push(tag("mtd", {}, this.row(isCellEnd)));
      token = this.take();
      if (token === "\\\\") rows.push([]);
    }
    this.words();
    const table = tag("mtable", {}, ...rows.map((cells) => tag("mtr", {}, ...cells)));
    const [open, close] = fences.map((fence) => (fence ? [tag("mo", {}, fence)] : []));
    return tag("mrow", {}, ...open, table, ...close);
  }
}
