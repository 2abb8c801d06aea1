#!/bin/sh
# All C and C++ sources are laid out by .clang-format.
exec "$SOURCE_DIR/scripts/format" --check
