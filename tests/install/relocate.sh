#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An installed tree can be moved: afterwards a user's program builds against it with pkg-config and
# with CMake and runs, the plugin and the programs find the library, and no file knows the old place.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

# Programs of an instrumented library must be instrumented alike.
flags=()
[ -z "${SANITIZE:-}" ] || flags=("-fsanitize=$SANITIZE")

cmake --install "$BUILD_DIR" --prefix "$work/first" >"$work/install.log" ||
    { cat "$work/install.log" && fail "cmake --install failed"; }
mv "$work/first" "$work/moved"
tree=$work/moved

version=$(sed -n 's/^#define OMPRMA_VERSION_STRING "\(.*\)"/\1/p' "$tree/include/omprma/omprma.h")
[ -n "$version" ] || fail "no version in the installed header"

# Debug information may name source files; what is used at run time or build time may not.
while read -r file; do
    if readelf -d "$file" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -qE "$work|$BUILD_DIR"; then
        fail "$file: runpath with an absolute path: $(readelf -d "$file" | grep PATH)"
    fi
    case $file in
    *.pc | *.cmake | *.h)
        if grep -nE "$work|$BUILD_DIR|$SOURCE_DIR" "$file"; then
            fail "$file: absolute path"
        fi
        ;;
    esac
done < <(find "$tree" -type f)
while read -r link; do
    case $(readlink "$link") in
    "$work"* | "$BUILD_DIR"* | "$SOURCE_DIR"*) fail "$link: points to $(readlink "$link")" ;;
    esac
    [ -e "$link" ] || fail "$link: points to $(readlink "$link"), which does not exist"
done < <(find "$tree" -type l)

[ -s "$tree/lib/libomprma-device.a" ] || fail "no libomprma-device.a"

# finds_library FILE: the loader resolves libomprma.so inside the moved tree.
finds_library() {
    local found
    found=$(ldd "$1" | awk '/libomprma\.so/ { print $3 }')
    [ "$(realpath "${found:-/none}")" = "$(realpath "$tree/lib/libomprma.so")" ] ||
        fail "$1: libomprma.so is '$found'"
}

# Each LLVM's folder holds the plugin under the names that it looks for, and nothing else of ours.
for number in 13 14 15 16 17 18; do
    folder=$tree/lib/omprma/llvm-$number
    names=libomptarget.rtl.x86_64.so
    [ $number -lt 16 ] || names="libomptarget.rtl.x86_64.nextgen.so $names"
    for name in $names; do
        finds_library "$folder/$name"
        [ "$(realpath "$folder/$name")" = "$tree/lib/omprma/libomprma-plugin.so" ] ||
            fail "$folder/$name: not our plugin"
    done
    present=$(cd "$folder" && echo ./*)
    for name in $present; do
        name=${name#./}
        case " $names libomptarget.so.$number/$((number >= 15)) " in
        *" $name "* | *" $name/1 "*) ;;
        *) fail "$folder: unexpected file $name" ;;
        esac
    done
done

# omprma's own OpenMP runtime under the names that programs ask for, and what images find instead.
for name in libomptarget.so libomptarget.so.16 libomptarget.so.19.1 libomptarget.so.22.1; do
    finds_library "$tree/lib/omprma/runtime/$name"
    [ "$(realpath "$tree/lib/omprma/images/$name")" = "$tree/lib/omprma/libomprma-stub.so" ] ||
        fail "$tree/lib/omprma/images/$name: not our stub"
done

export PKG_CONFIG_PATH=$tree/lib/pkgconfig
project=$SOURCE_DIR/tests/install/project
[ "$(pkg-config --modversion omprma)" = "$version" ] || fail "omprma.pc: wrong version"
read -ra options < <(pkg-config --cflags --libs omprma)
"${CC:-cc}" -Wall -Werror "${flags[@]}" "$project/main.c" -o "$work/by-pkg-config" "${options[@]}" \
    "-Wl,-rpath,$tree/lib"
finds_library "$work/by-pkg-config"
"$work/by-pkg-config" || fail "program built with pkg-config: status $?"

build_with_cmake() {
    cmake -S "$project" -B "$work/build" -DCMAKE_PREFIX_PATH="$tree" \
        -DWANTED_VERSION="$version" -DCMAKE_C_COMPILER="${CC:-cc}" \
        -DCMAKE_C_FLAGS="${flags[*]}" && cmake --build "$work/build"
}
build_with_cmake >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log" && fail "cmake failed"; }
finds_library "$work/build/user"
"$work/build/user" || fail "program built with CMake: status $?"

[ "$("$tree/bin/omprma-run" --version)" = "omprma-run $version" ] ||
    fail "omprma-run --version: $("$tree/bin/omprma-run" --version)"
output=$("$tree/bin/omprma-run" -n 1 "$work/build/user" devices) || fail "omprma-run: status $?"
[ "$output" = "devices 1" ] || fail "omprma-run with one worker printed: $output"

# A folder with a space, and one that cannot stand in a list of folders.
mv "$tree" "$work/my place"
clang=("$SOURCE_DIR"/build/toolchains/llvm-*/bin/clang)
if [ -x "${clang[0]}" ] && [ -z "${SANITIZE:-}" ]; then
    cat >"$work/offload.c" <<'C'
#include <stdio.h>
int main(void) { int x = 1;
#pragma omp target map(tofrom: x) nowait
    x = 2;
#pragma omp taskwait
    printf("%d\n", x); return 0; }
C
    "${clang[0]}" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "$work/offload.c" -o "$work/offload"
    output=$("$work/my place/bin/omprma-run" -v -n 1 "$work/offload" 2>&1) || fail "a folder with a space: $output"
    grep -qx 2 <<<"$output" || fail "a folder with a space: $output"
    ! grep -v '^omprma: note: ' <<<"$output" | grep -vx 2 || fail "a folder with a space: other lines"
    grep -q 'nowait constructs need no thread' <<<"$output" || fail "a folder with a space: not preloaded: $output"
else
    echo 'no clang, or a sanitizer: a program in a folder with a space is not tried'
fi
mv "$work/my place" "$work/my:place"
output=$("$work/my:place/bin/omprma-run" -n 1 "$work/build/user" devices 2>&1) && fail "a folder with a colon: status 0"
grep -q "^omprma: error: omprma is installed in $work/my:place, .* a ':' separates two" <<<"$output" ||
    fail "a folder with a colon: $output"

# What was installed last can be removed: nothing stays but what others put beside it.
cmake --install "$BUILD_DIR" --prefix "$work/last" >"$work/install.log"
touch "$work/last/lib/other.so"
cmake -DLIST="$BUILD_DIR/install_manifest.txt" -P "$SOURCE_DIR/cmake/Uninstall.cmake" || fail "uninstall: status $?"
left=$(find "$work/last" ! -type d)
[ "$left" = "$work/last/lib/other.so" ] || fail "uninstall leaves: $left"
! cmake -DLIST="$BUILD_DIR/install_manifest.txt" -P "$SOURCE_DIR/cmake/Uninstall.cmake" 2>"$work/install.log" ||
    fail 'uninstall says nothing where nothing is installed'
echo "installed, moved, used and removed: omprma $version"
