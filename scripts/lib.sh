# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# lib.sh: functions shared by the scripts of this folder; sourced by bash, does nothing by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# Shows a command, ready to be copied, and runs it.
show() {
    echo "\$ $*"
    "$@"
}

# Names of the packages of the given groups, from scripts/packages.
packages_of() {
    local group
    for group in "$@"; do
        awk -v group="$group" '!/^#/ && $2 == group { print $1 }' "$root/scripts/packages"
    done
}

package_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# What apt would install of a package here; nothing where this release has none of that name.
package_candidate() {
    apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

package_exists() {
    package_installed "$1" || [ -n "$(package_candidate "$1")" ]
}

lists_known() {
    [ -n "$(apt-cache madison libc6 2>/dev/null)" ]
}

# Fetches apt's lists where there are none at all, as in a new container: they say what a release has.
need_lists() {
    lists_known || as_root apt-get update -q >/dev/null ||
        echo "there are no lists of apt, and apt-get update failed: what this release has is not known"
}

# Once: what is absent from old lists may be in new ones.
lists_renewed=
renew_lists() {
    [ -z "$lists_renewed" ] || return 0
    lists_renewed=1
    as_root apt-get update -q >/dev/null 2>&1 || true
}

# The LLVM versions that omprma is tried with, and those of them that this system has.
all_llvm='14 15 16 17 18 19 22 23'
llvm_here() {
    local version here=()
    if ! command -v apt-cache >/dev/null; then
        echo "$all_llvm"
        return
    fi
    need_lists >&2
    for version in $all_llvm; do
        ! package_exists "clang-$version" || here+=("$version")
    done
    echo "${here[*]}"
}

# The one that scripts/demo, and what needs any one clang, take: 14, which README.md uses, where there is
# one, else 19, else the newest.
any_llvm() {
    local here
    here=" $(llvm_here) "
    case $here in
    *' 14 '*) echo 14 ;;
    *' 19 '*) echo 19 ;;
    '  ') die "this release has no clang that omprma knows ($all_llvm)" ;;
    *) tr ' ' '\n' <<<"$here" | grep . | tail -n 1 ;;
    esac
}

# The libomp-NN-dev packages of different LLVM versions exclude each other. A machine that has
# another one keeps it; scripts/toolchains then unpacks its version beside it.
other_libomp_installed() { # PACKAGE
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libomp-*-dev' 2>/dev/null |
        grep '^installed ' | grep -qv " $1\$"
}

# Runs a command as root, directly or through sudo; 1 where neither is possible.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        return 1
    fi
}

# wanted_package NAME|NAME...: the first of these that is there or that this release has; the first one
# where what it has is not known.
wanted_package() {
    local name names
    IFS='|' read -ra names <<<"$1"
    for name in "${names[@]}"; do
        if package_exists "$name"; then
            echo "$name"
            return
        fi
    done
    ! lists_known && echo "${names[0]}"
}

# need_packages GROUP...: installs what is missing of these groups, or says what is missing. What this
# release does not have is named: the tests that need it are skipped.
need_packages() {
    local package names missing=()
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: packages are not checked (the list is in scripts/packages)"
        return
    fi
    need_lists
    for names in $(packages_of "$@"); do
        if ! package=$(wanted_package "$names"); then
            renew_lists
            package=$(wanted_package "$names") || package=
        fi
        if [ -z "$package" ]; then
            echo "not in this release, so what needs it is left out: ${names//|/ or }"
            continue
        fi
        if [[ $package = libomp-*-dev ]] && other_libomp_installed "$package"; then
            continue
        fi
        package_installed "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} = 0 ]; then
        return
    fi
    echo "installing: ${missing[*]}"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "missing Debian packages; install them as root, then run this again:" \
            "apt-get install --no-install-recommends ${missing[*]}"
    fi
    # --no-remove: never throw out something the user has, stop instead.
    as_root apt-get update -q || die "apt-get update failed"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends --no-remove "${missing[@]}" ||
        die "apt-get could not install: ${missing[*]}"
}

# Fetches a package and unpacks the files that match the patterns into a folder; not the libraries
# for GPUs' device code, which are most of the bytes.
unpack() { # FOLDER PACKAGE PATTERN...
    local folder=$1 package=$2 options
    shift 2
    options=(-q -o "APT::Sandbox::User=$(id -un)")
    mkdir "$folder/fetched"
    (
        cd "$folder/fetched" || exit
        if ! apt-get "${options[@]}" download "$package" >/dev/null 2>&1; then
            as_root apt-get update -q || die "apt-get update is needed and failed"
            apt-get "${options[@]}" download "$package"
        fi
    )
    dpkg --fsys-tarfile "$folder/fetched"/*.deb | tar -x -C "$folder" --wildcards \
        --exclude='*.bc' --exclude='*.devicertl.a' "$@"
    rm -r "$folder/fetched"
}

# Number of compile jobs: one per core, but at least 1 GiB of memory each.
jobs() {
    local cores gib
    cores=$(nproc)
    gib=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
    echo $((gib < 1 ? 1 : gib < cores ? gib : cores))
}

# show_steps LOG: stdin goes into the log. Of ninja's "[12/345]" a terminal sees one line that changes, anything
# else a line for every quarter.
show_steps() {
    local line step all part quarter=0 wide=
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        step=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
        part=$((step * 4 / all))
        if [ -t 1 ]; then
            printf '\r  step %s of %s ' "$step" "$all"
            wide=yes
        elif [ "$part" -gt "$quarter" ]; then
            echo "  step $step of $all"
        fi
        quarter=$part
    done 3>"$1"
    [ -z "$wide" ] || echo
}

# build_or_die LOG PRESET TARGET [CMAKE-ARGUMENT...]: configures the preset and builds the target, and shows
# how far that is, to a caller with pipefail. What it prints goes into the log, whose end is shown where it fails.
build_or_die() {
    local log=$1 preset=$2 target=$3
    mkdir -p "$(dirname "$log")"
    { cmake --preset "$preset" "${@:4}" &&
        cmake --build --preset "$preset" --target "$target" -j "$(jobs)"; } 2>&1 | show_steps "$log" || {
        tail -n 40 "$log" >&2
        die "the build failed; see $log"
    }
}

# clang_of VERSION: the command that compiles target regions with that clang on this machine.
clang_of() {
    if [ -e "/usr/lib/llvm-$1/lib/libomptarget.so" ]; then
        echo "clang-$1"
    else
        "$root/scripts/toolchains" "$1" >&2
        echo "build/toolchains/llvm-$1/bin/clang"
    fi
}
