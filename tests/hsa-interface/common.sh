# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# What the tests of the HSA interface share: a folder of their own, and a compiler that finds the sources.
# shellcheck disable=SC2034 # used by those that read this
here=$SOURCE_DIR/tests/hsa-interface
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() { # SOURCE PROGRAM OPTION...
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I "$SOURCE_DIR/src" -o "$2" "$1" "${@:3}"
}
