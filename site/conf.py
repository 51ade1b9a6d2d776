"""How Sphinx builds the web site; `compendium.site.build` puts the sources together and calls it."""

import gc
import sys

from compendium.site import contrast

# A grammar of web addresses that myst_nb's imports would build, for a second, and that nobody asks for.
sys.modules.setdefault("rfc3987_syntax", None)
gc.disable()  # a build ends before its garbage takes much room; looking for it takes a sixth of the time

project = "The TableBuilder noise and its differential privacy"
author = "The tablebuilder-dp authors"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "compendium.site.reference"]
exclude_patterns = ["README.md", "pages"]

# Pages are the executed notebooks as they are; nothing is run, and nothing is asked of the network.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
mathjax_path = "tex-svg-full.js"
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would ask for files that are not here

highlight_language = "text"  # a block without a language is no code

default_role = "py:obj"  # `noise.pmf` in a docstring is a link if there is such an object, code otherwise
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_type_aliases = {
    "parameters.Number": "Number",
    **{name: name for name in ("Number", "Numbers", "AnyNoise", "AnyEnclosed", "Symmetric", "Rule", "Ball")},
    **{name: name for name in ("Array", "ArrayLike", "Keys", "Loss")},
}
add_module_names = False
python_maximum_signature_line_length = 115
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "The TableBuilder noise"
html_static_path = ["static"]
html_extra_path = ["paper/report.pdf", "paper/beyond.pdf"]
templates_path = ["templates"]
html_favicon = "static/favicon.svg"
html_css_files = ["palette.css", "site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which no page may do that is opened as a file
html_last_updated_fmt = None
html_permalinks_icon = "#"
html_sidebars = {
    "**": [f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation", "scroll-end")]
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {
    f"{mode}_css_variables": {
        f"color-brand-{use}": contrast.partner(contrast.COLOURS[name], dark=mode == "dark")
        for use, name in {"primary": "blue", "content": "blue", "visited": "purple"}.items()
    }
    | {"color-code-background": "var(--color-background-secondary)"}
    for mode in ("light", "dark")
}
