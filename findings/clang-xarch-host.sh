#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 14.0.6 and 16.0.6, Debian 12, with -fopenmp-targets. -Xarch_host puts an option before the host's
# compilation alone, so that -Xarch_host --coverage leaves device code without coverage.
# Guess: it does so for every device, or says that it does not know OpenMP's.
# Seen: 14 gives the option to the device's compilation too, whatever the device is, and says nothing. Where that
# is the host's kind of processor, both compilations write notes into one file, and a device that is another
# process writes counts of other functions into the host's file. 16 keeps it from the device. In both,
# -fprofile-arcs with -Xopenmp-target -fno-profile-arcs leaves coverage out.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 \
    clang-16=1:16.0.6-15~deb12u1 libclang-cpp16=1:16.0.6-15~deb12u1 libllvm16=1:16.0.6-15~deb12u1
printf 'int main(void)\n{\n#pragma omp target\n    ;\n    return 0;\n}\n' >"$folder/try.c"

# What the compilation of the device is told, without running it.
# shellcheck disable=SC2317 # saw calls it
device() { # VERSION TARGET OPTION...
    local version=$1 target=$2 lines found=''
    shift 2
    lines=$(LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/usr/lib/llvm-$version/lib" \
        "$folder/usr/lib/llvm-$version/bin/clang" -### -c -fopenmp "-fopenmp-targets=$target" "$@" \
        "$folder/try.c" 2>&1 | grep -e '-fopenmp-is-device')
    [ -n "$lines" ] || found=' nothing, for clang does not run'
    ! grep -q '"NAME"' <<<"$lines" || found+=' NAME'
    ! grep -qE 'coverage-(data|notes)-file' <<<"$lines" || found+=' coverage'
    echo "clang $version, $target, $*: the device gets${found:- neither}"
}

host=x86_64-pc-linux-gnu
saw device 14 $host -Xarch_host --coverage -Xarch_host -DNAME
expect ' gets NAME coverage$'
saw device 14 aarch64-linux-gnu -Xarch_host -DNAME
expect ' gets NAME$'
saw device 16 $host -Xarch_host --coverage -Xarch_host -DNAME
expect ' gets neither$'
saw device 16 aarch64-linux-gnu -Xarch_host -DNAME
expect ' gets neither$'
for version in 14 16; do
    saw device $version $host -fprofile-arcs -Xopenmp-target -fno-profile-arcs
    expect ' gets neither$'
done
exit "$changed"
