# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2317 # for those who source it
# unpack.bash: sourced by the scripts of this folder.
#   unpack NAME=VERSION...   Debian's packages into $folder, which is removed at the end; 77 where they cannot be had
#   unpack_gcc               gcc 12.2.0 with its libgomp, for saw_gcc; it links with what the machine's gcc has
#   unpack_clang N...        clang 16.0.6 or 19.1.7 with its libomp, for saw_clang; the same
#   saw COMMAND...           shows what a command prints, and keeps it for expect
#   saw_mpi KIND SOURCE      the same for a program of one process, with the openmpi or mpich that was unpacked
#   saw_mpi_two OSC SOURCE   the same for two processes with the openmpi, whose component OSC serves the windows
#   saw_gcc LEVEL            the same for $folder/try.c, an OpenMP program of two threads, with the gcc-12
#   saw_clang N LEVEL        the same with the clang-N
#   clang_makes N OPTION...  $folder/try from $folder/try.c, which offloads to x86-64, with the clang-N; what runs
#                            then finds its libraries
#   expect PATTERN           one line of it is like that; else $changed is 1
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
changed=0

unpack() {
    local package
    for package in "$@"; do
        if ! (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root "$package") >"$folder/log" 2>&1; then
            echo "cannot fetch $package"
            exit 77
        fi
    done
    for package in "$folder"/*.deb; do
        dpkg -x "$package" "$folder" && rm "$package" || exit 77
    done
}

unpack_gcc() {
    local version=12.2.0-14+deb12u1
    command -v gcc >/dev/null || exit 77
    unpack "gcc-12=$version" "cpp-12=$version" "libgcc-12-dev=$version" "libgomp1=$version"
}

unpack_clang() {
    local number version
    declare -A versions=([16]=1:16.0.6-15~deb12u1 [19]=1:19.1.7-3~deb12u1)
    command -v gcc >/dev/null || exit 77
    for number in "$@"; do
        version=${versions[$number]}
        unpack "clang-$number=$version" "libclang-cpp$number=$version" "libllvm$number=$version" \
            "libclang-common-$number-dev=$version" "libomp-$number-dev=$version" "libomp5-$number=$version"
    done
}

saw() {
    output=$("$@" 2>&1)
    echo "$output"
}

expect() {
    grep -qE -e "$1" <<<"$output" && return
    echo "changed: no line like $1"
    changed=1
}

saw_mpi() {
    local system=$folder/usr/lib/x86_64-linux-gnu
    local library=$system/libmpi.so.40
    [ "$1" = openmpi ] || library=$system/libmpich.so.12
    gcc -w -I"$system/$1/include" -I"$folder/usr/include/x86_64-linux-gnu/$1" "$2" "$library" \
        -Wl,--allow-shlib-undefined -o "$folder/$1" || exit 77
    echo "$1"
    saw env LD_LIBRARY_PATH="$system:$system/openmpi/lib" OMPI_MCA_ess_singleton_isolated=1 \
        OMPI_MCA_mca_base_component_path="$system/openmpi/lib/openmpi3" timeout 60 "$folder/$1"
}

saw_mpi_two() {
    local system=$folder/usr/lib/x86_64-linux-gnu
    gcc -w -I"$system/openmpi/include" -I"$folder/usr/include/x86_64-linux-gnu/openmpi" "$2" "$system/libmpi.so.40" \
        -Wl,--allow-shlib-undefined -o "$folder/openmpi" || exit 77
    LD_LIBRARY_PATH=$system:$system/openmpi/lib ldd "$folder/openmpi" "$folder/usr/bin/orterun" | grep -q 'not found' && exit 77
    echo "osc/$1"
    saw env OPAL_PREFIX="$folder/usr" LD_LIBRARY_PATH="$system:$system/openmpi/lib" \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_mca_base_component_path="$system/openmpi/lib/openmpi3" OMPI_MCA_osc="$1" \
        timeout 60 "$folder/usr/bin/orterun" --oversubscribe --bind-to none -n 2 "$folder/openmpi"
}

saw_gcc() {
    "$folder/usr/bin/x86_64-linux-gnu-gcc-12" "$1" -Wall -Wextra -Werror -fopenmp "$folder/try.c" -o "$folder/try" \
        -L"$folder/usr/lib/x86_64-linux-gnu" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 77; }
    echo "gcc $1"
    saw env LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=2 timeout 60 "$folder/try"
}

saw_clang() {
    local compiler=$folder/usr/lib/llvm-$1
    local libraries=$compiler/lib:$folder/usr/lib/x86_64-linux-gnu
    LD_LIBRARY_PATH=$libraries "$compiler/bin/clang" "$2" -Wall -Wextra -Werror -Wno-pass-failed -fopenmp "$folder/try.c" \
        -o "$folder/try" "-L$compiler/lib" -lm >"$folder/log" 2>&1 || { cat "$folder/log" && exit 77; }
    echo "clang $1 $2"
    saw env LD_LIBRARY_PATH="$libraries" OMP_NUM_THREADS=2 timeout 60 "$folder/try"
}

clang_makes() {
    local compiler=$folder/usr/lib/llvm-$1
    export LD_LIBRARY_PATH=$compiler/lib:$folder/usr/lib/x86_64-linux-gnu
    PATH=$compiler/bin:$PATH clang "${@:2}" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$compiler/lib" \
        "$folder/try.c" -o "$folder/try" >"$folder/log" 2>&1 && return
    tail -n 3 "$folder/log"
    exit 77
}
