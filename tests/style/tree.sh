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
forbid src/base '(control|report|rma|twosided|host|plugin|openmp|face|worker)/|mpi\.h' 'base knows nothing above it'
# Its transports hand datapaths out; nothing else of control knows them.
while read -r file; do
    forbid "$file" '(rma|twosided)/' 'control knows no datapath'
done < <(find src/control -name '*.[ch]' ! -name '*transport.c')
forbid src/control '(report|host|plugin|openmp|face|worker)/' 'control knows no datapath and no device'
forbid src/control/agent 'control/(direct|library|mpi|shm)/' 'what agents say is below whoever says it'
forbid 'src/control/library src/control/shm src/host worker tools' '(control/mpi|rma|twosided)/' \
    'MPI stands behind transport.h, in a module'
forbid src/report '(control|rma|twosided|host|plugin|openmp|face|worker)/' 'a report knows a recording, and no runtime'
forbid src/rma '(twosided|report|host|plugin|openmp|face|worker)/' 'datapaths do not know each other or devices'
forbid src/twosided '(rma|report|host|plugin|openmp|face|worker)/' 'datapaths do not know each other or devices'
forbid src/host '(plugin|openmp|face|worker)/' 'host knows neither the plugin nor the worker'
forbid src/plugin '(base|control|report|rma|twosided|host|openmp|worker)/|mpi\.h' \
    'the plugin uses only the public interface'
forbid src/openmp '(control|report|rma|twosided|host|plugin|worker)/|base/[^c]|base/c[^l]|mpi\.h' \
    'the OpenMP runtime uses only the public interface and base/clock.h'
forbid src/cuda '(control|report|rma|twosided|host|plugin|openmp|worker)/|base/[^c]|base/c[^lu]|base/cuda_[^q]|mpi\.h' \
    'the CUDA driver library uses only the public interface, base/clock.h and base/cuda_questions.h'
forbid src/hsa '(control|report|rma|twosided|host|plugin|openmp|cuda|worker)/|base/[^chr]|base/c[^l]|base/h[^s]|base/r[^e]|base/re[^s]|mpi\.h' \
    'the HSA library uses only the public interface, base/clock.h, base/reserve.h, base/hsa_abi.h and base/hsa_questions.h'
if grep -nE '#include [<"](omprma|omprma_private|hsa|face)/' src/base/hsa_abi.h; then
    complain 'src/base/hsa_abi.h: knows nothing of omprma'
fi
forbid src/cuda 'hsa/|base/hsa' 'libraries for GPUs do not know each other'
forbid src/face '(base|control|report|rma|twosided|host|plugin|openmp|cuda|hsa|worker)/|mpi\.h' \
    'what the faces share uses at most the public interface'
# Who is inside and when omprma ends is asked before it has begun and after it has ended.
if grep -nE '#include [<"](omprma/|omprma_private/|face/driver/)' src/face/*.[ch] src/face/end/*.[ch]; then
    complain 'src/face: only face/driver, what driver libraries share, knows of omprma'
fi
if grep -rnwE 'cu[A-Z][A-Za-z0-9_]*|CU[a-z_][A-Za-z0-9_]*|CUDA_[A-Z_]+|hsa_[a-z_]+' src/face; then
    complain 'src/face: what driver libraries share has no types or functions of one of them'
fi
forbid src/device '(base|control|report|rma|twosided|host|plugin|openmp|face|worker|omprma)/|mpi\.h' \
    'device code knows only libomp'

# Of what is behind the public interface tools know how a program names its files and describes itself, how it finds
# its supervisor. perf measures the inside, so it sees more.
if grep -rnE '#include "(host|worker)/' tools --include='*.[ch]' |
    grep -vE '^tools/perf/|"host/(report/(describe|mark)|start/supervisor)\.h"'; then
    complain 'tools: knows more of host or worker than docs/architecture.md draws'
fi

# The folders of src/host, and those of src/openmp, know only those before them in these lists.
layers=(memory core queue path choice device check calls report start)
for i in "${!layers[@]}"; do
    later=$(IFS='|' && echo "${layers[*]:i+1}")
    [ -z "$later" ] || forbid "src/host/${layers[i]}" "host/($later)/" "knows nothing of $later"
done
rooms=(abi site device tool run image map place task copy entry)
for i in "${!rooms[@]}"; do
    later=$(IFS='|' && echo "${rooms[*]:i+1}")
    [ -z "$later" ] || forbid "src/openmp/${rooms[i]}" "openmp/($later)/" "knows nothing of $later"
done
[ -z "$(find src/host src/openmp -maxdepth 1 -name '*.[ch]')" ] || complain 'src: a file outside of its folders'
! grep -nE '#include "control/mpi/' src/control/*.[ch] || complain 'src/control: MPI stands behind transport.h'

# MPI is spoken by few files. The others do not see its header through one of ours either.
speaks_mpi='^src/(rma|twosided)/|^src/control/mpi/|^src/control/library/library_built\.c$|^tests/mpi-(quirks|programs)/|^tests/integration/own_mpi\.c$|^tests/tools/every_call_mpi\.c$|^tests/unit/(rma/test_data_errors\.c$|control/(mpi/|test_channels\.c$))'
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

if grep -nE '#include "worker/(native|gpu|cuda|hsa)/' worker/*.[ch] | grep -v '^worker/main\.c:'; then
    complain 'worker: the core knows a backend only by backend.h'
fi
if grep -nE 'CUDA|cuda|\bcu[A-Z]|\bhip[A-Z]|\bhsa_|#include "worker/native' worker/gpu/*.[ch]; then
    complain 'worker/gpu: knows no kind of GPU, only the table in driver.h'
fi

# In these folders files depend on each other one way. A source and its header are one; NAME_MORE.c is a file of
# its own.
# Circles that are here nevertheless, a line each. The list may only get shorter: a circle that has lost a file, or
# is gone, is to be mended here, too.
known_circles='src/cuda: context driver gpu link memory module result stream
src/host/memory: allocator allocator_arenas
src/rma: ucx ucx_parts'
circles() { # FOLDER
    { grep -HE "#include \"(.*/)?${1##*/}/[a-z0-9_]+\\.h\"" "$1"/*.[ch] || true; } |
        sed -E 's|^.*/([a-z0-9_]+)\.[ch]:.*/([a-z0-9_]+)\.h"$|\1 \2|' | sort -u |
        awk -v folder="$1" '
            { reach[$1, $2] = 1; name[$1]; name[$2] }
            END {
                for (by in name) for (from in name) if ((from, by) in reach)
                    for (to in name) if ((by, to) in reach) reach[from, to] = 1
                for (one in name) for (other in name)
                    if (one != other && (one, other) in reach && (other, one) in reach) print folder, one, other
            }' | sort | awk '
            !($2 in seen) { if (line) print line; line = $1 ": " $2; seen[$2]; first = $2 }
            $2 == first { line = line " " $3; seen[$3] }
            END { if (line) print line }'
}
found_circles=$(for folder in src/base src/control src/control/* src/report src/rma src/twosided src/host/* src/openmp/* src/cuda src/hsa \
    src/face src/face/* src/plugin src/device worker worker/native worker/gpu worker/cuda worker/hsa tools/*; do
    [ ! -d "$folder" ] || circles "$folder"
done | sort)
new=$(comm -13 <(sort <<<"$known_circles") <(echo "$found_circles"))
[ -z "$new" ] || complain "files depend on each other in a circle: $new"
gone=$(comm -23 <(sort <<<"$known_circles") <(echo "$found_circles"))
[ -z "$gone" ] || complain "this circle is no more, or has become shorter; say so in known_circles: $gone"

# The first comment of a unit test ends with the sources that it covers, so whoever changes one finds its tests. Each
# source is named there, or below, by the program that runs it as a part of a whole. Names of files have as many
# folders before them as tell them from others; a folder is one in which nothing is left to unit tests.
run_by_programs='
tests/fortran/run src/device/
tests/install/no_mpi.sh control/mpi/module/entry.c
tests/integration/cuda.sh gpu/kinds.c
tests/integration/ends.sh worker/main.c mpi/transport.c mpi/world.c control/world.c world_launched.c stragglers.c
tests/mpi-programs/programs/handlers.c sigpipe.c
tests/mpi-programs/run.sh host/start/share.c
tests/nvptx/programs/driver.c described.c function.c cuda/host_call.c host_memory.c per_thread.c profiler.c rectangle.c cuda/refused.c
tests/openmp/ompt/run ompt.c ompt_trace.c times.c
tests/openmp/programs/bad_copy.c site/origin.c calls/memory.c
tests/openmp/programs/exit_linked.c ending.c end/end.c begin.c start_main.c image/start.c
tests/openmp/programs/functions.c api_allocator.c api_async.c api_copy.c api_device.c
tests/openmp/programs/link.c openmp/stub/stub.c
tests/openmp/programs/nowait.c task.c next.c
tests/openmp/programs/strided.c kept.c
tests/openmp/programs/lanes.c cores.c team.c
tests/openmp/programs/graphs.c copies.c place/placement.c site/load.c
tests/openmp/run entry_14.c
tests/plugin/local.sh src/plugin/
tests/plugin/runtime.sh libomp_names.c
tests/tools/cut_short.sh report_csv.c details.c recorded.c
tests/tools/doctor.sh tools/info/ describe.c
tests/tools/far.sh direct/transport.c launch/direct.c
tests/tools/faults.sh tools/fault/ run/fault.c stray.c fault_address.c
tests/tools/hosts.sh far.c keeper.c rank.c networks.c descendants.c
tests/tools/inherited.sh inherited.c streams.c
tests/tools/inside.sh worker/wrap.c launch/wrap.c
tests/tools/numbers.sh environment.c policy.c image/choice.c device/owner.c calls/owner.c uid.c
tests/tools/lost_placed.sh task/theirs.c recompute.c
tests/tools/promised.sh promised.c
tests/tools/on_loss.sh site/loss.c spare.c
tests/tools/passed_on.sh preload.c runtime_folder.c llvm.c
tests/tools/perf.sh tools/perf/ mpi/bench.c worker/bench.c
tests/tools/place.sh report/placement.c
tests/tools/progress_line.sh progress_line.c coming.c arrival.c
tests/tools/run.sh run.c launch/launch.c options.c help.c habits.c near.c needs.c outcome.c plugin_folder.c program.c signals.c supervise.c
tests/tools/starters.sh starter.c
tests/tools/versus.sh run/versus.c
tests/tools/ucx.sh ucx_transport.c by_host.c rdma_port.c ucx_none.c'
# shellcheck disable=SC2016 # awk's
named_by_tests=$(find tests/unit -name 'test_*.c' | sort | xargs awk '
    FNR == 1 { names = 0 }
    sub(/^ *(\/\*|\*) Covers:/, "") { names = 1 }
    names { end = sub(/ *\*\/.*/, ""); sub(/^ \*/, ""); print FILENAME, $0; covers[FILENAME] }
    end { end = 0; nextfile }
    END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in covers)) print ARGV[i], "(nothing)" }')
# shellcheck disable=SC2016 # awk's
none 'each source has a test, see CONTRIBUTING.md' awk '
    FNR == NR { source[$0]; next }
    NF && (getline line <$1) < 0 { print $1 ": no such test, but tests/style/tree.sh names it" }
    { close($1) }
    {
        for (i = 2; i <= NF; i++) {
            count = 0
            for (file in source)
                if (file ~ "(^|/)" $i "$" || $i ~ "/$" && index(file, $i) == 1) { covered[file]; count++ }
            if (count != 1 && $i !~ "/$" || !count) print $1 ": covers " $i ", which are " count " sources"
        }
    }
    END { for (file in source) if (file ~ /c$/ && !(file in covered)) print file ": no test names it" }
' <(find src worker tools -name '*.[ch]') <(printf '%s\n' "$named_by_tests" "$run_by_programs")

header='#include <omprma/omprma.h>'
echo "$header" | "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc - ||
    complain 'omprma.h: not plain C11'
echo "$header" | g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc++ - ||
    complain 'omprma.h: not C++11'
exit $status
