# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's settings for the site: Debian's python3-sphinx, -myst-parser and -sphinx-rtd-theme. It can
be read without a network; cmake/Site.cmake lays out the folder that it is made from."""
project = "omprma"
html_title = "omprma"
extensions = ["myst_parser"]
root_doc = "index"
# All other folders are there for links to files, which become downloads.
include_patterns = ["index.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md",
                    "docs/*/*.md", "examples/README.md", "perf/README.md", "tests/*/README.md"]
exclude_patterns = ["docs/site/*"]
myst_heading_anchors = 5
html_theme = "sphinx_rtd_theme"
html_static_path = ["narrow.css"]
html_css_files = ["narrow.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
highlight_language = "none"
