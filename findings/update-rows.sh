#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 and 19.1.7, Debian 12, with -fopenmp-targets. A `target update` of two columns of three rows.
# Guess: a[2:3][3:2] and a[2:3][k:2] with k = 3 mean the same elements, so the same ones are copied; clang passes the
# parts of rows to the runtime by descriptors, whose numbers may come from variables, or refuses what it cannot pass.
# Seen: where the first column is no constant, it passes one contiguous piece, as long as three whole rows, from the
# first element on. It says nothing, also with -Wall, and elements that the program did not name are overwritten.
# The first row and the number of rows may be variables.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack clang-16=1:16.0.6-15~deb12u1 libclang-cpp16=1:16.0.6-15~deb12u1 libllvm16=1:16.0.6-15~deb12u1 \
    clang-19=1:19.1.7-3~deb12u1 libclang-cpp19=1:19.1.7-3~deb12u1 libllvm19=1:19.1.7-3~deb12u1

# Stands where the runtime would be. Bit 44 says that the size is a number of descriptors.
cat >"$folder/runtime.c" <<'C'
#include <stdint.h>
#include <stdio.h>

struct part {
    uint64_t offset, count, stride;
};

void __tgt_target_data_update_mapper(void *where, int64_t device, int32_t count, void **bases, void **begins,
                                     int64_t *sizes, int64_t *types)
{
    if (!(types[0] >> 44 & 1)) {
        printf("contiguous, %d bytes\n", (int)sizes[0]);
        return;
    }
    for (int i = 0; i < sizes[0]; i++) {
        const struct part *part = (struct part *)begins[0] + i;

        printf("%d from %d step %d%s", (int)part->count, (int)part->offset, (int)part->stride,
               i + 1 < sizes[0] ? ", " : "\n");
    }
}

void __tgt_register_lib(void)
{
}

void __tgt_unregister_lib(void)
{
}

void __tgt_register_requires(void)
{
}
C
gcc -w -c "$folder/runtime.c" -o "$folder/runtime.o" || exit 77

# shellcheck disable=SC2317 # saw calls it
update() { # VERSION SECTION
    local files=$folder/try
    printf 'int a[8][8];\nint main(void)\n{\n    int r = 2, k = 3, n = 3;\n#pragma omp target update from(%s)\n    return r + k + n < 8;\n}\n' \
        "$2" >"$files.c"
    LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/usr/lib/llvm-$1/lib" \
        "$folder/usr/lib/llvm-$1/bin/clang" -Wall -c -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
        --offload-host-only "$files.c" -o "$files.o" && gcc "$files.o" "$folder/runtime.o" -o "$files" && "$files"
}

for version in 16 19; do
    for section in 'a[2:3][3:2]' 'a[r:n][3:2]' 'a[2:3][k:2]'; do
        echo "clang $version, $section"
        saw update $version "$section"
        case $section in
        *k*) expect '^contiguous, 96 bytes$' ;;
        *) expect '^3 from 2 step 32, 2 from 3 step 4' ;;
        esac
    done
done
exit "$changed"
