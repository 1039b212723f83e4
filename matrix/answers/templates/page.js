// What works only with script: the paste box, the filters, the copy buttons. Everything else is in the page without it.
"use strict";

// find() and its helpers do what matrix/explain.py does, with the same patterns; a test holds both to the same answers.
const ESCAPES = /\x1b\[[0-9;]*m/g;
const FOLDS = /[\s│]+/g;

function matchesOf(text, patterns) {
  const found = new Map();
  for (const [id, mine] of patterns) {
    let best = null;
    for (const pattern of mine) {
      for (const match of text.matchAll(new RegExp(pattern, "gi"))) {
        const line = text.slice(text.lastIndexOf("\n", match.index - 1) + 1, match.index + match[0].length);
        const candidate = { warning: line.includes("Warning"), start: match.index, text: match[0] };
        if (!best || compare(candidate, best) < 0) best = candidate;
      }
    }
    if (best) found.set(id, best);
  }
  return found;
}

function compare(a, b) {
  return a.warning - b.warning || b.text.length - a.text.length || b.start - a.start;
}

function find(text, data) {
  text = text.replace(ESCAPES, "");
  const messages = data.entries.map((entry) => [entry.id, entry.messages]);
  let matches = matchesOf(text, messages);
  if (!matches.size) matches = matchesOf(text.replace(FOLDS, " "), messages);
  if (!matches.size && !text.trim().includes("\n")) {
    const symptoms = data.entries.map((entry) => [entry.id, [entry.kind === "error" ? `^(?:${entry.symptom})$` : entry.symptom]]);
    matches = matchesOf(text.trim(), symptoms);
    const first = Math.min(...[...matches.values()].map((match) => match.start));
    for (const [id, match] of matches) if (match.start !== first) matches.delete(id);
  }
  const ranked = [...matches.keys()].sort((a, b) => compare(matches.get(a), matches.get(b)) || (a < b ? -1 : 1));
  const answers = [];
  const seen = new Set();
  for (const id of ranked) {
    if (seen.has(id)) continue;
    const group = data.causes.find((group) => group.causes.some((cause) => cause.see === id));
    const ids = group ? group.causes.filter((cause) => cause.see).map((cause) => cause.see) : [id];
    ids.forEach((one) => seen.add(one));
    const entry = data.entries.find((entry) => entry.id === id);
    answers.push({ ids, matched: matches.get(id).text, title: group ? group.title : entry.title, causes: group ? group.causes : [] });
  }
  return answers;
}

function torchVersion(text, data) {
  const found = new RegExp(data.torch_version).exec(text);
  return found ? found[1] : null;
}

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function cellOf(row, minor) {
  return row.querySelector(`td[data-minor="${CSS.escape(minor)}"]`);
}

function state(id, minor) {
  const rows = [...document.querySelectorAll(`tbody[data-id="${id}"] tr`)];
  const states = rows.filter((row) => cellOf(row, minor)).map((row) => `${row.dataset.device} ${cellOf(row, minor).title}`);
  return states.length ? `On torch ${minor} measured: ${states.join(", ")}.` : "";
}

function link(id) {
  const anchor = element("a", id);
  anchor.href = `bugs/${id}.html`;
  return anchor;
}

function fix(entry) {
  const [module, name] = entry.fix.split(".");
  return name ? `Fix: ${name}() of reference_fixes/${module}.py: torch-repros vendor ${module} --into DIR` : "Fix: upgrade torch.";
}

function showAnswers(text, data, where) {
  where.replaceChildren();
  if (!text.trim()) return;
  const answers = find(text, data);
  const version = torchVersion(text, data);
  const minor = version && version.split(".").slice(0, 2).join(".");
  if (!answers.length) where.append(element("p", "No known failure matches this text. Find a silent failure by words in the grid below."));
  for (const answer of answers) {
    const box = element("section");
    box.className = "answer";
    box.append(element("h3", answer.title), element("p", "Matched: ", element("code", answer.matched)));
    const about = (id) => {
      const entry = data.entries.find((entry) => entry.id === id);
      return element("p", "", link(id), element("span", ` ${minor ? state(id, minor) : ""} `), element("span", fix(entry)));
    };
    if (answer.causes.length) {
      const list = element("ol");
      for (const cause of answer.causes) {
        const item = element("li", "", element("b", cause.cause), element("p", `Check: ${cause.check}`));
        if (cause.see) item.append(about(cause.see));
        list.append(item);
      }
      box.append(element("p", "This message has several possible causes. Check these, most likely first:"), list);
    } else {
      box.append(about(answer.ids[0]));
    }
    where.append(box);
  }
}

function filter(data) {
  const value = (id) => document.getElementById(id).value;
  const words = value("words").toLowerCase().split(/\s+/).filter(Boolean);
  const minor = value("torch");
  let count = 0;
  for (const body of document.querySelectorAll("#grid tbody")) {
    const entry = data.entries.find((entry) => entry.id === body.dataset.id);
    const text = `${entry.id} ${entry.title} ${entry.keywords.join(" ")} ${entry.messages.join(" ")}`.toLowerCase();
    const rows = [...body.rows].filter((row) => !value("device") || row.dataset.device === value("device"));
    const affected = (row) => cellOf(row, minor).title === "reproduced";
    body.hidden = !(
      (!value("family") || body.dataset.family === value("family")) &&
      (!value("kind") || body.dataset.kind === value("kind")) &&
      words.every((word) => text.includes(word)) &&
      rows.length > 0 && (!minor || rows.some(affected))
    );
    count += !body.hidden;
  }
  document.getElementById("count").textContent = `${count} of ${data.entries.length} bugs`;
  const query = new URLSearchParams(["words", "family", "device", "kind", "torch"].filter(value).map((id) => [id, value(id)]));
  history.replaceState(null, "", query.size ? `#${query}` : location.pathname.split("/").pop() || "./");
}

function restore() {
  for (const [id, value] of new URLSearchParams(location.hash.slice(1))) {
    const control = document.getElementById(id);
    if (control && "value" in control) control.value = value;
  }
}

async function copy(button) {
  const text = button.previousElementSibling.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // from file:// there may be no clipboard to write to
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

if (document.getElementById("data")) {
  const data = JSON.parse(document.getElementById("data").textContent);
  const paste = document.getElementById("paste");
  document.getElementById("explain").hidden = false;
  document.getElementById("filters").hidden = false;
  paste.addEventListener("input", () => showAnswers(paste.value, data, document.getElementById("answers")));
  const form = document.getElementById("filters");
  form.addEventListener("input", () => filter(data));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => filter(data)));
  restore();
  filter(data);
  // the browser brings the text of the box back after going back, and tells nobody
  addEventListener("pageshow", () => showAnswers(paste.value, data, document.getElementById("answers")));
}
