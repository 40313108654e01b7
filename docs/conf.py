"""Sphinx's settings: `sphinx-build -W docs build/docs` writes the documentation as HTML.

Pages under `generated/` are written first, from the program itself. With `-t online`, names of Python, NumPy and torch are links
to their documentation, whose inventories are downloaded. `python docs/build.py FOLDER` writes a folder for each version.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import generators  # noqa: E402

import pyptx  # noqa: E402

generators.write(HERE / "generated")

project, author, version = "pyptx", "the pyptx authors", pyptx.__version__
copyright = "the pyptx authors; Apache 2.0"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
exclude_patterns = ["generators", "_templates"]
default_role = "code"  # single backticks, as docstrings have them
suppress_warnings = ["autodoc.import_cycle", "autosummary.import_cycle", "ref.python"]

html_theme = "furo"  # light and dark, as the system or the reader chooses
html_title = f"pyptx {version}"
html_static_path = ["_static"]
html_css_files = ["pyptx.css"]
html_js_files = ["versions.js"]
html_show_sourcelink = False
html_copy_source = False
pygments_style, pygments_dark_style = "default", "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ |\(pyptx\) "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
autosummary_ignore_module_all = False
napoleon_use_ivar = True  # "Attributes:" repeats what dataclasses list

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "torch": ("https://docs.pytorch.org/docs/stable", None),
        "jax": ("https://docs.jax.dev/en/latest", None),
    }
    if tags.has("online")  # noqa: F821 (Sphinx defines it)
    else {}
)
