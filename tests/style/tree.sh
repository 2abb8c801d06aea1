#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Rules of the source tree that no other tool checks: files stay short and say what they are for,
# every layer includes only what it may know, and the public header compiles by itself.
set -euo pipefail
cd "$SOURCE_DIR"
status=0
complain() {
    echo "$*"
    status=1
}

mapfile -t sources < <(find include src worker tools tests examples -name '*.[ch]' -o -name '*.cpp')
# What grep or awk finds of the files that it is given is a complaint each.
none() { # WHY COMMAND...
    local found
    found=$("${@:2}" || true)
    [ -z "$found" ] || complain "$found"$'\n'"$1"
}
none 'more than one idea in a file' awk 'FNR == 901 { print FILENAME ": more than 900 lines"; nextfile }' "${sources[@]}"
# shellcheck disable=SC2016 # awk's
none 'a file begins with a comment, which says how it works' awk '
    /SPDX-License-Identifier/ { next }
    !/^\/[*\/]/ || /^\/\* [a-z0-9_]+\.c: see [a-z0-9_\/]+\.h\. \*\/$/ { print FILENAME ": " $0 }
    { nextfile }' "${sources[@]}"
none 'tab or blank at the end of a line' grep -nHE '[[:space:]]$|	' "${sources[@]}"
# The formatter runs rows with columns together: lists begin with "- ".
none 'columns in a comment; write a list' grep -nHE '^ *\*( [^*]*[^ *]|) {3,}[^ ].*[^ .:;,)] {3,}[^ ]' "${sources[@]}"

# forbid FOLDER PATTERN WHY: no file of the folder includes anything that matches.
forbid() {
    # shellcheck disable=SC2086 # several folders
    if grep -rnE "#include [<\"]($2)" $1; then
        complain "$1: $3"
    fi
}
forbid 'src worker tools' 'tests/' 'the product knows nothing of its tests'
forbid tests/null '(rma|twosided|host|plugin|openmp|face|worker)/' 'datapaths do not know each other or devices'
forbid src/base '(control|rma|twosided|host|plugin|openmp|face|worker)/|mpi\.h' 'base knows nothing above it'
# Its transports hand datapaths out; nothing else of control knows them.
while read -r file; do
    forbid "$file" '(rma|twosided)/' 'control knows no datapath'
done < <(find src/control -name '*.[ch]' ! -name '*transport.c')
forbid src/control '(host|plugin|openmp|face|worker)/' 'control knows no datapath and no device'
forbid 'src/control/library src/control/shm src/host worker tools' '(control/mpi|rma|twosided)/' \
    'MPI stands behind transport.h, in a module'
forbid src/rma '(twosided|host|plugin|openmp|face|worker)/' 'datapaths do not know each other or devices'
forbid src/twosided '(rma|host|plugin|openmp|face|worker)/' 'datapaths do not know each other or devices'
forbid src/host '(plugin|openmp|face|worker)/' 'host knows neither the plugin nor the worker'
forbid src/plugin '(base|control|rma|twosided|host|openmp|worker)/|mpi\.h' \
    'the plugin uses only the public interface'
forbid src/openmp '(control|rma|twosided|host|plugin|worker)/|base/[^c]|base/c[^l]|mpi\.h' \
    'the OpenMP runtime uses only the public interface and base/clock.h'
forbid src/cuda '(control|rma|twosided|host|plugin|openmp|worker)/|base/[^c]|base/c[^lu]|base/cuda_[^q]|mpi\.h' \
    'the CUDA driver library uses only the public interface, base/clock.h and base/cuda_questions.h'
forbid src/face '(base|control|rma|twosided|host|plugin|openmp|cuda|worker)/|mpi\.h' \
    'what the faces share uses at most the public interface'
# Who is inside and when omprma ends is asked before it has begun and after it has ended.
if grep -nE '#include [<"](omprma/|omprma_private/|face/driver/)' src/face/*.[ch] src/face/end/*.[ch]; then
    complain 'src/face: only face/driver, what driver libraries share, knows of omprma'
fi
if grep -rnwE 'cu[A-Z][A-Za-z0-9_]*|CU[a-z_][A-Za-z0-9_]*|CUDA_[A-Z_]+|hsa_[a-z_]+' src/face; then
    complain 'src/face: what driver libraries share has no types or functions of one of them'
fi
forbid src/device '(base|control|rma|twosided|host|plugin|openmp|face|worker|omprma)/|mpi\.h' \
    'device code knows only libomp'

# The folders of src/host know only those before them in this list.
layers=(memory core queue path choice device check calls report start)
for i in "${!layers[@]}"; do
    later=$(IFS='|' && echo "${layers[*]:i+1}")
    [ -z "$later" ] || forbid "src/host/${layers[i]}" "host/($later)/" "knows nothing of $later"
done
[ -z "$(find src/host -maxdepth 1 -name '*.[ch]')" ] || complain 'src/host: a file outside of its folders'
! grep -nE '#include "control/mpi/' src/control/*.[ch] || complain 'src/control: MPI stands behind transport.h'

# MPI is spoken by few files. The others do not see its header through one of ours either.
speaks_mpi='^src/(rma|twosided)/|^src/control/mpi/|^src/control/library/library_built\.c$|^tests/mpi-(quirks|programs)/|^tests/integration/own_mpi\.c$|^tests/tools/every_call_mpi\.c$|^tests/unit/test_(data_errors|mpi_channel)\.c$'
headers='mpi\.h' before=''
while [ "$headers" != "$before" ]; do
    before=$headers
    found=$(printf '%s\n' "${sources[@]}" | grep '\.h$' |
        xargs grep -lE "#include [<\"]($headers)[>\"]" | sed 's|^src/||; s|\.|\\.|g')
    headers=$(printf '%s\n' 'mpi\.h' "$found" | sort -u | paste -sd '|')
done
mapfile -t silent < <(printf '%s\n' "${sources[@]}" | grep -vE "$speaks_mpi")
none 'only src/rma, src/twosided and src/control/mpi know MPI' \
    grep -nHE "#include [<\"]($headers)[>\"]" "${silent[@]}"

if grep -nE '#include "worker/(native|gpu|cuda)/' worker/*.[ch] | grep -v '^worker/main\.c:'; then
    complain 'worker: the core knows a backend only by backend.h'
fi
if grep -nE 'CUDA|cuda|\bcu[A-Z]|\bhip[A-Z]|\bhsa_|#include "worker/native' worker/gpu/*.[ch]; then
    complain 'worker/gpu: knows no kind of GPU, only the table in driver.h'
fi

# In these folders files depend on each other one way. A source and its header are one, and so are
# NAME and NAME_MORE.
for folder in src/base src/control src/control/direct src/control/library src/control/mpi src/control/shm src/host/* worker worker/native worker/gpu worker/cuda; do
    circle=$(grep -HE "#include \"(.*/)?${folder##*/}/[a-z_]+\\.h\"" "$folder"/*.[ch] |
        sed -E 's|^.*/([a-z0-9]+)[a-z0-9_]*\.[ch]:.*/([a-z0-9]+)[a-z0-9_]*\.h"$|\1 \2|' |
        sort -u | awk '$1 != $2' | tsort 2>&1 >/dev/null) || true
    [ -z "$circle" ] || complain "$folder: files depend on each other in a circle: $circle"
done

header='#include <omprma/omprma.h>'
echo "$header" | "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc - ||
    complain 'omprma.h: not plain C11'
echo "$header" | g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc++ - ||
    complain 'omprma.h: not C++11'
exit $status
