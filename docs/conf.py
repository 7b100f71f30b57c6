"""The documentation site: `make docs` builds it with Sphinx into site/. It works from disk, without a network."""

import os
import sys
from pathlib import Path

import fdmix

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the folder extensions
# Tutorials run in an empty folder. They find their data, this fdmix and its command there.
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE / "tutorials"), str(Path(fdmix.__file__).parents[1])])
os.environ["TTY_COMPATIBLE"] = "0"  # Jupyter asks programs for colours, which a page would show as escapes
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

project = "fdmix"
author = "The fdmix developers"
version = release = fdmix.__version__
html_title = f"fdmix {release}"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "extensions.docstrings",
    "extensions.full_size",
    "extensions.link_texts",
    "extensions.public_names",
    "extensions.commands",
]
exclude_patterns = ["README.md", "extensions", "static"]
nitpicky = False  # types of arguments name private aliases; links in pages are checked by MyST

smartquotes = False  # -- is the beginning of an option

# Pages are plain Markdown that GitHub shows, too: headings have the anchors that GitHub gives them.
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Tutorials are executed in each build; a cell that fails, fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 120

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False

# No page needs more of the theme than a table of contents and a search box: another name works, too.
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_search_summary = False  # summaries are fetched, which a browser refuses for files on disk
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
