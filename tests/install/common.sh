#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# common.sh: sourced by the tests of this folder.
#   fail WORDS       ends the test
#   complain WORDS   counts a failure and goes on; finish WORDS ends the test, with the words if
#                    there was none
# Leaves nothing behind: $work is removed at exit.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

complain() {
    echo "FAILED $*"
    failures=$((failures + 1))
}

finish() {
    [ "$failures" = 0 ] || exit 1
    echo "$*"
}
