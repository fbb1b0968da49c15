// What screen readers say of the sliders and players of ipywidgets, which gives them neither a name nor, where a slider
// goes over options, the option that it stands at: a slider has the words of its label and of what it reads. A
// closed list gets the arrow keys, which JupyterLab would take to go to another cell.
//
// A federated extension that is served as it is written, as `warpbook_cuda` is.
"use strict";

(() => {
  const CONTROLS = ".widget-slider, .widget-play, .widget-dropdown";
  const BUTTONS = {"fa-play": "play", "fa-pause": "pause", "fa-stop": "stop", "fa-retweet": "repeat"};

  const set = (element, name, words) => {  // an equal value would be one more change to observe
    if (words && element.getAttribute(name) !== words) element.setAttribute(name, words);
  };

  const name = (control) => {
    const words = (part) => control.querySelector(part)?.textContent.trim();
    for (const handle of control.querySelectorAll('[role="slider"]')) {
      set(handle, "aria-label", words(".widget-label"));
      set(handle, "aria-valuetext", words(".widget-readout"));
    }
    for (const icon of control.querySelectorAll(".widget-play button > .fa")) {
      const kind = Object.keys(BUTTONS).find((each) => icon.classList.contains(each));
      set(icon.parentElement, "aria-label", BUTTONS[kind]);
    }
    for (const list of control.querySelectorAll("select")) set(list, "data-lm-suppress-shortcuts", "true");
  };

  const observe = (records) => {
    const changed = new Set();
    for (const {target, addedNodes} of records) {
      const around = [target, ...addedNodes].map((node) => node.closest?.(CONTROLS));
      const within = [...addedNodes].flatMap((node) => [...(node.querySelectorAll?.(CONTROLS) ?? [])]);
      for (const control of [...around, ...within]) if (control) changed.add(control);
    }
    changed.forEach(name);
  };

  const plugin = {
    id: "warpbook_names:plugin",
    autoStart: true,
    activate: () => {
      const which = {subtree: true, childList: true, attributeFilter: ["aria-valuetext", "class"]};
      new MutationObserver(observe).observe(document.body, which);
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["warpbook_names"] = {
    init: () => {},
    get: async () => () => ({__esModule: true, default: plugin}),
  };
})();
