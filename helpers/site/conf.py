"""Sphinx's configuration of the site; `build` says where pages are read and written."""

project = "Warpbook"
html_title = "Warpbook"
copyright = "The Warpbook authors"
extensions = ["myst_nb", "helpers.site.links"]
html_theme = "sphinx_book_theme"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = [("site.mjs", {"type": "module"})]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_download_button": True,
    "use_fullscreen_button": False,
    "use_issues_button": False,
    "use_source_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
nb_execution_mode = "off"  # what the notebooks store is what readers see
nb_merge_streams = True
nb_number_source_lines = False
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3
myst_heading_slug_func = "helpers.workbook.markdown.anchor"  # as in JupyterLab, so that links hold on both
mathjax3_config = {"startup": {"typeset": True}}
