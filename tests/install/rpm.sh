#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cpack -G RPM makes packages for Fedora and its relatives: each names what it needs, nothing of Debian's is in
# them, and what rpm installs in an empty folder runs, at that place. Whether dnf finds what they name is not tried.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: packages are made of plain builds' && exit 77; }
command -v rpmbuild >/dev/null || { echo 'skipped: no rpm' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

cpack -G RPM --config "$BUILD_DIR/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1 ||
    { tail -20 "$work/log" && fail 'cpack failed'; }
rpm_of() { # PACKAGE: its file
    compgen -G "$work/packages/$1-[0-9]*.rpm" || fail "no package $1"
}
asks() { # PACKAGE WHAT: it is among what the package requires
    rpm -qp --requires "$(rpm_of "$1")" 2>/dev/null | grep -qE "^$2" || complain "$1 does not require $2"
}
asks omprma 'omprma-libs = [0-9]'
asks omprma '\(openmpi or mpich\)'
asks omprma 'libhwloc\.so'
asks omprma-libs 'libmpi'
asks omprma-devel 'omprma-libs = [0-9]'
[ "$(compgen -G "$work/packages/*.rpm" | wc -l)" = 4 ] || complain "not four packages: $(ls "$work/packages")"
for package in omprma omprma-libs omprma-devel omprma-doc; do
    ! rpm -qlp "$(rpm_of $package)" 2>/dev/null | grep -E 'lintian|Debian' || complain "$package has files for Debian"
done

root=$work/root
mkdir "$root"
mkdir "$work/database"
rpm --dbpath "$work/database" --initdb >"$work/log" 2>&1 || { cat "$work/log" && fail 'rpm makes no database'; }
# Relocated packages need no other root, so that this takes no rights.
# Debian's rpm once refused to install anything without it.
debian=()
! rpm --help | grep -q force-debian || debian=(--force-debian)
rpm "${debian[@]}" --dbpath "$work/database" -i --nodeps --noscripts --prefix "$root" "$work"/packages/*.rpm \
    >"$work/log" 2>&1 || { cat "$work/log" && fail 'rpm -i failed'; }
[ -s "$root/share/doc/omprma/examples/saxpy.c" ] || complain 'no examples'
"$root/bin/omprma-info" -n 1 >"$work/info" 2>&1 || { cat "$work/info" && complain 'omprma-info failed'; }
grep -q '^omprma  *[0-9]' "$work/info" || complain "omprma-info says nothing: $(cat "$work/info")"
finish 'RPMs are complete, and run where they are installed'
