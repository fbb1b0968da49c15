// Handles over a picture: each is dragged, or moved by keys, from one place of its track to another.
//
// The picture is drawn anew in Python at every move, and replaced here as a whole. The handles are not part of it:
// they lie above it and stay, so that a drag goes on and the focus is kept while pictures change. A handle moves at
// once; `at` tells Python, as often as the kernel keeps up (Jupyter's widgets send the latest state when it is idle).

const NAMESPACE = "http://www.w3.org/2000/svg";
const AXIS = { x: 0, y: 1 };
const POINTER = { x: "clientX", y: "clientY" };
const LEAP = 5; // places for one press of Page Up or Page Down
const KEYS = {
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  PageUp: (at) => at + LEAP,
  PageDown: (at) => at - LEAP,
  Home: () => 0,
  End: (at, last) => last,
};

/** The number of the place that is nearest to a coordinate along "x" or "y"; of several, the one nearest to `at`. */
export function nearest(places, along, coordinate, at) {
  const far = (n) => Math.abs(places[n][AXIS[along]] - coordinate);
  let best = at;
  for (let n = 0; n < places.length; n++) {
    if (far(n) < far(best)) best = n;
  }
  return best;
}

/** The number of the place to which a key leads, or undefined for a key that does nothing here. */
export function afterKey(key, at, last) {
  return KEYS[key] && Math.min(last, Math.max(0, KEYS[key](at, last)));
}

function element(name, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** One handle: a ring with two arrow heads, a wider area to take it by, and its words, shown while it is moved. */
class Handle {
  constructor(name, move, unitsPerPixel) {
    this.name = name;
    this.at = 0;
    this.grip = null; // while it is dragged: where the pointer took it, and where it stood
    this.lines = ["reach", "ghost"].map((kind) => element("line", { class: kind }));
    this.knob = element(
      "g",
      {},
      element("circle", { class: "reach", r: "13" }),
      element("circle", { class: "ring", r: "9" }),
      element("path", { class: "arrows", d: "M12 -4L17 0L12 4ZM-12 -4L-17 0L-12 4Z" }),
    );
    this.words = element("text", {});
    this.mark = element(
      "g",
      { "data-handle": name, role: "slider", tabindex: "0", "data-lm-suppress-shortcuts": "true", "aria-valuemin": "0" },
      ...this.lines,
      this.knob,
      this.words,
    );
    const go = (at) => {
      if (at === this.at) return;
      this.stand(at);
      move(name, at);
    };
    this.mark.addEventListener("keydown", (event) => {
      const at = afterKey(event.key, this.at, this.track.places.length - 1);
      if (at === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      go(at);
    });
    this.mark.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || this.grip) return;
      event.preventDefault();
      this.mark.focus({ preventScroll: true });
      const { pointerId } = event;
      const { places, along } = this.track;
      this.grip = { from: event[POINTER[along]], stood: places[this.at][AXIS[along]] };
      const drag = (event) => {
        if (event.pointerId !== pointerId) return;
        const gone = (event[POINTER[along]] - this.grip.from) * unitsPerPixel();
        if (event.buttons) go(nearest(this.track.places, along, this.grip.stood + gone, this.at));
        else letGo(event); // it was let go where no page heard of it
      };
      const letGo = (event) => {
        if (event.pointerId !== pointerId) return;
        this.grip = null;
        listening.abort();
      };
      // By the window, which hears of the pointer wherever it goes. Chromium may drop a capture by the mark meanwhile.
      const listening = new AbortController();
      const everywhere = { capture: true, signal: listening.signal };
      window.addEventListener("pointermove", drag, everywhere);
      window.addEventListener("pointerup", letGo, everywhere);
      window.addEventListener("pointercancel", letGo, everywhere);
    });
  }

  /** Take a track as Python sends it: the handle's name, its way, its places and its line. */
  follow(track, width) {
    this.track = track;
    this.width = width;
    this.mark.dataset.along = track.along;
    this.mark.setAttribute("aria-label", track.label);
    this.mark.setAttribute("aria-orientation", track.along === "x" ? "horizontal" : "vertical");
    this.mark.setAttribute("aria-valuemax", track.places.length - 1);
    // Smaller where there is a line to take as well.
    this.knob.setAttribute("transform", `rotate(${track.along === "x" ? 0 : 90}) scale(${track.line ? 0.7 : 1})`);
    const [[x1, y1], [x2, y2]] = track.line || [[0, 0], [0, 0]];
    for (const line of this.lines) {
      for (const [key, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(key, value);
    }
  }

  stand(at) {
    this.at = Math.min(at, this.track.places.length - 1);
    const [x, y] = this.track.places[this.at];
    this.mark.setAttribute("transform", `translate(${x} ${y})`);
    this.mark.setAttribute("aria-valuenow", this.at);
    this.mark.setAttribute("aria-valuetext", this.track.words[this.at]);
    this.words.textContent = this.track.words[this.at];
    this.words.setAttribute("y", y < 40 ? 30 : -20); // below it where there is no room above
    this.words.setAttribute("text-anchor", x < 40 ? "start" : x > this.width - 40 ? "end" : "middle");
  }
}

function render({ model, el }) {
  const page = document.createElement("div");
  const overlay = element("svg", { class: "warpbook-handles", role: "group", "aria-label": "what can be dragged" });
  const handles = new Map();
  el.classList.add("warpbook-draggable");
  el.append(page, overlay);

  function move(name, at) {
    model.set("at", { ...model.get("at"), [name]: at });
    model.save_changes();
  }

  function unitsPerPixel() {
    return overlay.viewBox.baseVal.width / overlay.getBoundingClientRect().width;
  }

  /** Lay the overlay on the picture, wherever that is now. */
  function cover() {
    const picture = page.querySelector("figure svg");
    if (!picture) return;
    const [inner, outer] = [picture.getBoundingClientRect(), el.getBoundingClientRect()];
    overlay.setAttribute("viewBox", picture.getAttribute("viewBox"));
    overlay.style.left = `${inner.left - outer.left - el.clientLeft + el.scrollLeft}px`;
    overlay.style.top = `${inner.top - outer.top - el.clientTop + el.scrollTop}px`;
    overlay.style.width = `${inner.width}px`;
    overlay.style.height = `${inner.height}px`;
  }

  function follow() {
    const tracks = page.querySelector("figure svg") ? model.get("handles") : [];
    for (const track of tracks) {
      if (!handles.has(track.name)) {
        const made = new Handle(track.name, move, unitsPerPixel);
        handles.set(track.name, made);
        overlay.append(made.mark);
      }
      handles.get(track.name).follow(track, overlay.viewBox.baseVal.width);
    }
    const named = new Set(tracks.map((track) => track.name));
    for (const [name, handle] of handles) handle.mark.style.display = named.has(name) ? "" : "none";
    stand();
  }

  function stand() {
    for (const [name, at] of Object.entries(model.get("at"))) {
      const handle = handles.get(name);
      if (handle && !handle.grip) handle.stand(at); // what is dragged stands where the pointer has it
    }
  }

  function show() {
    page.innerHTML = model.get("value");
    cover();
    follow();
  }

  model.on("change:value", show);
  model.on("change:handles", follow);
  model.on("change:at", stand);
  show();
  const observer = new ResizeObserver(cover);
  observer.observe(el);
  return () => observer.disconnect();
}

export default { render };
