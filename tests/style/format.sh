#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# All C and C++ sources are laid out by .clang-format, and all sources have the line of the license.
command -v clang-format-14 >/dev/null ||
    { echo 'skipped: no clang-format-14, and others lay sources out in another way' && exit 77; }
exec "$SOURCE_DIR/scripts/format" --check
