// Figures are white cards, stored with their colours, so that they read the same everywhere. In JupyterLab's dark theme
// this style takes their glare away, and leaves their contrast as it is.
//
// A federated extension of JupyterLab without a build, as `warpbook_cuda` is.
"use strict";

(() => {
  const CARDS = ["figure[role=img]", "div[role=group][aria-label]"].map((card) => ".jp-OutputArea " + card).join(", ");
  const STYLE = `body[data-jp-theme-light="false"] :is(${CARDS}) { filter: brightness(0.8); }`;

  const plugin = {
    id: "warpbook_cards:plugin",
    autoStart: true,
    activate: () => {
      const style = document.createElement("style");
      style.textContent = STYLE;
      document.head.append(style);
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["warpbook_cards"] = {
    init: () => {},
    get: async () => () => ({__esModule: true, default: plugin}),
  };
})();
