#!/bin/bash
# --trace on a program with several devices, under both OpenMP runtimes: the file is sound, and
# names the source lines of regions and kernels.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
llvm=$SOURCE_DIR/build/toolchains/llvm-14
[ -x "$llvm/bin/clang" ] || { echo "no LLVM 14: run scripts/toolchains" && exit 77; }
[ -z "$SANITIZE" ] || { echo 'skipped: images of clang 14 and sanitizers do not mix' && exit 77; }
export OMPRMA_MEMORY=64M

cat >"$folder/program.c" <<'C'
static double x[2][100000];
static void scale(double *data, int device)
{
#pragma omp target map(tofrom : data[0:100000]) device(device) nowait
    for (int i = 0; i < 100000; i++)
        data[i] += 1;
}
int main(void)
{
    int sum = 0;
    for (int device = 0; device < 2; device++)
        scale(x[device], device);
#pragma omp taskwait
#pragma omp target map(tofrom : sum)
    sum = 1;
    return sum + (int)x[0][5] + (int)x[1][99999] - 3;
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/traced" || exit 1

events() { # FILTER: of the file, one line
    jq -r "[.traceEvents[] | $1] | join(\" \")" "$folder/trace.json"
}
for runtime in omprma llvm; do
    timeout -k 5 100 "$RUN" -n 2 --runtime "$runtime" --trace "$folder/trace.json" "$folder/traced"
    check "$runtime: status" "$?" 0
    check "$runtime: sound" "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
    check "$runtime: kernels" "$(events 'select(.cat == "kernel").name' | xargs -n1 | sort | xargs)" \
        'main:14 scale:4 scale:4'
    check "$runtime: regions" \
        "$(events 'select(.cat == "region" and .args.launches == 1).name' | xargs -n1 | sort | xargs)" \
        'main:14 scale:4 scale:4'
    check "$runtime: both devices" "$(events 'select(.cat == "kernel").pid' | xargs -n1 | sort -u | xargs)" '2 3'
    check "$runtime: device names" "$(events 'select(.name == "process_name").args.name')" \
        "program device 0 ($(hostname)) device 1 ($(hostname))"
done

"$RUN" --trace /no/folder/x "$folder/traced" >"$folder/out" 2>&1
check 'a file that cannot be made' "$(grep -c 'OMPRMA_TRACE: cannot write /no/folder/x' "$folder/out")" 1
finish
