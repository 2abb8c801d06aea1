#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma-perf measures everything it can, writes JSON that holds it all, draws it, and refuses what
# cannot work before it starts a job. How fast anything is, is not looked at here.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
PERF=$BUILD_DIR/bin/omprma-perf

timeout 120 "$PERF" --ops submit,retrieve,exchange,launch,region,alloc --sizes 8,4K,1M --reps 3 \
    --json "$folder/all.json" >"$folder/table" 2>"$folder/err"
check 'status' "$?" 0
check 'lines on stderr' "$(grep -vc '^omprma: note: measuring ' "$folder/err")" 0
check 'lines of the table' "$(wc -l <"$folder/table")" "$(($(jq '.results | length' "$folder/all.json") + 1))"
# query WHAT FILTER WANTED
query() {
    check "$1" "$(jq -c "$2" "$folder/all.json")" "$3"
}
query 'machine' '.machine | keys' '["cores","cpu","date","kernel","mpi","omprma","osc"]'
query 'fields' '[.results[] | keys] | unique' \
    '[["bytes","gbps","op","path","reps","us_median","us_min","us_p99","workers"]]'
query 'operations' '[.results[].op] | unique' \
    '["alloc","exchange","launch","region","retrieve","submit"]'
query 'sizes' '[.results[] | select(.op == "submit").bytes] | unique' '[8,4096,1048576]'
query 'two workers for exchange' '[.results[].workers] | unique' '[2]'
query 'repetitions' '[.results[].reps] | unique' '[3]'
query 'times in order' \
    '[.results[] | 0 < .us_min and .us_min <= .us_median and .us_median <= .us_p99] | all' true
query 'rates from medians' '[.results[]
    | select(.op == "submit" or .op == "retrieve" or .op == "exchange")
    | (.bytes / .us_median / 1000 - .gbps | fabs) < 0.001 * .gbps + 1e-5] | all' true
two_sided='["auto","raw-two-sided","two-sided"]'
all='["auto","raw","raw-two-sided","rma","two-sided"]'
if jq -e '.machine.osc == "none"' "$folder/all.json" >/dev/null; then
    all=$two_sided
fi
query 'paths' '[.results[] | select(.op == "submit").path] | unique' "$all"
query 'only one path for alloc' '[.results[] | select(.op == "alloc").path] | unique' '["auto"]'

timeout 60 "$PERF" -n 1 --ops launch,maps,head,turns --paths raw,two-sided --json "$folder/all.json" \
    >"$folder/table" 2>&1
check 'status of the other operations' "$?" 0
query 'other operations' '[.results[].op] | unique' '["head","launch","maps","turns"]'
query 'chosen paths' '[.results[] | select(.op == "launch").path]' '["raw","two-sided"]'
query 'arrays' '[.results[] | select(.op == "maps").live] | max' 10000

timeout 60 "$PERF" -n 1 --ops settle,ways --sizes 8,64K --reps 3 --transfers 8 --json "$folder/all.json" \
    >"$folder/table" 2>&1
check 'status of settle' "$?" 0
query 'settle' '[.results[] | select(.op == "settle") | [.direction, .bytes]]' \
    '[["submit",8],["retrieve",8],["submit",65536],["retrieve",65536]]'
query 'settle: the paths taken' '[.results[] | select(.op == "settle") | .settled | type] | unique' '["string"]'
query 'ways: times of them' '[.results[] | select(.op == "ways") | .rma > 0] | all' true

# Without a window only messages are left. MPICH always has one.
if [ "$(launcher_name)" != mpiexec.hydra ]; then
    timeout 60 "$PERF" --ops submit --sizes 8 --reps 3 --mpi-arg --mca --mpi-arg osc \
        --mpi-arg ^rdma,ucx,pt2pt,sm --json "$folder/all.json" >"$folder/table" 2>&1
    check 'status without a window' "$?" 0
    query 'paths without a window' '[.results[].path] | unique' "$two_sided"
fi

if command -v gnuplot >/dev/null; then
    for kind in svg png; do
        timeout 60 "$PERF" --ops submit,launch --sizes 8,1M --reps 3 --plot "$folder/it's.$kind" \
            >"$folder/table" 2>&1
        check "status of a $kind plot" "$?" 0
    done
    check 'a complete svg' "$(grep -c '</svg>' "$folder/it's.svg")" 1
    check 'a png' "$(head -c 4 "$folder/it's.png" | tail -c 3)" 'PNG'
fi

# One-sided against two-sided: a row for each operation and size, in words and as a picture of which no program draws.
timeout 100 "$PERF" --versus --sizes 64,64K --reps 5 --plot "$folder/versus.svg" --json "$folder/all.json" \
    >"$folder/table" 2>"$folder/err"
check 'status of --versus' "$?" 0
check 'rows of --versus' "$(grep -cE '^(submit|retrieve|exchange) +64 (B|KiB)( +[0-9.-]+){4,5}$|^launch' "$folder/table")" 7
check 'no row is wider than a terminal' "$(grep -cE '^(submit|retrieve|exchange|launch) .{80}' "$folder/table")" 0
if [ "$all" != "$two_sided" ]; then
    check 'words of --versus' "$(grep -cE '^(submit|retrieve|exchange): .*(one-sided|two-sided|alike|noise)' "$folder/table")" 3
    check 'columns and bars of the picture' \
        "$(python3 -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(len(root.findall("{*}polyline")), len(root.findall("{*}rect[@fill]")))' "$folder/versus.svg")" '12 13'
    # What it says of each size is what was measured, rounded.
    check 'ratios of --versus' "$(jq -r '[.results[] | select(.op == "submit")] | group_by(.bytes)[]
        | (.[] | select(.path == "two-sided").us_median) / (.[] | select(.path == "rma").us_median)' \
        "$folder/all.json" | paste - <(awk '$1 == "submit" && NF == 8 { print $8 }' "$folder/table") |
        awk '{ off = $1 - $2; near += off < 0.006 && off > -0.006 } END { print near, NR }')" '2 2'
fi

# GPUs, with the stand-in for the driver: beside it, and what omprma adds to it.
gpu() {
    STANDIN_DELAY=0 LD_LIBRARY_PATH=$BUILD_DIR/tests/cuda timeout 60 "$PERF" -n 1 --backend cuda "$@" \
        --reps 5 --json "$folder/all.json" >"$folder/table" 2>&1
    check "status of --backend cuda $*" "$?" 0
}
gpu --ops launch,region,submit,retrieve --sizes 8,1M,40M
one_sided='["auto","direct","raw","rma","two-sided"]'
[ "$all" != "$two_sided" ] || one_sided='["auto","direct","two-sided"]'
query 'paths of a GPU' '[.results[] | select(.op == "submit").path] | unique' "$one_sided"
query 'launches beside the driver' '[.results[] | select(.op == "launch" and .path == "direct").reps]' '[5]'
query 'what omprma adds' '[.results[] | select(.path == "auto" and (.op == "launch" or .op == "region"))
    | .ping_pongs_more | type]' '["number","number"]'
if [ "$all" != "$two_sided" ]; then
    query 'beside the slower' '[.results[] | select(.path == "auto" and .bytes > 8) | .of_slower > 0]' \
        '[true,true,true,true]'
    check 'said in the table' "$(grep -c ' of the slower of raw and direct$' "$folder/table")" 18
fi
gpu --ops submit --sizes 1M --paths direct,auto
query 'without bare MPI' '[.results[] | [.path, has("us_direct"), has("of_slower")]]' \
    '[["direct",false,false],["auto",true,false]]'

# fails STATUS PATTERN ARGS...: one line, which holds PATTERN.
fails() {
    local wanted=$1 pattern=$2 out
    shift 2
    out=$(timeout 20 "$PERF" "$@" 2>&1)
    check "status of $*" "$?" "$wanted"
    grep -q -- "$pattern" <<<"$out" || check "line of $*" "$out" "$pattern"
}
fails 125 'none of idle, submit' --ops copy
fails 125 'none of raw' --paths fast
fails 125 'allowed: native|cuda|hsa' --backend hip
fails 125 'give one kind' --backend native,cuda
fails 125 'give their kind by --backend' --paths direct
fails 125 'no CUDA driver' -n 1 --ops launch --backend cuda
fails 125 'FROM:TO' --sizes 16:8
fails 125 'not a size' --sizes 8:2G
fails 125 'not a size' --sizes ''
fails 125 '1 to 1000000' --reps 0
fails 125 'need two workers' -n 1 --ops exchange
fails 125 'need two workers' -n 1 --ops broadcast
fails 125 'choose with --paths' --data rma
fails 125 'leave out --ops and --paths' --versus --ops submit
fails 125 'must end in .svg' --versus --plot it.png
fails 125 'No such file' --versus --plot /no/such/folder/it.svg
fails 125 'goes without --versus, --plot' --compare old.json new.json --plot it.svg
fails 125 '.svg or .png' --plot it.gif
fails 125 'No such file' --json /no/such/folder/it.json
fails 125 'options only' submit

# Without gnuplot that is said before anything is measured.
mkdir "$folder/bin"
ln -s "$(command -v bash)" "$folder/bin"
out=$(timeout 20 env PATH="$folder/bin" "$PERF" --plot it.svg 2>&1)
check 'status without gnuplot' "$?" 125
check 'line without gnuplot' "$(grep -c 'gnuplot-nox' <<<"$out")" 1
finish
