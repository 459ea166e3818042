// The smallest useful page: ask one question, show the answer and where it stands.
const form = document.querySelector("#ask");
const reply = document.querySelector("#reply");

const element = (name, text, className = "") =>
  Object.assign(document.createElement(name), { textContent: text, className });

function citation(each, index) {
  const item = element("div", "", "citation");
  const place = [each.chapter_title, each.section].filter(Boolean).join(" › ");
  item.append(element("strong", `[${index + 1}] ${place}`), element("q", each.excerpt));
  item.append(element("small", each.source_file + (each.anchor ? `#${each.anchor}` : "")));
  return item;
}

function show(answer) {
  const refused = answer.citations.length === 0;
  reply.replaceChildren(element("p", answer.answer, refused ? "refused" : ""), ...answer.citations.map(citation));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  reply.replaceChildren(element("p", "…"));
  try {
    const response = await fetch("/api/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ question: form.question.value }),
    });
    const body = await response.json();
    if (response.ok) show(body);
    else reply.replaceChildren(element("p", (body.errors ?? [{ message: body.detail }])[0].message));
  } catch {
    reply.replaceChildren(element("p", "The server does not answer."));
  }
});
form.question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); form.requestSubmit(); }
});
