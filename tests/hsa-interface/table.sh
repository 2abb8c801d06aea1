#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The tables of docs/reference/hsa.md are those of which the library is made. With --write they are made so.
set -euo pipefail
: "${SOURCE_DIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
# shellcheck source=tests/hsa-interface/common.sh
. "$SOURCE_DIR/tests/hsa-interface/common.sh"

page=$SOURCE_DIR/docs/reference/hsa.md
compile "$here/table.c" "$work/table"
sed '/^## Functions that are served$/,$d' "$page" >"$work/page"
"$work/table" "$here/consumers" >>"$work/page"
if [ "${1:-}" = --write ]; then
    cp "$work/page" "$page"
    exit
fi
diff "$page" "$work/page" || { echo 'docs/reference/hsa.md is out of date; tests/hsa-interface/table.sh --write makes it' && exit 1; }
