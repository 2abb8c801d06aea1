#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cppcheck finds nothing. False positives are suppressed beside the code, with the reason.
set -euo pipefail
cd "$SOURCE_DIR"
folders=()
for folder in src worker tools examples; do
    [ -z "$(find $folder -name '*.c')" ] || folders+=("$folder")
done
exec cppcheck --quiet --error-exitcode=1 --std=c11 --language=c \
    --enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem \
    --suppress=unusedStructMember --suppress=constStatement --suppress=normalCheckLevelMaxBranches \
    -j "$(nproc)" -D_GNU_SOURCE \
    "-DElfW(type)=Elf64_##type" "-DRB_GENERATE_INTERNAL(name,type,field,compare,kind)=" \
    -I include -I src -I . "${folders[@]}"
