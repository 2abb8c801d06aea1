#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# perf/graphs runs each pattern in its three versions, whose results it compares with a model's, and
# prints a line for each limit. How fast anything is, is not looked at here.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77
clang=$(find "$SOURCE_DIR"/build/toolchains/llvm-*/bin/clang 2>/dev/null | tail -n 1)
[ -n "$clang" ] && command -v mpicc >/dev/null || exit 77
llvm=${clang%/bin/clang}

timeout 240 "$SOURCE_DIR/perf/graphs" --quick --llvm "${llvm##*-}" --workers 2 --rows "$folder/rows" \
    --bin "$BUILD_DIR/bin" >"$folder/lines" 2>"$folder/err"
check 'status' "$?" 0
check 'lines on stderr' "$(grep -vc '^graphs: turn ' "$folder/err")" 0
for version in auto hand mpi; do
    check "lengths by $version" "$(grep -c "^GRAPH $version .* 2 " "$folder/rows")" "$((6 * 11))"
done
check 'what a stencil moves' "$(grep -c '^MOVED stencil 2 [1-9]' "$folder/rows")" 1
for name in finest-us over-by-hand; do
    check "lines $name" "$(grep -cE "^(pass|MISS) +[a-z]+-$name " "$folder/lines")" 6
done
check 'lines of bytes' "$(grep -c -- '-bytes-over-least ' "$folder/lines")" 5
# The last length with half of the peak lies between tasks of 10 us, which take 13, and of 1 us, which take 5.
for version in auto hand mpi; do
    printf "GRAPH $version none 1 %s 0\\n" '1 100 500' '10 100 1300' '1000 10 10000'
done >"$folder/made"
check 'a limit that is kept' "$(awk -v patterns=none -v counts=1 -f "$SOURCE_DIR/perf/graphs.awk" "$folder/made" |
    grep -cE '^pass +none-finest-us +9\.2 +<= 10 ')" 1
check 'a wrong number' "$("$SOURCE_DIR/perf/graphs" --workers two 2>&1)" 'graphs: "two": numbers with commas between'
finish
