// How a page looks: lines of prose as long as in a book, pictures that are dark where the theme is, and tracebacks whose
// colours can be read on JupyterLab's red ground.
//
// Pictures are images on white cards, which inherit no colours from the page. Turning their lightness around and their
// hues back keeps the colours apart for readers who confuse some. Images of data stay as they are. What JupyterLab has no setting for is a style sheet
// here, added by a federated extension that is served as it is written, as `warpbook_cuda` is.
"use strict";

(() => {
  const STYLE = `
    .jp-RenderedMarkdown > :is(p, ul, ol, blockquote, details, h1, h2, h3, h4) { max-width: 42em; }
    .jp-RenderedMarkdown table { margin-left: 0; }
    [data-jp-theme-light="false"] .jp-OutputArea
    :is(figure[role="img"]:not(.warpbook-images), div[role="group"][aria-label]) {
      filter: invert(0.9) hue-rotate(180deg);
    }
    [data-jp-theme-light="true"] :is([data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"]) {
      .ansi-red-fg { color: #a61b16; }
      .ansi-green-fg { color: #00602f; }
      .ansi-yellow-fg { color: #6f5200; }
      .ansi-cyan-fg { color: #005f62; }
    }
  `;

  const plugin = {
    id: "warpbook_page:plugin",
    autoStart: true,
    activate: () => {
      const sheet = document.createElement("style");
      sheet.textContent = STYLE;
      document.head.appendChild(sheet);
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["warpbook_page"] = {
    init: () => {},
    get: async () => () => ({__esModule: true, default: plugin}),
  };
})();
