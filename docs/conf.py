"""Sphinx's settings: `sphinx-build -W docs build/docs` writes the documentation as HTML.

Pages under `generated/` are written first, from the instruction table and the command line.
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
    "sphinx.ext.duration",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
exclude_patterns = ["generators", "_templates"]
autosummary_ignore_module_all = False
html_theme = "furo"
html_title = "pyptx"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
napoleon_use_ivar = True  # "Attributes:" repeats what dataclasses list
myst_enable_extensions = ["colon_fence", "deflist"]
default_role = "code"  # single backticks, as docstrings have them
myst_heading_anchors = 3
suppress_warnings = ["autodoc.import_cycle", "autosummary.import_cycle", "ref.python"]
