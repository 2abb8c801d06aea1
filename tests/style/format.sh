#!/bin/sh
# All C and C++ sources are laid out by .clang-format, and all sources have the line of the license.
exec "$SOURCE_DIR/scripts/format" --check
