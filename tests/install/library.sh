#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What programs are linked with: libomprma.so is asked for by the interface's version, exports the
# functions of the public header under it and the private ones as OMPRMA_PRIVATE, and nothing else.
# Private headers are not installed.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

library=$BUILD_DIR/lib/libomprma.so
include=$SOURCE_DIR/include
interface=$(sed -nE 's/^#define OMPRMA_VERSION_STRING "([0-9]+\.[0-9]+)\..*/\1/p' "$include/omprma/omprma.h")
[ -n "$interface" ] || fail 'no version in omprma.h'

asked=$(readelf -d "$library" | sed -nE 's/.*\(SONAME\).*\[(.*)\]/\1/p')
[ "$asked" = "libomprma.so.$interface" ] || complain "programs ask for $asked"

declared() { # NODE HEADER...
    local node=$1
    shift
    sed -nE "s/^OMPRMA_API .*\\b(omprma_[a-z0-9_]+)\\(.*/\\1@@$node/p" "$@"
}
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
expected=$({ declared "OMPRMA_$interface" "$include/omprma/omprma.h" &&
    declared OMPRMA_PRIVATE "$include"/omprma_private/*.h; } | sort)
[ "$(wc -l <<<"$expected")" -gt 30 ] || complain 'the headers declare next to nothing'
difference=$(diff <(echo "$expected") <(echo "$exported")) || complain "declared < > exported: $difference"

cmake --install "$BUILD_DIR" --component development --prefix "$work/installed" >/dev/null
[ "$(cd "$work/installed/include" && find . -type f)" = ./omprma/omprma.h ] ||
    complain "installed headers: $(ls -R "$work/installed/include")"

finish "libomprma.so.$interface exports what its headers declare"
