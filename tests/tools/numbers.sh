#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Numbers of devices that a rank of a job or a script takes, and that may be those of no device, or the host's.
# Addresses of devices are no others': the program, and regions of other devices, that use one are told whose it is.
# shellcheck disable=SC2016 # text for other programs
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
export LD_LIBRARY_PATH=$llvm/lib OMPRMA_BIND=0
cd "$folder" || exit 1

cat >numbers.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void region(int device)
{
    int host = -1;
#pragma omp target map(from : host) device(device)
    host = omp_is_initial_device();
    puts(host ? "host" : "device");
}
int main(int count, char **words)
{
    const char *what = words[1], *given = getenv("NUMBER");
    int number = given ? atoi(given) : 0, host = 0;
    (void)count;
    if (strcmp(what, "rank") == 0)
        host = omp_get_num_devices();
    if (strcmp(what, "clause") == 0 || host > 0)
        region(number);
    if (strcmp(what, "set") == 0)
        omp_set_default_device(number);
    if (strcmp(what, "counted") == 0)
        region(omp_get_num_devices());
    if (strcmp(what, "initial") == 0)
        region(omp_get_initial_device());
    if (strcmp(what, "set initial") == 0)
        omp_set_default_device(omp_get_initial_device());
    if (strncmp(what, "set", 3) == 0 || strcmp(what, "default") == 0) {
#pragma omp target map(from : host)
        host = omp_is_initial_device();
        puts(host ? "host" : "device");
    }
    if (strcmp(what, "memory") == 0)
        puts(omp_target_alloc(8, number) ? "memory" : "none");
    return 0;
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" numbers.c -o numbers || exit 1

# says PATTERN COMMAND...: of all that it prints, in one line.
says() {
    local out
    out=$(OMP_TARGET_OFFLOAD=mandatory timeout 60 "${@:2}" 2>&1 | tr '\n' '|')
    grep -qE -- "^$1\|$" <<<"$out" || check "${*:2}" "$out" "$1"
}
# Rank NUMBER of 2, as a launcher's script starts it.
cat >rank <<'S'
#!/bin/sh
export NUMBER=$1 OMPI_COMM_WORLD_LOCAL_RANK=$1 OMPI_COMM_WORLD_LOCAL_SIZE=2
shift
exec "$@"
S
chmod +x rank
line='omprma: error: ([^ ]*: )?there is no device 1, only 1 device, from 0 on'
part="$line; this rank has its part of the 2 workers of this host[^|]*--share all[^|]*"
warned='omprma: warning: device 1, the number of this rank, is the host here[^|]*--share all[^|]*'
says "$part" "$RUN" -n 2 -- ./rank 1 ./numbers clause
says "$part" "$RUN" -n 2 -- ./rank 1 ./numbers set
says "$part" "$RUN" -n 2 -- ./rank 1 env OMP_DEFAULT_DEVICE=1 ./numbers default
says "$part|none" "$RUN" -n 2 -- ./rank 1 ./numbers memory
says "$warned|host" "$RUN" -n 2 -- ./rank 1 ./numbers rank
says device "$RUN" -n 2 --share all -- ./rank 1 ./numbers clause
says 'none|omprma: error: [^|]*omp_invalid_device[^|]*' "$RUN" -n 1 -- env NUMBER=-2 ./numbers memory
says "$line; this rank has all of the workers that its omprma-run[^|]*" ./rank 1 "$RUN" --transport direct -n 1 ./numbers clause
# Without ranks, and where the host is meant.
says "$line; if the host is meant, set OMP_TARGET_OFFLOAD=disabled" env OMP_DEFAULT_DEVICE=1 "$RUN" -n 1 ./numbers default
says "$line; if the host is meant, [^|]*omp_get_initial_device[^|]*" env NUMBER=1 "$RUN" -n 1 ./numbers set
for way in counted initial 'set initial'; do
    says host "$RUN" -n 1 ./numbers "$way"
done
says device "$RUN" -n 2 -- ./rank 0 ./numbers set

# ---- names ---------------------------------------------------------------------------------------

cat >names.c <<'C'
#include <omp.h>
#include <stdio.h>
__attribute__((weak)) const char *omp_get_uid_from_device(int device); /* the runtime has it for all */
int main(void)
{
    int host;
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    printf("default %d%s", omp_get_default_device(), host ? " host" : "");
    for (int i = 0; i < omp_get_num_devices(); i++)
        printf(" %s", omp_get_uid_from_device(i));
    puts("");
    return 0;
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" names.c -o names || exit 1
one=omprma-$(hostname)
says "default 0 $one-0.0 $one-1.0 $one-2.0" "$RUN" -n 3 ./names
says "default 2 $one-0.0 $one-1.0 $one-2.0" env OMP_DEFAULT_DEVICE="uid($one-2.0)" "$RUN" --transport direct -n 3 ./names
says "default 1 $one-2.0 $one-0.0" env OMP_AVAILABLE_DEVICES="uid($one-2.0),*[0]" OMP_DEFAULT_DEVICE="uid($one-0.0)" \
    "$RUN" -n 3 ./names
says "default 3 host .*" env OMP_DEFAULT_DEVICE="uid(none), Initial" "$RUN" -n 3 ./names
says "omprma: error: OMP_DEFAULT_DEVICE=\"uid.none.\": no device is so; [^|]*uid.$one-0.0.*" \
    env OMP_DEFAULT_DEVICE="uid(none)" "$RUN" -n 1 ./names
says "omprma: error: OMP_AVAILABLE_DEVICES=\"kind.gpu.\": no device is so; .*" \
    env OMP_AVAILABLE_DEVICES="kind(gpu)" "$RUN" -n 1 ./names
for rank in 0 1; do # the other one's device has another name
    says "default 0 $one-$rank.0" "$RUN" -n 2 -- ./rank $rank ./names
done

# ---- addresses -----------------------------------------------------------------------------------

cat >addresses.c <<'C'
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static sigjmp_buf back;
static volatile sig_atomic_t caught;
static void handle(int number)
{
    (void)number;
    caught++;
    siglongjmp(back, 1);
}
/* Of libomptarget 16 and newer; the runtime has it for all. */
__attribute__((weak)) void *omp_target_memset(void *to, int value, size_t bytes, int device);
/* Bytes of a large block that are not what it was filled with; one at each end is the neighbour's. */
static int filled(void)
{
    enum { BYTES = 64 << 20 };
    char *p = omp_target_alloc(BYTES, 0);
    int bad = 0;
    omp_target_memset(p, 1, BYTES, 0);
    omp_target_memset(p + 1, 0x15a, BYTES - 2, 0);
#pragma omp target is_device_ptr(p) map(tofrom : bad)
    for (int i = 0; i < BYTES; i++)
        bad += p[i] != (i == 0 || i == BYTES - 1 ? 1 : 0x5a);
    return bad;
}
static void touch(double *p)
{
    if (sigsetjmp(back, 1) == 0)
        p[3] = 1;
}
/* No block of the program, nor of another device, lies in one of these. */
static int apart(int devices)
{
    enum { HERE = 8, EACH = 512 << 20 };
    size_t there_bytes = (size_t)2 << 30;
    char *there[16], *here;
    int bad = 0;
    for (int d = 0; d < devices; d++) {
        there[d] = omp_target_alloc(there_bytes, d);
        for (int other = 0; other < d; other++)
            bad += there[d] < there[other] + there_bytes && there[other] < there[d] + there_bytes;
    }
    for (int i = 0; i < HERE && (here = malloc(EACH)) != NULL; i++)
        for (int d = 0; d < devices; d++)
            bad += !there[d] || (here < there[d] + there_bytes && there[d] < here + EACH);
    return bad;
}
int main(int count, char **words)
{
    double a[100] = {0}, *p = a, *block, *none = NULL;
    (void)count;
    if (strncmp(words[1], "own", 3) == 0)
        signal(SIGSEGV, handle);
    if (strcmp(words[1], "apart") == 0)
        return printf("apart: %d\n", apart(omp_get_num_devices())) < 0;
    if (strcmp(words[1], "fill") == 0)
        return printf("bad %d\n", filled()) < 0;
    block = omp_target_alloc(320, 0);
    if (strcmp(words[1], "block") == 0)
        block[2] = 1;
    if (strcmp(words[1], "other") == 0) {
#pragma omp target is_device_ptr(block) device(1)
        block[1] = 1;
    }
    if (strcmp(words[1], "own null") == 0)
        touch(none), touch(none);
    if (strcmp(words[1], "null") == 0)
        *(volatile int *)none = 1;
    if (strcmp(words[1], "sent") == 0)
        raise(SIGSEGV);
#pragma omp target data map(tofrom : a)
#pragma omp target data use_device_ptr(p)
    touch(p);
    printf("caught %d\n", (int)caught);
    return 0;
}
C
"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" addresses.c -o addresses || exit 1
itself='omprma: error: the program, or a library that it called, used address 0x[0-9a-f]* itself: that is memory of device 0'
ended='omprma: error: ./addresses was ended by signal 11 [^|]*'
for way in auto direct; do
    run=("$RUN" --transport "$way")
    says "$itself [^|]*, inside \"a\" \(800 bytes [^|]*addresses.c:[^|]*\|$ended" "${run[@]}" -n 1 ./addresses region
    says "[^|]*segmentation fault[^|]*: that is memory of device 0 [^|]*, not of this device: [^|]*device\(0\)[^|]*" "${run[@]}" -n 2 ./addresses other
    OMPRMA_MEMORY=12G says 'apart: 0' setarch -R "${run[@]}" -n 2 --devices-per-worker 2 ./addresses apart
done
says "$itself [^|]*, byte 16 of a block of 320: [^|]*\|$ended" "$RUN" -n 1 ./addresses block
says "$itself [^|]*\|caught 1" "$RUN" -n 1 ./addresses own
says "$itself [^|]*\|caught 3" "$RUN" -n 1 ./addresses 'own null'
for other in null sent; do
    says "$ended" "$RUN" -n 1 ./addresses $other
done
OMPRMA_MEMORY=1G timeout 60 "$RUN" -n 1 --stats ./addresses fill >out 2>err
check 'filled' "$(cat out) $(grep -cE '^omprma: .*submit .* MiB' err)" 'bad 0 0'
(ulimit -s unlimited && OMPRMA_MEMORY=12G says 'apart: 0' "$RUN" -n 2 ./addresses apart; exit "$failures") || failures=$((failures + 1))
finish
