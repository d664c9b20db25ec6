"use strict";

// The page of the playground. Its numbers come from metrics.js.
(() => {
  const MAX_DOCUMENTS = 20;
  const EXAMPLE = { A: [3, 0.9], B: [2, 0.8], C: [3, 0.7], D: [0, 0.5], E: [1, 0.4], F: [2, 0.3] };
  const MEAN_NOTE = "Tied documents share the mean of their values: the expectation over their orders.";
  const HAZARD_NOTE = "In a tie, probabilities are means over the orders of the tied documents.";

  const sumTo = ({ k }) => `Σ<sub>i ≤ ${k ?? "n"}</sub>`;
  const GAINS = { linear: "label<sub>i</sub>", exp2: "(2<sup>label<sub>i</sub></sup> − 1)" };
  const DISCOUNTS = { log2: "log<sub>2</sub>(i + 1)", reciprocal: "i" };
  const discountedGain = (now) => `${sumTo(now)} ${GAINS[now.gain]} / ${DISCOUNTS[now.discount]}`;

  // How each metric is shown: its formula, the headings of the columns of its terms, and the call in Python.
  const SHOWN = {
    ndcg: {
      card: "NDCG", python: "ndcg_score", options: ["gain", "discount", "k"],
      note: `The column “ideal” has gain / discount of the ideal order. ${MEAN_NOTE}`,
      formula: (now) => `NDCG = DCG / DCG of the ideal order, with DCG = ${discountedGain(now)}`,
      heads: { gain: "gain", discount: "discount", ideal: "ideal", term: "gain / discount" }, divisor: "the DCG of the ideal order",
    },
    dcg: {
      card: "DCG", python: "dcg_score", options: ["gain", "discount", "k"], note: MEAN_NOTE,
      formula: (now) => `DCG = ${discountedGain(now)}`,
      heads: { gain: "gain", discount: "discount", term: "gain / discount" },
    },
    map: {
      card: "AP", python: "map_score", options: ["k"],
      note: "R is the number of relevant documents. In a tie, rel × hits is its mean over the orders of the documents.",
      formula: (now) => `AP = ${sumTo(now)} rel<sub>i</sub> × hits@i / i, divided by min(k, R)`,
      heads: { products: "rel × hits@i", term: "rel × hits@i / i" }, divisor: "min(k, R)",
    },
    mrr: {
      card: "RR", python: "mrr_score", options: ["k"],
      note: `The probability that none is relevant above the rank, and that the first is found there. ${HAZARD_NOTE}`,
      formula: () => "RR = 1 / rank of the first relevant document",
      heads: { reached: "reached", stopped: "found", reciprocal: "1 / i", term: "found / i" },
    },
    err: {
      card: "ERR", python: "err_score", options: ["k"],
      note: `A reader who reaches a document stops there, satisfied, with probability s = (2<sup>label</sup> − 1) /
        2<sup>4</sup>, or else goes on. ${HAZARD_NOTE}`,
      formula: (now) => `ERR = ${sumTo(now)} 1/i × s<sub>i</sub> × Π<sub>j &lt; i</sub> (1 − s<sub>j</sub>)`,
      heads: { reached: "reached", stopped: "stops", reciprocal: "1 / i", term: "stops / i" },
    },
    rbp: {
      card: "RBP", python: "rbp_score", options: ["k", "p"], note: MEAN_NOTE,
      formula: (now) => `RBP = (1 − p) ${sumTo(now)} p<sup>i − 1</sup> × rel<sub>i</sub>`,
      heads: { relevance: "rel", weight: "(1 − p) pⁱ⁻¹", term: "rel × weight" },
    },
    precision: {
      card: "Precision", python: "precision_at_k_score", options: ["k"], note: MEAN_NOTE,
      formula: () => "Precision = hits@k / k", heads: { term: "hit" }, divisor: "k",
    },
    recall: {
      card: "Recall", python: "recall_at_k_score", options: ["k"], note: MEAN_NOTE,
      formula: () => "Recall = hits@k / R, the number of relevant documents", heads: { term: "hit" }, divisor: "R",
    },
    kendall: {
      card: "Kendall distance", python: "kendall_tau_distance", options: [],
      note: "It has no cutoff. Of averaged ties, each pair with different labels counts 1/2, at its first rank.",
      formula: () => "Kendall distance = number of pairs of documents with the smaller label ranked above",
      heads: { term: "larger labels below" },
    },
  };
  const DEFAULTS = { gain: "linear", discount: "log2", ties: "average", k: null, p: 0.8 };
  const TIES_HINTS = {
    average: "average: the expected value over all orders of tied documents.",
    best: "best: tied documents by label, largest first.",
    worst: "worst: tied documents by label, smallest first.",
    stable: "stable: tied documents in the order of the rows, here from top to bottom.",
  };

  const byId = (id) => document.getElementById(id);
  const list = byId("documents");
  const form = byId("options");

  /** Documents in the order of rows, which is that of scores; where scores tie, the place of a row is its own. */
  let rows = [];
  let results = {};
  const elements = new Map();

  // --- Where a document goes, and with which score

  const option = (name) => form.elements[name].value;
  const options = () => ({
    gain: option("gain"),
    discount: option("discount"),
    ties: option("ties"),
    k: option("k") === "" ? null : Number(option("k")),
    p: Number(option("p")),
  });
  const ranking = (of = rows) => rankingMetrics.rankDocuments(of, option("ties"));

  /** The shortest decimal between two scores, either of which may be absent; the score itself if both are equal. */
  function scoreBetween(above, below) {
    if (above === undefined && below === undefined) return 1;
    if (above === undefined) return Number((Math.floor(below * 10 + 1 + 1e-9) / 10).toFixed(1));
    if (below === undefined) return Number((Math.ceil(above * 10 - 1 - 1e-9) / 10).toFixed(1));
    const middle = above + (below - above) / 2;
    for (let digits = 0; digits <= 15; digits++) {
      const score = Number(middle.toFixed(digits));
      if (below < score && score < above) return score;
    }
    return middle;
  }

  /** The rows after a document was put at an index of the ranking, with a score between its new neighbours. */
  function placed(before, item, index) {
    const others = ranking(before).filter((other) => other.name !== item.name);
    const above = others[index - 1];
    const moved = { ...item, score: scoreBetween(above?.score, others[index]?.score) };
    const rest = before.filter((other) => other.name !== item.name);
    rest.splice(rest.findIndex((other) => other.name === above?.name) + 1, 0, moved);
    return rest.sort((a, b) => b.score - a.score);
  }

  /** The rows after an arrow key: a swap with the neighbour, but from the edge of a tie first out of it. */
  function stepped(before, item, step) {
    const order = ranking(before);
    const index = order.findIndex((other) => other.name === item.name);
    const isTied = (other) => other?.score === item.score;
    const neighbour = order[index + step];
    const labelsDecide = ["best", "worst"].includes(option("ties"));
    if (isTied(neighbour) && !labelsDecide) {
      [order[index], order[index + step]] = [neighbour, item];
      return order;
    }
    if (isTied(neighbour) || isTied(order[index - step])) {
      let beyond = index;
      while (isTied(order[beyond])) beyond += step;
      const limits = [order[beyond]?.score, item.score];
      return withScore(before, item, scoreBetween(...(step < 0 ? limits : limits.reverse())));
    }
    return neighbour ? placed(before, item, index + step) : before;
  }

  function withScore(before, item, score) {
    const after = before.map((other) => (other.name === item.name ? { ...other, score } : other));
    return after.sort((a, b) => b.score - a.score);
  }

  // --- What is shown

  const asValue = (value) => (Number.isNaN(value) ? "undefined" : value.toFixed(4));
  const asTerm = (value) => String(Number(value.toFixed(4))).replace("-", "−");
  const chosen = () => document.querySelector("#metrics input:checked").value;

  function make(tag, attributes = {}, ...children) {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  }

  /** Put the rows into ranked order without touching that of `still`, which has the focus or the pointer. */
  function reorder(order, still) {
    const all = order.map((item) => elements.get(item.name).row);
    for (const row of [...list.children]) if (!all.includes(row)) row.remove();
    const fixed = all.indexOf(elements.get(still)?.row);
    all.slice(0, Math.max(fixed, 0)).forEach((row) => list.insertBefore(row, all[fixed]));
    all.slice(fixed + 1).forEach((row) => list.append(row));
  }

  function showDocuments(still) {
    const order = ranking();
    const { k } = options();
    reorder(order, still);
    order.forEach((item, i) => {
      const { row, rank, handle, label, score, remove } = elements.get(item.name);
      const tiedAbove = order[i - 1]?.score === item.score;
      const tied = tiedAbove || order[i + 1]?.score === item.score;
      row.classList.toggle("tied", tied);
      row.classList.toggle("tie-start", tied && !tiedAbove);
      row.classList.toggle("behind", k !== null && i >= k);
      row.classList.toggle("last", i === k - 1 && k < order.length);
      rank.textContent = i + 1;
      handle.setAttribute("aria-label", `Move ${item.name}, rank ${i + 1} of ${order.length}${tied ? ", tied" : ""}`);
      label.value = item.label;
      if (document.activeElement !== score || Number(score.value) !== item.score) score.value = item.score;
      score.removeAttribute("aria-invalid");
      remove.disabled = order.length === 1;
    });
    byId("add").disabled = order.length === MAX_DOCUMENTS;
  }

  function showValues() {
    for (const [name, { value }] of Object.entries(results)) {
      const shown = byId(`value-${name}`);
      shown.value = value;
      shown.textContent = asValue(value);
      shown.classList.toggle("undefined", Number.isNaN(value));
    }
    byId("undefined-note").hidden = !Number.isNaN(results.ndcg.value);
    byId("p-shown").value = option("p");
    byId("ties-hint").textContent = TIES_HINTS[option("ties")];
  }

  function showTerms() {
    const { columns, terms, divisor, value } = results[chosen()];
    const { formula, note, heads, divisor: divisorName, card } = SHOWN[chosen()];
    byId("formula").innerHTML = formula(options());
    byId("formula-hint").innerHTML = note;
    const all = { ...columns, term: terms };
    const titles = { rank: "Rank i", document: "Doc.", label: "Label", ...heads };
    const head = make("tr", {}, ...Object.entries(titles).map(([name, text]) =>
      make("th", { scope: "col", textContent: text, className: name })));
    const body = ranking().map((item, i) => {
      const cells = Object.keys(heads).map((name) => make("td", {
        textContent: i < terms.length ? asTerm(all[name][i]) : "–", className: name,
      }));
      return make("tr", { className: i < terms.length ? "" : "behind" },
        make("th", { scope: "row", textContent: i + 1 }), make("td", { textContent: item.name, className: "document" }),
        make("td", { textContent: item.label }), ...cells);
    });
    const total = terms.reduce((a, b) => a + b, 0);
    const foot = make("tr", {}, make("th", { scope: "row", textContent: "Sum", colSpan: 2 + Object.keys(heads).length }),
      make("td", { textContent: asTerm(total) }));
    byId("terms").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body), make("tfoot", {}, foot));
    const sum = divisorName ? `${asTerm(total)} / ${asTerm(divisor)} (${divisorName})` : terms.map(asTerm).join(" + ");
    byId("sum").textContent = `${card} = ${sum} = ${asValue(value)}`;
  }

  /** The call that gives the chosen value, with the options that are not the defaults. */
  function showPython() {
    const { python, options: names } = SHOWN[chosen()];
    const now = options();
    const literal = (value) => (typeof value === "string" ? `"${value}"` : value);
    const others = [...names, "ties"].filter((name) => now[name] !== DEFAULTS[name]);
    const lines = [
      `[[${rows.map((item) => item.label).join(", ")}]],`,
      `[[${rows.map((item) => item.score).join(", ")}]],`,
      ...others.map((name) => `${name}=${literal(now[name])},`),
    ];
    byId("python").textContent =
      `from skrank_metrics import ${python}\n\n${python}(\n${lines.map((line) => `    ${line}\n`).join("")})`;
  }

  // --- Links: documents, options and the chosen metric behind the "#" of the address

  function link() {
    const now = Object.entries(options()).filter(([name, value]) => value !== DEFAULTS[name]);
    const documents = rows.map(({ name, label, score }) => `${name}_${label}_${score}`).join("*");
    return `#${new URLSearchParams([["documents", documents], ["metric", chosen()], ...now])}`;
  }

  /** The rows of a link; null if there are none, or they are not what this page writes. */
  function linkedRows(documents) {
    const found = (documents ?? "").split("*").map((text) => {
      const [name, label, score, ...rest] = text.split("_");
      const isValid = /^[A-Z]$/.test(name) && /^[0-4]$/.test(label) && score && !rest.length && Number.isFinite(Number(score));
      return isValid ? { name, label: Number(label), score: Number(score) } : null;
    });
    const distinct = new Set(found.map((item) => item?.name)).size === found.length;
    return distinct && found.length <= MAX_DOCUMENTS && found.every(Boolean) ? found : null;
  }

  function followLink() {
    const given = new URLSearchParams(location.hash.slice(1));
    const linked = linkedRows(given.get("documents"));
    if (!linked) return;
    show(linked);
    for (const name of Object.keys(DEFAULTS)) {
      const control = form.elements[name];
      const known = control.options ? [...control.options].some((one) => one.value === given.get(name)) : given.has(name);
      if (known) control.value = given.get(name);
    }
    if (Object.hasOwn(SHOWN, given.get("metric"))) document.querySelector(`#metrics [value=${given.get("metric")}]`).checked = true;
    update();
  }

  /** Compute and show everything, and say what became of the chosen metric. */
  function update(said = "", still = undefined) {
    results = rankingMetrics.evaluate(rows, options());
    showDocuments(still);
    showValues();
    showTerms();
    showPython();
    byId("link").setAttribute("href", link());
    if (said) byId("status").textContent = `${said} ${SHOWN[chosen()].card} ${asValue(results[chosen()].value)}.`;
  }

  function sayPlace(name) {
    const order = ranking();
    const index = order.findIndex((item) => item.name === name);
    const tied = order.some((item) => item.name !== name && item.score === order[index].score);
    return `${name} at rank ${index + 1} of ${order.length}, score ${order[index].score}${tied ? ", tied" : ""}.`;
  }

  // --- What the visitor does

  const find = (name) => rows.find((item) => item.name === name);

  /** Put a dragged document where the pointer is, from the rows as they were; all rows have the same height. */
  function follow(name, before, y) {
    const { top } = list.getBoundingClientRect();
    const index = Math.floor((y - top) / elements.get(name).row.offsetHeight);
    const target = Math.min(Math.max(index, 0), before.length - 1);
    const start = ranking(before).findIndex((item) => item.name === name);
    rows = target === start ? before : placed(before, find(name), target);
    update("", name);
    if (y > window.innerHeight - 40) window.scrollBy(0, 12);
    if (y < 40 && top < 0) window.scrollBy(0, -12);
  }

  function drag(name, event) {
    if (event.button !== 0) return;
    const before = rows;
    const { row, handle } = elements.get(name);
    const stop = new AbortController();
    const listen = (type, react) => window.addEventListener(type, react, { signal: stop.signal });
    const end = (after) => {
      stop.abort();
      row.classList.remove("dragged");
      rows = after;
      update(sayPlace(name), name);
    };
    event.preventDefault();
    handle.focus();
    row.classList.add("dragged");
    listen("pointermove", (move) => move.pointerId === event.pointerId && follow(name, before, move.clientY));
    listen("pointerup", (up) => up.pointerId === event.pointerId && end(rows));
    listen("pointercancel", (up) => up.pointerId === event.pointerId && end(before));
    listen("keydown", (key) => key.key === "Escape" && end(before));
  }

  function onKey(name, event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    rows = stepped(rows, find(name), step);
    update(sayPlace(name), name);
  }

  function onLabel(name, text) {
    rows = rows.map((item) => (item.name === name ? { ...item, label: Number(text) } : item));
    update(`Label of ${name} is ${text}.`, name);
  }

  function onScore(name, input) {
    if (elements.get(name)?.score !== input) return; // a row that was removed loses the focus
    if (!Number.isFinite(input.valueAsNumber)) {
      input.setAttribute("aria-invalid", "true");
      byId("status").textContent = `The score of ${name} must be a number; it is still ${find(name).score}.`;
      return;
    }
    rows = withScore(rows, find(name), input.valueAsNumber);
    update(sayPlace(name), name);
  }

  function onRemove(name) {
    const order = ranking();
    const index = order.findIndex((item) => item.name === name);
    rows = rows.filter((item) => item.name !== name);
    elements.delete(name);
    update(`${name} removed.`);
    elements.get((order[index + 1] ?? order[index - 1]).name).remove.focus();
  }

  function addRow(name) {
    const rank = make("span", { className: "rank" });
    const handle = make("button", { type: "button", className: "handle" }, make("span", { textContent: name }));
    handle.setAttribute("aria-describedby", "how-to-move");
    const label = make("select", { ariaLabel: `Label of ${name}` }, ...[0, 1, 2, 3, 4].map((grade) => new Option(grade)));
    const score = make("input", { type: "number", step: "any", ariaLabel: `Score of ${name}` });
    const remove = make("button", { type: "button", className: "remove", textContent: "✕", ariaLabel: `Remove ${name}` });
    handle.addEventListener("pointerdown", (event) => drag(name, event));
    handle.addEventListener("keydown", (event) => onKey(name, event));
    label.addEventListener("input", () => onLabel(name, label.value));
    score.addEventListener("change", () => onScore(name, score));
    remove.addEventListener("click", () => onRemove(name));
    const row = make("li", {}, rank, handle, label, score, remove);
    row.dataset.name = name;
    elements.set(name, { row, rank, handle, label, score, remove });
  }

  function onAdd() {
    const names = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const name = [...names].find((letter) => !find(letter));
    addRow(name);
    rows = [...rows, { name, label: 0, score: scoreBetween(rows.at(-1)?.score, undefined) }];
    update(`${name} added.`);
    elements.get(name).label.focus();
  }

  /** Documents by label, which take the scores in their order; equal scores are spread, so that none tie. */
  function onIdeal() {
    const distinct = new Set(rows.map((item) => item.score)).size === rows.length;
    const scores = rows.map((item, i) => (distinct ? item.score : Number(((rows.length - i) / 10).toFixed(1))));
    rows = [...rows].sort((a, b) => b.label - a.label).map((item, i) => ({ ...item, score: scores[i] }));
    update("Ideal order.");
  }

  function onTieAll() {
    rows = rows.map((item) => ({ ...item, score: 1 }));
    update("All scores are 1.");
  }

  /** Show other documents, with the options of the page when it was opened. */
  function show(others) {
    elements.clear();
    form.reset();
    rows = [...others].sort((a, b) => b.score - a.score);
    rows.forEach((item) => addRow(item.name));
  }

  function onReset() {
    show(Object.entries(EXAMPLE).map(([name, [label, score]]) => ({ name, label, score })));
    update("Reset.");
  }

  function start() {
    for (const [name, { card }] of Object.entries(SHOWN)) {
      const radio = make("input", { type: "radio", name: "metric", value: name, checked: name === "ndcg" });
      const title = make("span", { textContent: card });
      byId("metrics").append(make("label", { className: "card" }, radio, title, make("data", { id: `value-${name}` })));
    }
    for (let k = 1; k <= 10; k++) form.elements.k.append(new Option(k));
    byId("metrics").addEventListener("change", () => update(`Terms of ${SHOWN[chosen()].card}.`));
    form.addEventListener("input", () => update("Options changed."));
    form.addEventListener("submit", (event) => event.preventDefault());
    Object.entries({ add: onAdd, ideal: onIdeal, "tie-all": onTieAll, reset: onReset }).forEach(([id, react]) =>
      byId(id).addEventListener("click", react),
    );
    window.addEventListener("hashchange", followLink);
    onReset();
    followLink();
    byId("status").textContent = "";
  }

  start();
})();
