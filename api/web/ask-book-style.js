// The widget's look. A constructed style sheet needs no permission from a page's content-security policy.
// Pages may set --ask-accent, --ask-font and --ask-z.

const CSS = `
:host {
  --accent: var(--ask-accent, #0a6558); --on-accent: #fff; --paper: #fff; --soft: #f4f3ef; --ink: #1c2321; --faint: #5b6462;
  --line: #dcdad3; --mine: #e6f0ed; --warn: #8a4b00; --warn-soft: #fdf3e1; --shadow: 0 12px 40px rgb(20 30 28 / .22), 0 2px 6px rgb(20 30 28 / .12);
  --code-comment: #6a6f6d; --code-string: #8a3b12; --code-word: #7a2b8f; --code-number: #0a5a94; --code-name: #0a6558;
  color-scheme: light; font: 15px/1.55 var(--ask-font, Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif); color: var(--ink);
}
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) { --accent: var(--ask-accent-dark, #63cdb9); --on-accent: #06231e; --paper: #191e1d; --soft: #222927; --ink: #e7ebe9; --faint: #a3adaa;
  --line: #37403d; --mine: #20332f; --warn: #f0b866; --warn-soft: #33291a; --shadow: 0 12px 40px rgb(0 0 0 / .6); color-scheme: dark;
  --code-comment: #98a19e; --code-string: #f0a98a; --code-word: #d9a6ec; --code-number: #8cc8f5; --code-name: #63cdb9; } }
:host([theme="dark"]) { --accent: var(--ask-accent-dark, #63cdb9); --on-accent: #06231e; --paper: #191e1d; --soft: #222927; --ink: #e7ebe9; --faint: #a3adaa;
  --line: #37403d; --mine: #20332f; --warn: #f0b866; --warn-soft: #33291a; --shadow: 0 12px 40px rgb(0 0 0 / .6); color-scheme: dark;
  --code-comment: #98a19e; --code-string: #f0a98a; --code-word: #d9a6ec; --code-number: #8cc8f5; --code-name: #63cdb9; }
*, *::before { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: 1.15em; height: 1.15em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
button, textarea { font: inherit; color: inherit; }
button { cursor: pointer; }
button:disabled { cursor: not-allowed; opacity: .45; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.launcher, .pick { position: fixed; z-index: var(--ask-z, 1000); display: inline-flex; align-items: center; gap: .5em; border: 0; border-radius: 99px; background: var(--accent); color: var(--on-accent); font-weight: 600; box-shadow: var(--shadow); }
.launcher { inset-block-end: 1.25rem; inset-inline-end: 1.25rem; padding: .75em 1.2em; }
.launcher:hover, .pick:hover, .send:not(:disabled):hover { filter: brightness(1.08); }
.pick { padding: .4em .9em; font-size: 14px; }
.panel { position: fixed; z-index: var(--ask-z, 1000); inset-block-end: 1.25rem; inset-inline-end: 1.25rem; width: min(26rem, calc(100vw - 2.5rem)); height: min(44rem, calc(100vh - 2.5rem)); height: min(44rem, calc(100dvh - 2.5rem));
  display: flex; flex-direction: column; overflow: hidden; background: var(--paper); border: 1px solid var(--line); border-radius: 16px; box-shadow: var(--shadow); }
header { display: flex; align-items: center; gap: .5rem; padding: .7rem .6rem .7rem 1.1rem; border-bottom: 1px solid var(--line); }
h2 { margin: 0; font-size: 1rem; font-weight: 650; flex: none; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.badge { margin-inline-end: auto; padding: .05em .7em; border: 1px solid var(--line); border-radius: 99px; font-size: 12px; color: var(--faint); white-space: nowrap; }
.badge.is-selection { border-color: var(--accent); background: var(--mine); color: var(--accent); font-weight: 600; }
.quiet { display: grid; place-items: center; flex: none; width: 2.2rem; height: 2.2rem; padding: 0; border: 0; border-radius: 8px; background: none; color: var(--faint); }
.quiet:hover { background: var(--soft); color: var(--ink); }
.scroller { flex: 1; min-height: 0; overflow: auto; overscroll-behavior: contain; outline-offset: -3px; }
.log { margin: 0; padding: 1.1rem; list-style: none; display: flex; flex-direction: column; gap: 1.1rem; min-height: 100%; }
.log > li { overflow-wrap: anywhere; }
.welcome { margin: auto 0; color: var(--faint); text-align: center; display: flex; flex-direction: column; gap: .5rem; align-items: center; }
.welcome p { margin: 0 0 .5rem; max-width: 19rem; }
.suggestion { border: 1px solid var(--line); border-radius: 12px; background: none; padding: .5em .9em; color: var(--ink); text-align: start; }
.suggestion:hover { border-color: var(--accent); background: var(--mine); }
.question { align-self: flex-end; max-width: 88%; padding: .55rem .9rem; border-radius: 14px 14px 4px 14px; background: var(--mine); }
.question p { margin: 0; white-space: pre-wrap; }
.question blockquote { margin: 0 0 .4rem; max-height: 6.2em; overflow: auto; font-size: .88em; }
.answer { position: relative; max-width: 100%; min-width: 0; }
.text > :first-child { margin-top: 0; } .text > :last-child { margin-bottom: 0; }
.text p, .text ul, .text ol, .text figure, .text .table, .text blockquote, .text details { margin: .7em 0; }
.text ul, .text ol { padding-inline-start: 1.5em; }
.text h1, .text h2, .text h3, .text h4, .text h5, .text h6 { margin: 1.1em 0 .4em; font-size: 1.05em; font-weight: 650; max-width: none; white-space: normal; }
blockquote { border-inline-start: 3px solid var(--line); margin-inline: 0; padding-inline-start: .8em; color: var(--faint); }
code { font: .88em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; background: var(--soft); border-radius: 4px; padding: .1em .3em; }
pre { margin: 0; padding: .7em .9em; overflow: auto; max-height: 22rem; background: var(--soft); border-radius: 10px; outline-offset: -2px; }
pre code { background: none; padding: 0; overflow-wrap: normal; white-space: pre; }
figcaption { font-size: 12px; color: var(--faint); padding: 0 0 .2em .2em; }
.table { overflow: auto; outline-offset: -2px; }
table { border-collapse: collapse; font-size: .92em; overflow-wrap: normal; }
th, td { padding: .35em .7em; border: 1px solid var(--line); text-align: start; vertical-align: top; min-width: 4.5em; }
th { background: var(--soft); font-weight: 600; } .end { text-align: end; } .center { text-align: center; }
.code-comment { color: var(--code-comment); font-style: italic; } .code-string { color: var(--code-string); } .code-word { color: var(--code-word); } .code-number { color: var(--code-number); } .code-name, .code-decorator { color: var(--code-name); }
.admonition { border-inline-start: 3px solid var(--accent); padding-inline-start: .8em; } .admonition-title { font-weight: 600; }
.text a { color: var(--accent); }
.chip { display: inline-grid; place-items: center; min-width: 1.6em; height: 1.6em; margin: 0 .12em; padding: 0 .3em; vertical-align: .25em; border: 0; border-radius: 6px; background: var(--mine); color: var(--accent); font: 650 11px/1 system-ui, sans-serif; }
button.chip:hover, .chip[aria-expanded="true"] { background: var(--accent); color: var(--on-accent); }
.confidence { margin: .8em 0 0; font-size: 12.5px; color: var(--faint); display: flex; align-items: center; gap: .5em; }
.confidence::before { content: ""; width: .6em; height: .6em; border-radius: 50%; background: var(--faint); }
.confidence.high::before { background: #1c9a62; } .confidence.fair::before { background: #c79a1a; } .confidence.low::before { background: #cf5a2b; }
.sources { list-style: none; margin: .5em 0 0; padding: 0; display: grid; gap: .3em; }
.source { display: flex; gap: .6em; align-items: baseline; width: 100%; padding: .3em .6em; border: 1px solid var(--line); border-radius: 8px; background: none; text-align: start; font-size: 13px; }
.source b { color: var(--accent); font-size: 12px; } .source:hover, .source[aria-expanded="true"] { border-color: var(--accent); background: var(--mine); }
.card { position: relative; margin: .5rem 0 .7rem; padding: .8rem 1rem; border: 1px solid var(--accent); border-radius: 12px; background: var(--paper); box-shadow: 0 4px 16px rgb(20 30 28 / .12); font-size: 13.5px; }
.card p, .card blockquote { margin: 0 0 .6em; } .card .where { padding-inline-end: 4.5em; }
.card > .action { position: absolute; inset-block-start: .5rem; inset-inline-end: .5rem; }
.jump { display: inline-flex; gap: .4em; align-items: center; color: var(--accent); font-weight: 600; text-underline-offset: 3px; }
.actions { display: flex; gap: .3rem; margin: .5em 0 0 -.5em; }
.action { display: inline-flex; align-items: center; gap: .35em; padding: .2em .5em; border: 0; border-radius: 7px; background: none; color: var(--faint); font-size: 12.5px; }
.action:hover { background: var(--soft); color: var(--ink); }
.refused { display: grid; grid-template-columns: auto 1fr; gap: .2rem .6rem; padding: .7rem .9rem; border-radius: 12px; background: var(--warn-soft); color: var(--warn); }
.refused > .icon { margin-top: .2em; } .refused .actions { grid-column: 2; } .refused .action { color: inherit; }
.unanswered { align-self: flex-end; margin-top: -.6rem; }
.writing { display: inline-flex; gap: .25em; padding: .5em 0; }
.writing i { width: .42em; height: .42em; border-radius: 50%; background: var(--accent); animation: breathe 1.2s infinite ease-in-out; }
.writing i:nth-child(2) { animation-delay: .18s; } .writing i:nth-child(3) { animation-delay: .36s; }
@keyframes breathe { 0%, 70%, 100% { opacity: .25; } 35% { opacity: 1; } }
.notice { margin: 0; padding: .6rem 1.1rem; background: var(--warn-soft); color: var(--warn); font-size: 13.5px; font-variant-numeric: tabular-nums; }
form { padding: .7rem .8rem .8rem; border-top: 1px solid var(--line); }
.line { display: flex; align-items: flex-end; gap: .5rem; padding: .3rem .35rem .3rem .8rem; border: 1px solid var(--faint); border-radius: 14px; background: var(--paper); }
.line:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
textarea { flex: 1; min-width: 0; max-height: 9rem; padding: .32em 0; border: 0; background: none; outline: 0; resize: none; field-sizing: content; } textarea:focus-visible { outline: 0; }
textarea::placeholder { color: var(--faint); opacity: 1; }
.send { display: grid; place-items: center; flex: none; width: 2.1rem; height: 2.1rem; padding: 0; border: 0; border-radius: 10px; background: var(--accent); color: var(--on-accent); }
.hint:empty { display: none; }
.hint { margin: .4rem .3rem 0; font-size: 12px; line-height: 1.2; color: var(--faint); }
.selected { display: flex; gap: .5rem; align-items: flex-start; margin-bottom: .5rem; padding: .4rem .3rem .4rem .7rem; border-radius: 10px; background: var(--mine); font-size: 13px; }
.selected > .icon { margin-top: .5em; color: var(--accent); } .selected q { flex: 1; quotes: none; max-height: 4.7em; overflow: auto; padding: .3em 0; } .selected .quiet { width: 1.9rem; height: 1.9rem; }
@media (max-width: 40rem) { .panel { inset: 0; width: 100vw; height: 100vh; height: 100dvh; border: 0; border-radius: 0; } .launcher { inset-block-end: 1rem; inset-inline-end: 1rem; padding: .9em; font-size: 17px; } .launcher span { display: none; } textarea { font-size: 16px; } }
@media (prefers-reduced-motion: reduce) { .writing i { animation: none; opacity: .7; } }
@media print { .launcher, .panel, .pick { display: none; } }
`;

let sheet;

/** One style sheet for all widgets of a page. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
