#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# All C and C++ sources are laid out by .clang-format, and all sources have the line of the license.
exec "$SOURCE_DIR/scripts/format" --check
