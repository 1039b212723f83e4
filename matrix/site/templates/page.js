// The parts that need a script: the paste box, the filters, the copy buttons. The rest of the page works without it.
"use strict";

// find() and its helpers work like matrix/explain/explain.py, with its patterns, which are part of the page's data.
// A test compares the answers of both.

function clean(text, { escapes, prefix, blanks, edges, starts, rule, curly, entities }) {
  const launcher = new RegExp(prefix);
  const ruled = new RegExp(rule);
  for (const [straight, signs] of Object.entries(curly)) text = text.replace(new RegExp(`[${signs}]`, "g"), straight);
  for (const [entity, sign] of Object.entries(entities)) text = text.replaceAll(entity, sign);
  const blank = new RegExp(blanks, "g");
  const lines = [];
  let start = 0;
  for (let line of text.replace(new RegExp(escapes, "g"), "").replaceAll("\r", "\n").split("\n")) {
    line = strip(line.replace(blank, " "), `${starts} `, " ");
    const before = (launcher.exec(line) || [""])[0];
    line = strip(strip(line.slice(before.length), starts, "").replace(/^E /, ""), "", edges);  // E: pytest
    if (!line || ruled.test(line)) continue;
    lines.push({ start, prefix: before, text: `${line}\n` });
    start += line.length + 1;
  }
  return lines;
}

function strip(line, left, right) {
  let [first, last] = [0, line.length];
  while (first < last && left.includes(line[first])) first++;
  while (last > first && right.includes(line[last - 1])) last--;
  return line.slice(first, last);
}

// Pattern -> its best match.
function search(lines, patterns, data) {
  const sorted = [...lines].sort((a, b) => (a.prefix < b.prefix ? -1 : Number(a.prefix > b.prefix)));
  const starts = [];
  let length = 0;
  for (const line of sorted) {
    starts.push(length);
    length += line.text.length;
  }
  const joined = sorted.map((line) => line.text).join("");
  // The lines of one process are joined. No message continues in the lines of another process.
  const several = lines.some((line) => line.prefix);
  const last = (line, at) => several && line.prefix !== sorted[at + 1]?.prefix;
  const flat = sorted.map((line, at) => line.text.replaceAll("\n", last(line, at) ? "\n" : " ")).join("");
  const best = new Map();
  for (const pattern of new Set(patterns)) {
    let line = 0;
    for (const match of flat.matchAll(new RegExp(pattern, "gi"))) {
      while (starts[line + 1] <= match.index) line++;
      const before = joined.slice(Math.max(0, match.index - data.look_back), match.index).split("\n").pop();
      const found = {
        warning: (before + match[0]).includes("Warning"),
        start: sorted[line].start + match.index - starts[line],
        text: match[0],
        index: match.index,
      };
      if (!best.has(pattern) || compare(found, best.get(pattern)) < 0) best.set(pattern, found);
    }
  }
  for (const match of best.values()) {
    const before = joined.slice(Math.max(0, match.index - data.traceback), match.index);
    const others = flat.slice(0, match.index).lastIndexOf("\n") + 1;  // lines of other processes
    match.line = usersLine(before.slice(Math.max(0, others - match.index + before.length)), data);
  }
  return best;
}

function usersLine(before, data) {
  const start = Math.max(0, before.lastIndexOf("Traceback (most recent call"));
  const frames = [...before.slice(start).matchAll(new RegExp(data.frame, "g"))];
  const last = frames.at(-1);
  if (!last || before.length - start - last.index - last[0].length > data.look_back) return "";
  const places = frames.map((frame) => frame.slice(1).filter(Boolean));
  const own = places.filter(([file]) => !new RegExp(data.library, "i").test(file)).at(-1);
  return own ? own.join(":") : "";
}

function compare(a, b) {
  return a.warning - b.warning || b.text.length - a.text.length || b.start - a.start;
}

// The message whose title or longest keyword is part of the line, and that part.
function inWords(line, data) {
  const lowered = line.toLowerCase();
  const all = data.causes.flatMap((group) => [group.title, ...group.keywords].map((part) => ({ group, part })));
  const found = all.filter(({ part }) => lowered.includes(part.toLowerCase()));
  return found.reduce((best, one) => (best && best.part.length >= one.part.length ? best : one), undefined);
}

function symptomsOf(lines, data) {
  const whole = ({ kind, symptom }) => (kind === "error" ? `^(?:${symptom})$` : symptom);
  const found = search([{ ...lines[0], text: lines[0].text.trimEnd() }], data.entries.map(whole), data);
  const first = Math.min(...[...found.values()].map((match) => match.start));
  const best = data.entries.map((entry) => [entry.id, found.get(whole(entry))]);
  return new Map(best.filter(([, match]) => match && match.start === first));
}

// The causes that the text itself names, as id -> match.
function namedBy(ids, found, title, data) {
  const messages = (id) => data.entries.find((entry) => entry.id === id)?.messages || [];
  const matched = ids.flatMap((id) => messages(id).filter((one) => found.has(one)).map((one) => [id, one]));
  const named = new Map();
  for (const [id, pattern] of matched) {
    const match = found.get(pattern);
    const others = matched.filter(([other]) => other !== id).map(([, its]) => its);
    const shared = others.includes(pattern) || new RegExp(pattern, "i").test(title);
    if (shared || !match.warning) continue;
    if (!named.has(id) || compare(match, named.get(id)) < 0) named.set(id, match);
  }
  return named;
}

// The causes of a message: first those that the text supports, last those that it excludes.
function ofGroup(group, match, named, found, readings, data) {
  const part = (pattern) => (pattern ? found.get(pattern)?.text || (new RegExp(pattern, "i").exec(readings.join("\n")) || [""])[0] : "");
  const device = (new RegExp(data.device, "i").exec(match.text) || [""])[0].toLowerCase();
  const never = (id) => device && byId(data).get(id)?.never.includes(device);
  const possible = group.causes.filter((cause) => !never(cause.see));
  const causes = possible.length ? possible : group.causes;
  const speaking = {};
  for (const { cause, see, supports } of causes) {
    const text = named.has(see) ? named.get(see).text : part(supports);
    if (text) speaking[cause] = text;
  }
  const rank = ({ cause, excludes }) => 2 * !(cause in speaking) + Boolean(part(excludes));
  return { causes: [...causes].sort((a, b) => rank(a) - rank(b)), speaking };
}

function find(text, data) {
  const lines = clean(text, data);
  const inGroups = data.causes.flatMap((group) => [...group.texts, ...group.causes.flatMap(({ supports, excludes }) => [supports, excludes])]);
  const found = search(lines, [...data.entries.flatMap((entry) => entry.messages), ...inGroups.filter(Boolean), data.torch, data.libraries, data.training, data.rivals], data);
  const about = found.has(data.torch) || found.has(data.libraries) || (found.has(data.training) && !found.has(data.rivals));
  const groups = data.causes.filter((group) => about || group.anywhere || !group.general);
  const least = (patterns) => patterns.map((pattern) => found.get(pattern)).filter(Boolean).sort(compare)[0];
  let matches = new Map(data.entries.map((one) => [one.id, least(one.messages)]).filter(([, match]) => match));
  const inTexts = groups.some((group) => group.texts.some((pattern) => found.has(pattern)));
  const short = !matches.size && !inTexts && lines.length === 1 && lines[0].text.trimEnd().length <= data.longest_symptom;
  const words = short && !/(Error|Exception|Warning): /.test(lines[0].text) ? inWords(lines[0].text, data) : undefined;
  if (short && !words) matches = symptomsOf(lines, data);
  const groupOf = (id) => data.causes.find((group) => group.causes.some((cause) => cause.see === id));
  const hits = [...matches].map(([id, match]) => ({ id, match, group: groupOf(id) }));
  for (const group of groups) {
    const match = least(group.texts);
    if (match) hits.push({ id: "", match, group });
  }
  if (words) hits.push({ id: "", match: { warning: false, text: words.part, start: 0, line: "" }, group: words.group });
  const order = ({ group }) => group?.order ?? 0;
  hits.sort((a, b) => a.match.warning - b.match.warning || order(a) - order(b) || compare(a.match, b.match) || (a.id < b.id ? -1 : Number(a.id > b.id)));
  const readings = readingsOf(text, data);
  const answers = [];
  const seen = new Set();
  for (const { id, match, group } of hits) {
    if (seen.has(id) || seen.has(group)) continue;
    const seeing = group ? group.causes.filter((cause) => byId(data).has(cause.see)).map((cause) => cause.see) : [];
    const named = group ? namedBy(seeing, found, group.title, data) : new Map();
    const { text: matched, line, warning } = match;
    const alone = seeing.filter((one) => matches.has(one)).length === 1 && matches.has(id);
    if (!group || (warning && alone && named.has(id))) {
      answers.push({ ids: [id], matched, title: byId(data).get(id).title, causes: [], line, named: {} });
      continue;
    }
    const { causes, speaking } = ofGroup(group, match, named, found, readings, data);
    const ids = causes.filter((cause) => cause.see).map((cause) => cause.see);
    [group, ...ids].forEach((one) => seen.add(one));
    answers.push({ ids, matched, title: group.title, causes, line, named: speaking, page: group.page, raised: group.raised });
  }
  return answers;
}

// Explanations of the numbers in a message, with the same functions as matrix/explain/readings.py.
const bytes = (number, unit) => Number(number) * 1024 ** "bkmgt".indexOf(unit[0].toLowerCase());
const sizesOf = (text) => (text.match(/\d+/g) || []).map(Number);
const same = (a, b) => a.length === b.length && a.every((size, at) => size === b[at]);
const without = (sizes, at) => sizes.filter((_, other) => other !== at);
const shown = (sizes) => `[${sizes.join(", ")}]`;
const greatest = (a, b) => (b ? greatest(b, a % b) : a);

const READINGS = {
  memory(...given) {
    const [asked, total, free, tensors, unused] = [0, 2, 4, 6, 8].map((at) => bytes(given[at], given[at + 1]));
    const [asking, whole, , held] = [0, 2, 4, 6].map((at) => `${given[at]} ${given[at + 1]}`);
    if (asked > total) return `one allocation of ${asking} is more than the ${whole} of the GPU: look at the shapes in the line that raises the error.`;
    if (unused >= 0.99 * asked && unused > 0.1 * (tensors + unused)) {
      return `fragmentation: PyTorch has reserved far more than the ${held} that tensors hold, but no free block is as large as ${asking}. Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (max_split_size_mb:128 before torch 2.1).`;
    }
    if (total - free - tensors - unused > 0.5 * total) return `tensors of this process hold only ${held} of ${whole}: other processes hold most of the GPU (nvidia-smi).`;
    return `tensors hold ${held} of ${whole}, so another ${asking} do not fit (it is not fragmentation): keep fewer or smaller tensors alive at this line.`;
  },
  memory_reserved(...given) {
    const unused = Math.max(0, bytes(...given.slice(8)) - bytes(...given.slice(4, 6)));
    return READINGS.memory(...given.slice(0, 4), ...given.slice(6, 8), ...given.slice(4, 6), String(unused), "bytes");
  },
  products(...numbers) {
    const [n, given, wanted] = numbers.map(Number);
    if (0 < given && given < wanted && wanted % given === 0 && n % (wanted / given) === 0) {
      const samples = (n * given) / wanted;
      return `${n} rows of ${given} numbers could also be ${samples} of ${wanted}. If the batch size is ${samples}, x.flatten(1) is missing. If the batch size is ${n}, the layer needs in_features=${given}.`;
    }
    const common = greatest(given, wanted);
    const sides = [given, wanted].map((number) => Math.floor(Math.sqrt(number / Math.max(1, common))));
    if (Math.min(common, ...sides) > 1 && same(sides.map((side) => side ** 2 * common), [given, wanted])) {
      return `${given} = ${common} x ${sides[0]} x ${sides[0]} and ${wanted} = ${common} x ${sides[1]} x ${sides[1]}: if these are feature maps, the images do not have the size that the layer was made for. Resize them, or pool to ${sides[1]} x ${sides[1]} with AdaptiveAvgPool2d before the flatten.`;
    }
    return `each row has ${given} numbers, but the layer was made for ${wanted}: set in_features=${given}, or change the layer before it.`;
  },
  two_shapes(target, input) {
    const [a, b] = [sizesOf(target), sizesOf(input)];
    for (const [one, other, more, less] of [[b, a, "input", "target"], [a, b, "target", "input"]]) {
      for (let dim = one.length - 1; dim >= 0; dim--) {
        if (one[dim] === 1 && same(without(one, dim), other)) return `the ${more} has an extra dimension of size 1: use ${more}.squeeze(${dim}) or ${less}.unsqueeze(${dim}).`;
      }
    }
    if (b.length > 1 && same(without(b, 1), a)) return `the input has ${b[1]} numbers for each number of the target. If the target contains class indices, cross_entropy accepts it directly, and other losses need it one-hot.`;
    return "";
  },
  parameter(name, saved, current) {
    const [a, b] = [sizesOf(saved), sizesOf(current)];
    const both = `${name} is ${shown(a)} in the checkpoint and ${shown(b)} in the model`;
    if (0 < a.length && a.length <= 2 && same(a.slice(1), b.slice(1))) return `${both}: the number of classes or tokens differs. Build the model with ${a[0]}, or remove the layer from the state dict and train it again.`;
    return `${both}: the saved model was built with different sizes.`;
  },
  stacked(first, other, at) {
    const [a, b] = [sizesOf(first), sizesOf(other)];
    if (a.length === 3 && b.length === 3 && same(a.slice(1), b.slice(1)) && [a[0], b[0]].every((count) => [1, 3, 4].includes(count))) {
      return `the number of channels is ${a[0]} in sample 0, but ${b[0]} in sample ${at}: some images are grayscale or transparent. Load every image with image.convert("RGB").`;
    }
    if (!a.length || a.length !== b.length) return "";
    const dims = a.map((_, dim) => dim).filter((dim) => a[dim] !== b[dim]);
    return `sample ${at} differs from sample 0 in dim ${dims.join(", ")}: resize or crop the samples to one size, or pad them in a collate_fn.`;
  },
  channels(weight, input, wanted, given) {
    const [sizes, spatial] = [sizesOf(input), sizesOf(weight).length - 2];
    if (sizes.length === spatial + 2 && sizes.at(-1) === Number(wanted)) {
      const order = [0, spatial + 1, ...sizes.slice(2).map((_, at) => at + 1)];
      return `the channels come last in ${shown(sizes)}: use x.permute(${order.join(", ")}).contiguous().`;
    }
    return wanted === "3" && ["1", "4"].includes(given) ? 'the images are grayscale or transparent: load them with image.convert("RGB").' : "";
  },
  elements(shape, size) {
    const sizes = (shape.match(/-?\d+/g) || []).map(Number);
    const [product, n] = [Math.abs(sizes.reduce((all, one) => all * one, 1)), Number(size)];
    if (sizes.includes(-1)) return product && n % product ? `${n} is not a multiple of ${product}, the product of the other numbers.` : "";
    if (product && n === 3 * product) {
      return "the input has 3 times as many numbers as the shape, like an image with three channels instead of one: use convert('L') or x[..., 0].";
    }
    const rest = sizes[0] ? product / sizes[0] : 0;
    if (rest > 1 && 0 < n && n < product && n % rest === 0) {
      return `the input has ${n / rest} rows of ${rest} numbers, but the shape names ${sizes[0]}: if the first number is the batch size, write -1 instead.`;
    }
    return "";
  },
  batches(given, wanted) {
    const [a, b] = [Number(given), Number(wanted)];
    if (b && a > b && a % b === 0) return `${a} = ${a / b} x ${b}: each sample became ${a / b} rows of the input. x.flatten(1) keeps the batch dimension; view(-1, n) does not.`;
    if (a && b > a && b % a === 0) return `${b} = ${b / a} x ${a}: each sample has ${b / a} targets: flatten both in the same way.`;
    return "";
  },
};

function readingsOf(text, data) {
  const found = search(clean(text, data), data.readings.map(([, pattern]) => pattern), data);
  const read = ([name, pattern]) => (found.has(pattern) ? READINGS[name](...new RegExp(pattern, "i").exec(found.get(pattern).text).slice(1)) : "");
  return [...new Set(data.readings.map(read).filter(Boolean))];
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

// --- the state of a failure on a release, from the cells of DATA ---

const byId = (data) => (data.byId ||= new Map(data.entries.map((entry) => [entry.id, entry])));

// The measured state or, without a measurement, the state that the header expects: { state, measured }.
function standing(entry, device, minor, data) {
  const at = data.minors.indexOf(minor);
  const [signs, expected] = entry.cells[device];
  return expected[at] === " " ? { state: data.signs[signs[at]], measured: true } : { state: data.expected[expected[at]], measured: false };
}

const isThere = ({ state }) => state === "reproduced" || state === "affected";
const isAbsent = ({ state }) => state === "absent" || state === "not affected";

// "2.11" if the failure existed before and is absent now, according to evidence of the same kind.
function fixedIn(entry, device, minor, data) {
  const now = standing(entry, device, minor, data);
  let since = minor;
  for (let at = data.minors.indexOf(minor) - 1; at >= 0 && isAbsent(now); at--) {
    const before = standing(entry, device, data.minors[at], data);
    if (before.measured !== now.measured) break;
    if (isThere(before)) return since;
    if (!isAbsent(before)) break;
    since = data.minors[at];
  }
  return "";
}

// The standing with a description.
function status(entry, device, minor, data) {
  const found = standing(entry, device, minor, data);
  const since = fixedIn(entry, device, minor, data);
  const how = found.measured ? "measured" : "expected, not measured";
  const words = isThere(found) ? "still there" : since ? `fixed in ${since}` : isAbsent(found) ? "not affected" : found.state;
  return { ...found, fixed: Boolean(since), words, how, text: `${words} (${how})` };
}

function onTorch(entry, minor, data) {
  if (!data.minors.includes(minor)) return "";
  return `On torch ${minor}: ${Object.keys(entry.cells).map((device) => `${device} ${status(entry, device, minor, data).text}`).join(", ")}.`;
}

// --- the answers to a pasted text ---

function link(id, text) {
  const anchor = element("a", text || id);
  anchor.href = `bugs/${id}.html`;
  return anchor;
}

function fix(entry) {
  if (!entry.fix) return ["Fix: write the lines under Right."];
  const [module, name] = entry.fix.split(".");
  if (!name) return ["Fix: upgrade torch."];
  const code = element("a", `${name}()`);
  code.href = `bugs/${entry.id}.html#fix`;
  return ["Fix: ", code, ` of ${module}.py: `, element("code", `torch-repros vendor ${module} --into DIR`)];
}

// The text with code elements for backticks.
const marked = (text) => text.split("`").map((part, at) => element(at % 2 ? "code" : "span", part));

function showAnswers(text, data, where) {
  where.replaceChildren();
  if (!text.trim()) return;
  const answers = find(text, data);
  const version = torchVersion(text, data);
  const minor = version && version.split(".").slice(0, 2).join(".");
  const readings = readingsOf(text, data).map((sentence) => element("p", `Its numbers: ${sentence}`));
  if (!answers.length) where.append(element("p", "No known failure matches this text. Find a silent failure by words in the table below."), ...readings);
  for (const answer of answers) {
    const box = element("section");
    box.className = "answer";
    box.append(element("h3", "", ...marked(answer.title)), element("p", "Matched: ", element("code", answer.matched)));
    if (answer.line) box.append(element("p", "Your line: ", element("code", answer.line)));
    if (answer === answers[0]) box.append(...readings);
    const about = (id) => {
      const entry = byId(data).get(id);
      const about = element("div", "", element("p", "", link(id), element("span", ` ${minor ? onTorch(entry, minor, data) : ""}`)));
      const notes = entry.messages.filter((one) => new RegExp(one, "i").test(answer.matched)).map((one) => entry.notes[one] || "");
      if (notes.length && notes.every(Boolean)) about.append(element("p", `${notes[0][0].toUpperCase()}${notes[0].slice(1)}.`));
      const needs = entry.right_requires ? ` (torch ${entry.right_requires})` : "";
      for (const [name, lines] of [["Wrong", entry.wrong], [`Right${needs}`, entry.right], ["Right, with the fix", entry.use]]) {
        if (lines) about.append(element("p", `${name}:`), element("pre", "", element("code", lines.trim())));
      }
      if (entry.choice) about.append(element("p", "", ...marked(`${entry.choice}.`)));
      about.append(element("p", "", ...fix(entry)), element("p", `Origin: ${entry.origin}: ${data.origins[entry.origin]}.`));
      return about;
    };
    if (answer.causes.length) {
      const list = element("ol");
      for (const cause of answer.causes) {
        const item = element("li", "", element("b", "", ...marked(cause.cause)), element("p", "Check: ", ...marked(cause.check)));
        const how = cause.likely ? "makes this cause likely" : "points to this cause";
        if (answer.named[cause.cause]) item.append(element("p", `The text ${how}: `, element("code", answer.named[cause.cause])));
        if (cause.see) item.append(about(cause.see));
        const needs = cause.requires ? ` (torch ${cause.requires})` : "";
        for (const [name, lines] of [[`Wrong${needs}`, cause.wrong], ["Right", cause.right]]) {
          if (lines) item.append(element("p", `${name}:`), element("pre", "", element("code", lines.trim())));
        }
        if (cause.source) {
          const source = element("a", cause.source);
          source.href = cause.source;
          item.append(element("p", "Source, not run here: ", source));
        }
        list.append(item);
      }
      const all = element("a", "A page of all its causes");
      all.href = answer.page;
      if (!answer.raised) box.append(element("p", "No run here has raised this message."));
      const { cause, likely } = answer.causes[0];
      const pointed = !likely && answer.named[cause];
      const heading = answer.causes.length === 1 ? (likely ? "This cause is likely:" : "Check this cause:")
        : pointed ? "Check these causes. The text points to the first:"
        : "The text alone does not show the cause. Check these, most likely first:";
      box.append(element("p", heading), list, element("p", "", all));
    } else {
      const [id] = answer.ids;
      box.append(element("p", "Why: ", ...marked(byId(data).get(id).why)), about(id), element("p", "", link(id, "Everything about it")));
    }
    where.append(box);
  }
}

// --- the table ---

const CONTROLS = ["words", "family", "origin", "kind", "device", "torch", "standing", "old", "sort"];
const value = (id) => document.getElementById(id).value;

// The result of `torch-repros compare` for two releases on a device: a change, "same", "unknown" or "".
function changeOf(entry, device, old, minor, data) {
  const [signs] = entry.cells[device];
  const [before, after] = [old, minor].map((release) => data.signs[signs[data.minors.indexOf(release)]]);
  const change = data.changes[`${before} ${after}`];
  if (change) return change;
  if (before === "reproduced" && after === "reproduced") return "same";
  return [before, after].every((state) => ["absent", "unavailable"].includes(state)) ? "" : "unknown";
}

// The original contents of the table's cells (ranges), kept while the cells show other texts.
const ranges = {};

function said(words, how) {
  const now = element("span", words, ...(how ? [element("small", ` (${how})`)] : []));
  now.className = "now";
  return now;
}

function filter(data) {
  const words = value("words").toLowerCase().split(/\s+/).filter((word) => word && !data.ignored.includes(word));
  const old = value("old");
  const minor = value("torch") || (value("standing") ? data.minors.at(-1) : "");  // there or fixed: where?
  const newer = minor || data.minors.at(-1);
  const counted = {};
  let [count, measured, expected] = [0, 0, 0];
  for (const entry of data.entries) {
    const row = document.getElementById(entry.id);
    const text = `${entry.id} ${entry.title} ${entry.words} ${entry.messages.join(" ")}`.toLowerCase();
    const devices = Object.keys(entry.cells).filter((device) => !value("device") || device === value("device"));
    const found = new Map(minor ? devices.map((device) => [device, status(entry, device, minor, data)]) : []);
    const changes = new Map(old ? devices.map((device) => [device, changeOf(entry, device, old, newer, data)]) : []);
    const passes = { "": () => true, there: isThere, fixed: ({ fixed }) => fixed };
    const fits = [...found.values()].filter(passes[value("standing")]);
    const shown =
      devices.length > 0 &&
      ["origin", "kind"].every((id) => !value(id) || entry[id] === value(id)) &&
      (!value("family") || entry.id.startsWith(`${value("family")}/`)) &&
      words.every((word) => text.includes(word)) &&
      (!minor || fits.length > 0);
    const changed = [...changes.values()].some((change) => data.headings[change]);
    if (shown) for (const change of new Set(changes.values())) counted[change] = (counted[change] || 0) + 1;
    row.hidden = !shown || (old && !changed);
    count += !row.hidden;
    const meant = value("standing") ? fits : fits.filter(isThere);
    if (!row.hidden && meant.length) meant.some((one) => one.measured) ? measured++ : expected++;
    for (const cell of row.querySelectorAll("td[data-on]")) {
      const device = cell.dataset.on;
      const range = (ranges[`${entry.id} ${device}`] ||= [...cell.childNodes]);
      const heading = data.headings[changes.get(device)];
      if (heading) cell.replaceChildren(said(heading, ""), ...range);
      else if (!old && found.has(device)) cell.replaceChildren(said(found.get(device).words, found.get(device).how));
      else cell.replaceChildren(...range);
    }
  }
  let sum = count === data.entries.length ? `${count} failures` : `${count} of ${data.entries.length} failures`;
  if (minor && !old) sum += `${value("standing") ? "" : ", still there"} on torch ${minor}: ${measured} measured, ${expected} expected but not measured`;
  if (old) {
    const lists = Object.entries(data.headings).map(([change, heading]) => `${heading}: ${counted[change] || "nothing"}`);
    sum = `Torch ${old} to ${newer}: ${[...lists, `Fails on both, with the same message or another: ${counted.same || "nothing"}`, `Not known, because not measured on both releases: ${counted.unknown || "nothing"}`].join(". ")}.`;
  }
  document.getElementById("count").textContent = sum;
  const query = new URLSearchParams(CONTROLS.filter(value).map((id) => [id, value(id)]));
  history.replaceState(null, "", query.size ? `#${query}` : location.pathname.split("/").pop() || "./");
}

// Device columns sort by the newest change, newest first. Other columns sort alphabetically.
function sortRows(data) {
  const by = value("sort");
  const lastChange = ({ cells }) => {
    const row = (cells[by] || [""])[0];
    return [...row].findLastIndex((sign, at) => at && sign !== row[at - 1]);
  };
  const key = { "": (entry) => entry.id, family: (entry) => entry.id, title: (entry) => entry.title, kind: (entry) => entry.kind, origin: (entry) => entry.origin }[by];
  const compared = key ? (a, b) => key(a).localeCompare(key(b)) : (a, b) => lastChange(b) - lastChange(a);
  const sorted = [...data.entries].sort((a, b) => compared(a, b) || (a.id < b.id ? -1 : 1));
  document.querySelector("#failures tbody").append(...sorted.map((entry) => document.getElementById(entry.id)));
  for (const head of document.querySelectorAll("#failures th[data-sort]")) {
    if (head.dataset.sort === by) head.setAttribute("aria-sort", key ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  }
}

// Restores the controls from the address. Returns true if the list has to be shown.
function restore() {
  const found = [...new URLSearchParams(location.hash.slice(1))].filter(([id]) => CONTROLS.includes(id));
  const list = found.length > 0 || location.hash === "#grid";
  if (list) for (const id of CONTROLS) document.getElementById(id).value = "";
  for (const [id, value] of found) document.getElementById(id).value = value;
  return list;
}

// --- the start of a page ---

async function copy(button) {
  const text = button.parentElement.querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // a file:// page may have no clipboard
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

for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));

function start(data) {
  const paste = document.getElementById("paste");
  const answer = () => data.complete && showAnswers(paste.value, data, document.getElementById("answers"));
  const fill = (text) => {
    paste.value = text;
    answer();
  };
  paste.addEventListener("input", answer);
  document.getElementById("example").addEventListener("click", () => fill(data.example));
  document.getElementById("clear").addEventListener("click", () => fill(""));
  const form = document.getElementById("filters");
  const refresh = () => {
    sortRows(data);
    filter(data);
  };
  form.addEventListener("input", (event) => (event.target.id === "sort" ? refresh() : filter(data)));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(refresh));
  for (const head of document.querySelectorAll("#failures th[data-sort]")) {
    const button = element("button", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      document.getElementById("sort").value = head.dataset.sort;
      refresh();
    });
    head.replaceChildren(button);
  }
  // apply values that were restored or typed before the data arrived
  if (restore() || CONTROLS.some(value)) refresh();
  addEventListener("hashchange", () => restore() && refresh());
  run("details.js", "The details did not load: answers do not work.", () => {
    complete(data, DETAILS);
    answer();
    document.documentElement.className = "js ready";
  });
}

// Adds the parts of failures and causes that only an answer shows.
function complete(data, details) {
  data.entries.forEach((entry, at) => Object.assign(entry, details.entries[at]));
  data.causes.forEach((group, at) => group.causes.forEach((cause, one) => Object.assign(cause, details.causes[at][one])));
  data.complete = true;
}

function run(source, failed, done) {
  const script = element("script");
  script.src = source;
  script.addEventListener("load", done);
  script.addEventListener("error", () => {  // the table is still readable
    document.documentElement.className = "js ready";
    document.getElementById("count").textContent = `${failed} Reload the page.`;
  });
  document.head.append(script);
}

// The data are larger than the page, and the initial view does not need them.
const load = () => run("data.js", "The data did not load: filters and answers do not work.", () => start(DATA));

if (document.getElementById("paste")) {
  if (document.documentElement.classList.contains("restoring")) load();
  else addEventListener("load", load);
}
