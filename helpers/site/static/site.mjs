// What the site's pages do without a kernel: keep the reader's predictions, and show explorers' drawn states.

const KEPT = "warpbook-predictions";

function predictions() {
  try { return JSON.parse(localStorage.getItem(KEPT) ?? "{}"); } catch { return {}; }
}

function keep(key, said) {
  try { localStorage.setItem(KEPT, JSON.stringify({...predictions(), [key]: said})); } catch { /* not allowed here */ }
}

function showPrediction(form, said) {
  form.querySelector('[role="status"]').textContent = said === undefined ? "" : `Kept: ${said}. Now look at the next cell.`;
  for (const field of form.querySelectorAll("input")) {
    if (field.type === "radio") field.checked = field.value === said;
    else field.value = said ?? "";
  }
  for (const answer of document.querySelectorAll(".wb-answer")) {
    if (said !== undefined && answer.dataset.key === form.dataset.key) {
      answer.querySelector("summary").textContent = `You said ${said}. Open this to see what the cell shows.`;
    }
  }
}

for (const form of document.querySelectorAll(".wb-predict")) {
  const key = form.dataset.key;
  showPrediction(form, predictions()[key]);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    const said = event.target.value.trim();
    if (said) { keep(key, said); showPrediction(form, said); }
  });
}

// ---------------------------------------------------------------- what is wider than the page

// Readers without a mouse scroll what has the focus, so whatever can be scrolled can have it.
const scrolling = new ResizeObserver((entries) => {
  for (const {target} of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
const WIDE = ".cell_output, .pst-scrollable-table-container, figure[role=img], div[role=group], [style*=overflow-x]";
function follow(within) {
  for (const element of within.querySelectorAll(WIDE)) scrolling.observe(element);
}
for (const content of document.querySelectorAll(".bd-content")) follow(content);

// ---------------------------------------------------------------- explorers

async function unpacked(response) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).json();
}

class Explorer {
  constructor(element, folder, index) {
    this.element = element; this.folder = folder; this.index = index; this.pieces = new Map(); this.latest = 0;
    this.chosen = index.controls.map((control) => control.start); // numbers of values
    this.view = document.createElement("div");
    this.view.className = "wb-view";
    this.view.setAttribute("aria-live", "polite");
    this.view.append(...element.childNodes);
    const row = document.createElement("div");
    row.className = "wb-controls";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "controls");
    this.offer = index.controls.map((control, at) => this.control(control, at, row));
    element.append(row, this.view);
    this.state();
  }

  // A control in the row, and what sets the values that it offers, given as numbers, and the chosen one of them.
  control({name, kind, values}, at, row) {
    const label = document.createElement("label");
    const choose = (chosen) => { this.chosen[at] = chosen; this.show(); };
    row.append(label);
    if (kind === "box") {
      const box = Object.assign(document.createElement("input"), {type: "checkbox"});
      box.addEventListener("change", () => choose(Number(box.checked)));
      label.append(box, name);
      return (_offered, chosen) => { box.checked = chosen === 1; };
    }
    if (kind === "list") {
      const list = document.createElement("select");
      list.addEventListener("change", () => choose(Number(list.value)));
      label.append(name, list);
      let shown;
      return (offered, chosen) => {
        if (offered !== shown) list.replaceChildren(...offered.map((number) => new Option(values[number], number)));
        shown = offered;
        list.value = chosen;
      };
    }
    const range = Object.assign(document.createElement("input"), {type: "range", min: 0});
    const said = document.createElement("output");
    let numbers = [];
    range.addEventListener("input", () => choose(numbers[range.value]));
    label.append(name, range, said);
    return (offered, chosen) => {
      numbers = offered;
      range.max = offered.length - 1;
      range.value = offered.indexOf(chosen);
      said.textContent = values[chosen];
      range.setAttribute("aria-valuetext", values[chosen]);
    };
  }

  // The number of the view for what is chosen. What a control no longer offers becomes the nearest value before it.
  state() {
    let node = this.index.states;
    for (const at of this.index.order) {
      const [offer, ...children] = node;
      const offered = this.index.offers[offer];
      const place = Math.max(0, offered.findLastIndex((number) => number <= this.chosen[at]));
      this.chosen[at] = offered[place];
      this.offer[at](offered, offered[place]);
      node = children[place];
    }
    return node;
  }

  async show() {
    const turn = ++this.latest;
    const [piece, place] = this.index.views[this.state()];
    if (!this.pieces.has(piece)) {
      this.pieces.set(piece, fetch(`${this.folder}/${piece}.json.gz`).then(unpacked));
      this.view.setAttribute("aria-busy", "true");
    }
    try {
      const html = (await this.pieces.get(piece))[place];
      if (turn === this.latest) { this.view.innerHTML = html; follow(this.view); }
    } catch (error) {
      this.pieces.delete(piece);
      if (turn === this.latest) this.view.textContent = `This state couldn't be loaded (${error.message}). Move a control to try again.`;
    }
    if (turn === this.latest) this.view.removeAttribute("aria-busy");
  }
}

async function open(element) {
  const root = document.documentElement.dataset.content_root ?? "./";
  const folder = root + element.dataset.states;
  const found = await fetch(`${folder}/index.json`).catch(() => undefined);
  if (found?.ok) new Explorer(element, folder, await found.json());
}

// An explorer's controls are made when it comes near: a chapter has several, and readers may see none of them.
const near = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (isIntersecting) { near.unobserve(target); open(target); }
  }
}, {rootMargin: "600px"});
for (const element of document.querySelectorAll(".wb-explorer")) near.observe(element);
