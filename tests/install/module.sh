#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The environment module file of an installed tree that was moved: after "module load omprma" the
# programs, their manual pages and what pkg-config says are found, and the modules that it needs are loaded;
# "module unload" takes all back.
# With Environment Modules, and with Lmod where that is installed.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }

cmake --install "$BUILD_DIR" --prefix "$work/first" >"$work/log" || fail 'cmake --install failed'
mv "$work/first" "$work/moved"
tree=$work/moved
cp "$SOURCE_DIR/tests/install/project/main.c" "$work"
mkdir "$work/others"
for name in needed there; do
    printf '#%%Module1.0\nsetenv MODULE_%s yes\n' "$name" >"$work/others/$name"
done
modulefile=$(echo "$tree"/share/omprma/modulefiles/omprma/*)
grep -q '^set needs \[list *\]$' "$modulefile" || fail 'it needs modules that nobody has named'
sed -i 's/^set needs .*/set needs [list needed there]/' "$modulefile"

# What a user types; the modules' own variables are not a part of what must be as before.
cat >"$work/session" <<'SESSION'
set -e
. "$1"
variables() { env | grep -vE '^(_|LOADEDMODULES|_LMFILES_|_*LMOD_|_ModuleTable|__MODULES_|MODULE)' | sort; }
module use "$tree/share/omprma/modulefiles" "$others"
module load there
before=$(variables)
module load omprma
[ "$MODULE_needed $MODULE_there" = 'yes yes' ]
[ "$(command -v omprma-run)" = "$tree/bin/omprma-run" ]
omprma-run --version
[ "$(man -w omprma-run)" = "$tree/share/man/man1/omprma-run.1" ]
"${CC:-cc}" main.c -o main $(pkg-config --cflags --libs omprma)
[ "$(omprma-run -n 2 ./main devices)" = 'devices 2' ]
module unload omprma
! command -v omprma-run
[ "${MODULE_needed:-no} $MODULE_there" = 'no yes' ]
[ "$(variables)" = "$before" ] || { diff <(echo "$before") <(variables); exit 1; }
SESSION

count=0
for init in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    [ -r "$init" ] || continue
    (cd "$work" && env -i HOME="$work" PATH=/usr/bin:/bin tree="$tree" others="$work/others" CC="${CC:-cc}" \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        bash --noprofile --norc session "$init") >"$work/log" 2>&1 ||
        { cat "$work/log" && fail "$init: see above"; }
    count=$((count + 1))
    echo "$init: loaded, used, unloaded"
done
[ "$count" -gt 0 ] || { echo 'skipped: neither environment-modules nor lmod is installed' && exit 77; }
