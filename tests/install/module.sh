#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The environment module file of an installed tree that was moved: after "module load omprma" the
# programs, their manual pages and what pkg-config says are found; "module unload" takes all back.
# With Environment Modules, and with Lmod where that is installed.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }

cmake --install "$BUILD_DIR" --prefix "$work/first" >"$work/log" || fail 'cmake --install failed'
mv "$work/first" "$work/moved"
tree=$work/moved
cp "$SOURCE_DIR/tests/install/project/main.c" "$work"

# What a user types; the modules' own variables are not a part of what must be as before.
cat >"$work/session" <<'SESSION'
set -e
. "$1"
variables() { env | grep -vE '^(_|LOADEDMODULES|_LMFILES_|_*LMOD_|_ModuleTable|__MODULES_|MODULE)' | sort; }
module use "$tree/share/omprma/modulefiles"
before=$(variables)
module load omprma
[ "$(command -v omprma-run)" = "$tree/bin/omprma-run" ]
omprma-run --version
[ "$(man -w omprma-run)" = "$tree/share/man/man1/omprma-run.1" ]
"${CC:-cc}" main.c -o main $(pkg-config --cflags --libs omprma)
[ "$(omprma-run -n 2 ./main devices)" = 'devices 2' ]
module unload omprma
! command -v omprma-run
[ "$(variables)" = "$before" ] || { diff <(echo "$before") <(variables); exit 1; }
SESSION

count=0
for init in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    [ -r "$init" ] || continue
    (cd "$work" && env -i HOME="$work" PATH=/usr/bin:/bin tree="$tree" CC="${CC:-cc}" \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        bash --noprofile --norc session "$init") >"$work/log" 2>&1 ||
        { cat "$work/log" && fail "$init: see above"; }
    count=$((count + 1))
    echo "$init: loaded, used, unloaded"
done
[ "$count" -gt 0 ] || { echo 'skipped: neither environment-modules nor lmod is installed' && exit 77; }
