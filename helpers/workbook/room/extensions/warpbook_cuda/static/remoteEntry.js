// CUDA C in the strings of Python cells, in colours: JupyterLab's own parser of C++ reads each string that holds a
// kernel, and JupyterLab's own style says which colours.
//
// This is a federated extension of JupyterLab, small enough to be written as it is served, without a build: the page
// calls `init` with the modules that it shares, and `get` for the plugin.
"use strict";

(() => {
  const KERNEL = /\b__(global|device)__\b/;
  const QUOTES = /^[a-zA-Z]{0,2}("""|'''|"|')/;
  const PLAIN = "warpbook-plain";
  let shared;

  const shares = async (name) => (await Object.values(shared[name])[0].get())();

  const make = async () => {
    const [jupyter, state, language, highlight, views] = await Promise.all(
      ["@jupyterlab/codemirror", "@codemirror/state", "@codemirror/language", "@lezer/highlight", "@codemirror/view"].map(shares)
    );

    // Marks over a string that holds a kernel: it has no colour as a whole, and its words have their own.
    const marks = (parser, text, from) => {
      const quotes = QUOTES.exec(text);
      const start = from + quotes[0].length, end = from + text.length - quotes[1].length;
      if (start >= end) return [];
      const found = [views.Decoration.mark({class: PLAIN}).range(start, end)];
      const source = text.slice(start - from, end - from);
      highlight.highlightTree(parser.parse(source), jupyter.jupyterHighlightStyle, (a, b, name) => {
        found.push(views.Decoration.mark({class: name}).range(start + a, start + b));
      });
      return found;
    };

    const coloured = (parser) => {
      const all = (view) => {
        const found = [];
        let seen = -1;  // a long string may be in sight twice
        for (const {from, to} of view.visibleRanges) {
          language.syntaxTree(view.state).iterate({from, to, enter: (node) => {
            if (node.name !== "String" || node.from <= seen) return;
            seen = node.from;
            const text = view.state.doc.sliceString(node.from, node.to);
            if (KERNEL.test(text)) found.push(...marks(parser, text, node.from));
          }});
        }
        return views.Decoration.set(found);
      };
      class Marks {
        constructor(view) { this.marks = all(view); }
        update(update) {
          const parsed = language.syntaxTree(update.startState) !== language.syntaxTree(update.state);
          if (update.docChanged || update.viewportChanged || parsed) this.marks = all(update.view);
        }
      }
      const plain = views.EditorView.baseTheme({["." + PLAIN]: {color: "var(--jp-content-font-color1)"}});
      // Of two marks the one of higher precedence is the inner one, whose colour is seen.
      return [plain, state.Prec.highest(views.ViewPlugin.fromClass(Marks, {decorations: (plugin) => plugin.marks}))];
    };

    return {
      id: "warpbook_cuda:plugin",
      autoStart: true,
      requires: [jupyter.IEditorExtensionRegistry, jupyter.IEditorLanguageRegistry],
      activate: async (app, extensions, languages) => {
        const cpp = await languages.getLanguage("text/x-c++src");
        extensions.addExtension({
          name: "warpbook_cuda",
          factory: () => jupyter.EditorExtensionRegistry.createImmutableExtension(coloured(cpp.support.language.parser)),
        });
      },
    };
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["warpbook_cuda"] = {
    init: (scope) => { shared = scope; },
    get: async () => {
      const plugin = await make();
      return () => ({__esModule: true, default: plugin});
    },
  };
})();
