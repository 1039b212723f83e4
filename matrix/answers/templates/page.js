// What works only with script: the paste box, the filters, the copy buttons. Everything else is in the page without it.
"use strict";

// find() and its helpers do what matrix/answers/explain.py does, with the patterns that it puts into the
// page's data; a test holds both to the same answers.

function clean(text, { escapes, prefix, blanks, edges }) {
  const launcher = new RegExp(prefix);
  const blank = new RegExp(blanks, "g");
  const lines = [];
  let start = 0;
  for (let line of text.replace(new RegExp(escapes, "g"), "").replaceAll("\r", "\n").split("\n")) {
    line = line.replace(blank, " ").replace(/^ | $/g, "");
    const before = (launcher.exec(line) || [""])[0];
    line = line.slice(before.length);
    let [first, last] = [0, line.length];
    while (first < last && edges.includes(line[first])) first++;
    while (last > first && edges.includes(line[last - 1])) last--;
    if (first === last) continue;
    lines.push({ start, prefix: before, text: `${line.slice(first, last)}\n` });
    start += last - first + 1;
  }
  return lines;
}

function search(lines, patterns, lookBack) {
  const sorted = [...lines].sort((a, b) => (a.prefix < b.prefix ? -1 : Number(a.prefix > b.prefix)));
  const starts = [];
  let length = 0;
  for (const line of sorted) {
    starts.push(length);
    length += line.text.length;
  }
  const joined = sorted.map((line) => line.text).join("");
  // Lines of one process are one line; no message goes on in those of another.
  const last = (line, at) => line.prefix !== sorted[at + 1]?.prefix;
  const flat = sorted.map((line, at) => line.text.replaceAll("\n", last(line, at) ? "\n" : " ")).join("");
  const best = new Map();
  for (const [id, pattern] of patterns) {
    let line = 0;
    for (const match of flat.matchAll(new RegExp(pattern, "gi"))) {
      while (starts[line + 1] <= match.index) line++;
      const before = joined.slice(Math.max(0, match.index - lookBack), match.index).split("\n").pop();
      const found = {
        warning: (before + match[0]).includes("Warning"),
        start: sorted[line].start + match.index - starts[line],
        text: match[0],
      };
      if (!best.has(id) || compare(found, best.get(id)) < 0) best.set(id, found);
    }
  }
  return best;
}

function compare(a, b) {
  return a.warning - b.warning || b.text.length - a.text.length || b.start - a.start;
}

function symptomsOf(lines, data) {
  const whole = ({ id, kind, symptom }) => [id, kind === "error" ? `^(?:${symptom})$` : symptom];
  const best = search([{ ...lines[0], text: lines[0].text.trimEnd() }], data.entries.map(whole), data.look_back);
  const first = Math.min(...[...best.values()].map((match) => match.start));
  return new Map([...best].filter(([, match]) => match.start === first));
}

function find(text, data) {
  const lines = clean(text, data);
  const messages = data.entries.flatMap((entry) => entry.messages.map((pattern) => [entry.id, pattern]));
  let matches = search(lines, messages, data.look_back);
  if (!matches.size && lines.length === 1 && lines[0].text.trimEnd().length <= data.longest_symptom) {
    matches = symptomsOf(lines, data);
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
  const lines = clean(text, data);
  const found = new RegExp(data.torch_version).exec(lines.map((line) => line.text).join(""));
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

// What the header expects of a cell that nobody has measured, else undefined.
function expectation(row, minor, data) {
  const column = [...row.querySelectorAll("td[data-minor]")].indexOf(cellOf(row, minor));
  return data.expected[row.dataset.expected[column]];
}

function state(id, minor, data) {
  const rows = [...document.querySelectorAll(`tbody[data-id="${id}"] tr`)].filter((row) => cellOf(row, minor));
  const standing = (row) => {
    const expected = expectation(row, minor, data);
    return expected ? `${expected} (expected, not measured)` : `${cellOf(row, minor).title} (measured)`;
  };
  return rows.length ? `On torch ${minor}: ${rows.map((row) => `${row.dataset.device} ${standing(row)}`).join(", ")}.` : "";
}

function link(id) {
  const anchor = element("a", id);
  anchor.href = `bugs/${id}.html`;
  return anchor;
}

function fix(entry) {
  if (!entry.fix) return "Fix: write the lines under Right.";
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
      const about = element("div", "", element("p", "", link(id), element("span", ` ${minor ? state(id, minor, data) : ""}`)));
      for (const [name, lines] of [["Wrong", entry.wrong], ["Right", entry.right]]) {
        if (lines) about.append(element("p", `${name}:`), element("pre", "", element("code", lines.trim())));
      }
      about.append(element("p", fix(entry)), element("p", `Origin: ${entry.origin}: ${data.origins[entry.origin]}.`));
      return about;
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
  let [count, expected] = [0, 0];
  for (const body of document.querySelectorAll("#grid tbody")) {
    const entry = data.entries.find((entry) => entry.id === body.dataset.id);
    const text = `${entry.id} ${entry.title} ${entry.keywords.join(" ")} ${entry.messages.join(" ")}`.toLowerCase();
    const rows = [...body.rows].filter((row) => !value("device") || row.dataset.device === value("device"));
    const measured = rows.some((row) => minor && cellOf(row, minor).title === "reproduced");
    const affected = measured || (minor && rows.some((row) => expectation(row, minor, data) === "affected"));
    body.hidden = !(
      (!value("family") || body.dataset.family === value("family")) &&
      (!value("kind") || body.dataset.kind === value("kind")) &&
      words.every((word) => text.includes(word)) &&
      rows.length > 0 && (!minor || affected)
    );
    count += !body.hidden;
    expected += !body.hidden && !measured;
  }
  const found = `${count} of ${data.entries.length} bugs`;
  const evidence = `: ${count - expected} measured, ${expected} expected but not measured`;
  document.getElementById("count").textContent = minor ? found + evidence : found;
  const query = new URLSearchParams(["words", "family", "device", "kind", "torch"].filter(value).map((id) => [id, value(id)]));
  history.replaceState(null, "", query.size ? `#${query}` : location.pathname.split("/").pop() || "./");
}

// What `torch-repros compare` lists, but for messages, from the cells of the grid.
function showChanges(data) {
  const [old, minor, device] = ["old", "new", "on"].map((id) => document.getElementById(id).value);
  const found = Object.fromEntries(Object.keys(data.headings).map((change) => [change, []]));
  let [both, unknown] = [0, 0];
  for (const row of document.querySelectorAll(`#grid tr[data-device="${device}"]`)) {
    const [before, after] = [old, minor].map((release) => cellOf(row, release).title);
    const change = data.changes[`${before} ${after}`];
    if (change) found[change].push(row.closest("tbody").dataset.id);
    else if (before === "reproduced" && after === "reproduced") both++;
    else if (![before, after].every((state) => ["absent", "unavailable"].includes(state))) unknown++;
  }
  const where = document.getElementById("changes");
  where.replaceChildren(element("p", `Torch ${old} to ${minor} on ${device}:`));
  for (const [change, heading] of Object.entries(data.headings)) {
    where.append(element("p", `${heading}: ${found[change].length || "nothing"}`));
    const titled = (id) => element("li", "", link(id), element("span", ` ${data.entries.find((entry) => entry.id === id).title}`));
    if (found[change].length) where.append(element("ul", "", ...found[change].map(titled)));
  }
  where.append(element("p", `Fails on both: ${both || "nothing"}. Not known, as it was not measured on both: ${unknown || "nothing"}.`));
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
  document.getElementById("compare").hidden = false;
  document.getElementById("old").selectedIndex = 1;
  document.getElementById("comparing").addEventListener("click", () => showChanges(data));
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
