// How a page looks: lines of prose as long as in a book, and pictures that are dark where the theme is.
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
