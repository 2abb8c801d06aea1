#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cpack makes Debian packages that lintian finds nothing in, and that work on a bare Debian 12: in a
# folder that debootstrap fills, an ordinary user compiles a program and runs it on two workers.
# Downloads are kept in BUILD_DIR/packages-cache. Takes root, mount namespaces and apt's mirror.
set -euo pipefail

fail() {
    echo "packages: $*" >&2
    exit 1
}
skip() {
    echo "skipped: $*"
    exit 77
}

cache=$BUILD_DIR/packages-cache
suite=bookworm

# ---- inside the namespaces: mounts and processes end with this script -----------------------------

# The Debian sources of this machine's apt, as lines for the new one's.
sources() {
    # shellcheck disable=SC2016 # apt's variables
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Identifier: Packages' | awk -v suite="$suite" \
        '$1 == "Debian" && $3 ~ "^" suite && !seen[$0]++ { print "deb", $2, $3, $4 }'
}

in_root() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

as_user() {
    in_root runuser -u someone -- sh -ec "cd; $1"
}

fill_root() {
    local mirror
    mirror=$(sources | awk -v suite="$suite" '$3 == suite { print $2; exit }')
    mkdir -p "$cache/debs" "$root"
    # In memory where there is enough: dpkg waits for the disk most of the time.
    [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt 6000000 ] ||
        mount -t tmpfs -o size=4g,mode=755 tmpfs "$root"
    debootstrap --variant=minbase --cache-dir="$cache/debs" "$suite" "$root" "$mirror" \
        >"$work/log" 2>&1 || { tail -5 "$work/log" && return 1; }
    sources >"$root/etc/apt/sources.list"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/test"
    mkdir -p "$root/var/cache/apt/archives/partial"
    mount --bind "$cache/debs" "$root/var/cache/apt/archives"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs tmpfs "$root/dev/shm"
    in_root apt-get update >"$work/log" 2>&1 || { tail -5 "$work/log" && return 1; }
}

# omprma, and what compiles for it.
install_packages() {
    local compiler
    mkdir "$root/packages"
    cp "$work"/packages/*.deb "$root/packages"
    read -ra compiler < <(awk '$2 == "toolchain-14" { print $1 }' "$SOURCE_DIR/scripts/packages" |
        xargs)
    in_root sh -c 'exec apt-get install -y --no-install-recommends "$@" man-db pkg-config \
            /packages/omprma_*.deb /packages/libomprma*.deb /packages/omprma-llvm-14_*.deb' \
        install "${compiler[@]}" >"$work/log" 2>&1 || { tail -20 "$work/log" && return 1; }
}

use_packages() {
    local output
    in_root useradd --create-home someone
    cp "$SOURCE_DIR/examples/saxpy.c" "$SOURCE_DIR/tests/install/project/main.c" \
        "$root/home/someone"
    as_user 'clang-14 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu saxpy.c -o saxpy'
    output=$(as_user 'omprma-run -n 2 ./saxpy') || fail "omprma-run ./saxpy: status $?"
    echo "$output"
    grep -q '^device 1: ' <<<"$output" || fail 'there is no second device'
    grep -q ': ok$' <<<"$output" || fail 'saxpy is wrong'
    output=$(as_user 'omprma-run -n 2 --runtime llvm ./saxpy') || fail "LLVM's runtime: status $?"
    grep -q ': ok$' <<<"$output" || fail 'saxpy is wrong under the runtime of LLVM'
    # shellcheck disable=SC2016 # for the shell there
    as_user 'clang-14 main.c -o main $(pkg-config --cflags --libs omprma)'
    output=$(as_user 'omprma-run -n 2 ./main devices') || fail "C interface: status $?"
    [ "$output" = 'devices 2' ] || fail "C interface: $output"
    as_user 'omprma-info -n 1' | grep -q '^omprma  *[0-9]' || fail 'omprma-info says nothing'
    as_user 'test -x /usr/libexec/omprma-fault && ls /usr/lib/libomprma-end.so /usr/lib/*/libomprma-end.so 2>/dev/null | grep -q .' ||
        fail 'omprma-fault or libomprma-end.so is missing'
    for page in omprma-run omprma-info omprma-perf omprma-worker omprma-settings omprma_submit; do
        as_user "man -w $page" >/dev/null || fail "no manual page $page"
    done
}

remove_packages() {
    local left
    # shellcheck disable=SC2016 # for the shell there
    in_root sh -c 'apt-get purge -y $(dpkg-query -W -f "\${Package} " "*omprma*")' \
        >"$work/log" 2>&1 || { tail -5 "$work/log" && fail 'packages cannot be removed'; }
    left=$(in_root find / -xdev -path /home -prune -o -path /packages -prune -o \
        -name '*omprma*' -print)
    [ -z "$left" ] || fail "left behind: $left"
}

if [ "${1:-}" = inside ]; then
    work=$2
    root=$work/root
    mount --make-rprivate /
    fill_root || skip 'debootstrap or apt did not get Debian 12; the lines above say why'
    install_packages || fail 'the packages cannot be installed'
    use_packages
    remove_packages
    echo 'installed, used and removed on a bare Debian 12'
    exit 0
fi

# ---- outside -------------------------------------------------------------------------------------

[ -z "${SANITIZE:-}" ] || skip 'packages are made of plain builds'
# shellcheck source=/dev/null
[ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = $suite ] || skip "packages are tried on Debian 12 ($suite)"
command -v dpkg-shlibdeps >/dev/null || skip 'no dpkg-dev'
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

cpack --config "$BUILD_DIR/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1 ||
    { cat "$work/log" && fail 'cpack failed'; }
rm -rf "$work/packages/_CPack_Packages"
for package in omprma 'libomprma[0-9]*' libomprma-dev omprma-llvm-14; do
    compgen -G "$work/packages/${package}_*.deb" >/dev/null || fail "no package $package"
done
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning "$work"/packages/*.deb 2>"$work/log" ||
        { cat "$work/log" && fail 'lintian found something'; }
    echo 'lintian found nothing'
else
    echo 'no lintian: the packages are not looked at'
fi

[ "$(id -u)" = 0 ] || skip 'installing in a folder takes root'
command -v debootstrap >/dev/null || skip 'no debootstrap'
unshare --mount --pid --fork true 2>/dev/null || skip 'no mount namespaces here'
[ -n "$(sources)" ] || skip "apt knows no mirror of Debian $suite"
unshare --mount --pid --fork --kill-child "$0" inside "$work"
