#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installed documents are those for users, and each link in them leads to another one; what is not installed is named in words.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
cmake --install "$BUILD_DIR" --prefix "$work/tree" >"$work/log" || { cat "$work/log" && fail 'cmake --install failed'; }
documents=$work/tree/share/doc/omprma
for page in README.md CHANGELOG.md SECURITY.md CITATION.cff perf/README.md docs/how-to/install.md examples/saxpy.c; do
    [ -s "$documents/$page" ] || complain "no $page"
done
! ls "$documents"/docs/{design-notes,lab,site,architecture.md} 2>/dev/null || complain 'pages for developers are installed'
env "SOURCE_DIR=$documents" bash "$SOURCE_DIR/tests/style/links.sh" || complain 'see above'
grep -qF 'To change omprma: CONTRIBUTING.md. To cite it:' "$documents/README.md" || complain 'the words of a link are gone'
! grep -rnP '[\t\x01]\(' "$documents" --include='*.md' || complain 'a mark was left behind'
finish 'installed documents have no link that leads nowhere'
