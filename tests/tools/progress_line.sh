#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The progress line: on a terminal what starts, is loaded and is measured, gone in the end; nothing
# where stderr is a pipe, TERM=dumb or -v. How long anything takes is not looked at: the half second
# before the line appears is left out here.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
command -v script >/dev/null || exit 77
export TERM=xterm OMPRMA_INTERNAL_PROGRESS_MS=0
restore=$'\e[K\e[?7h\e8' wipe=$'\e[K'

# at_terminal FILE WORDS...: what they write to a terminal, which holds stdout and stderr.
at_terminal() {
    local file=$1
    shift
    timeout 120 script -qefc "$(printf '%q ' "$@")" /dev/null </dev/null >"$file"
}

# screen FILE: what is to be seen in the end, by a terminal that knows our four sequences. A line
# that is drawn over another's words, or is left, is seen.
screen() {
    python3 - "$1" <<'PY'
import re, sys

row, column, saved, rows = 0, 0, (0, 0), [""]
for part in re.findall(r"\x1b7|\x1b8|\x1b\[\?7[lh]|\x1b\[K|\x1b.|[^\x1b]", open(sys.argv[1], newline="").read(), re.S):
    if part == "\x1b7":
        saved = row, column
    elif part == "\x1b8":
        row, column = saved
    elif part == "\x1b[K":
        rows[row] = rows[row][:column]
    elif part == "\r":
        column = 0
    elif part == "\n":
        row += 1
        if row == len(rows):
            rows.append("")
    elif part[0] == "\x1b":
        if part not in ("\x1b[?7l", "\x1b[?7h"):
            print("not understood:", repr(part))
    else:
        rows[row] = rows[row][:column].ljust(column) + part + rows[row][column + 1:]
        column += 1
print("\n".join(line.rstrip() for line in rows).rstrip())
PY
}

# lines FILE: what the progress line has said.
lines() {
    grep -oaE $'\e7\e\\[\\?7l[^\e]*' "$1" | sed $'s/\e7\e\\[?7l//' | uniq
}

export NO_COLOR=1 # what is looked at is the line alone
build_stand_ins

# ---- starting workers
at_terminal "$folder/start" "$RUN" -n 3 "$folder/program" plain
check 'status at a terminal' $? 0
check 'start' "$(lines "$folder/start" | sort -u)" 'omprma: 0 of 3 workers are up'
check 'what is left of it' "$(screen "$folder/start")" 'ready 4'
check 'gone before the program writes' \
    "$(sed $'s/ready 4.*//; s/\e7\e/\\n&/g' "$folder/start" | tail -n 1 | grep -cF "$restore$wipe")" 1
at_terminal "$folder/fails" "$RUN" -n 1 "$folder/program" raise 6
check 'after it an error' "$(screen "$folder/fails" | grep -vc '^omprma: .* signal 6\|^ready 2$')" 0

# none WHAT WORDS...: no sequence for terminals in what they write.
none() {
    local what=$1
    shift
    "$@" >"$folder/out" 2>&1
    check "status $what" $? 0
    check "sequences $what" "$(grep -ca $'\e' "$folder/out")" 0
}
none 'into a file' "$RUN" "$folder/program" plain
TERM=dumb none 'at a dumb terminal' at_terminal /dev/stdout "$RUN" "$folder/program" plain
none 'with -v' at_terminal /dev/stdout "$RUN" -v "$folder/program" plain
OMPRMA_INTERNAL_PROGRESS_MS=600000 none 'before it is due' at_terminal /dev/stdout "$RUN" "$folder/program" plain
# Only stderr counts.
timeout 60 script -qefc "$(printf '%q ' "$RUN" "$folder/program" plain) 2>$folder/err" /dev/null \
    </dev/null >"$folder/out"
check 'sequences with stderr in a file' "$(cat "$folder/out" "$folder/err" | grep -ca $'\e')" 0

if [[ $(mpirun --version) == *"(Open MPI)"* ]] && hosts_up 2; then
    # The second host is slow: until the line says that the first is reached.
    # shellcheck disable=SC2016 # for the shell there
    printf '#!/bin/sh\n[ "$1" = "%s" ] && timeout 30 sh -c "%s"\nexec "%s" "$@"\n' "${HOSTS[1]}" \
        "until grep -q 'reached: 1 of 2' '$folder/hosts'; do sleep 0.1; done" "$HOSTS_AGENT" >"$folder/slow"
    chmod +x "$folder/slow"
    remote_shell "$folder/slow"
    at_terminal "$folder/hosts" "$RUN" --hosts "${HOSTS[0]}:2,${HOSTS[1]}" "$folder/program" plain
    check 'status with other hosts' $? 0
    check 'hosts' "$(lines "$folder/hosts" | grep -vE '^omprma: 0 of 3 workers are up(, hosts reached: [012] of [12])?$')" ''
    check 'hosts that are reached' "$(lines "$folder/hosts" | grep -c 'hosts reached: 1 of 2$')" 1
    check 'what is left with other hosts' "$(screen "$folder/hosts")" 'ready 4'
    remote_shell
fi
unset OMPRMA_INTERNAL_WORKER

# ---- workers that come one by one: each begins when the line says that the one before is up
cat >"$folder/real.c" <<'C'
#include <stdio.h>
#include <omprma/omprma.h>
int main(void)
{
    int code = omprma_init();
    printf("devices %d\n", omprma_device_count());
    omprma_finalize();
    return code;
}
C
"${CC:-cc}" "$folder/real.c" -I "$SOURCE_DIR/include" -L "$BUILD_DIR/lib" -lomprma "-Wl,-rpath,$BUILD_DIR/lib" \
    -o "$folder/real" || exit 1
cat >"$folder/late" <<SH
#!/bin/sh
rank=\$((\${OMPI_COMM_WORLD_RANK:-\${PMIX_RANK:-\$PMI_ID}} - 1))
timeout 30 sh -c "until [ \$rank = 0 ] || grep -q \"omprma: \$rank of 3\" '$folder/real.out'; do sleep 0.05; done"
exec "$BUILD_DIR/bin/omprma-worker"
SH
chmod +x "$folder/late"
export OMPRMA_INTERNAL_WORKER=$folder/late
at_terminal "$folder/real.out" "$RUN" -n 3 "$folder/real"
check 'status of workers that come late' $? 0
check 'workers that come' "$(lines "$folder/real.out" | grep -oE '[0-9] of 3 workers are up' | uniq | tail -n 3 | xargs)" \
    '0 of 3 workers are up 1 of 3 workers are up 2 of 3 workers are up'
check 'what is left of them' "$(screen "$folder/real.out" | grep -v ' share the ')" 'devices 3'
unset OMPRMA_INTERNAL_WORKER
none 'of workers that come' "$RUN" -n 2 "$folder/real"
check 'words of workers that come' "$(cat "$folder/out")" 'devices 2'

# ---- measuring
perf=("$BUILD_DIR/bin/omprma-perf" -n 1 --ops 'submit,launch,turns,settle' --sizes '8,4K' --reps 3)
at_terminal "$folder/perf" "${perf[@]}"
check 'status of omprma-perf' $? 0
check 'what it measured' "$(lines "$folder/perf" | grep perf)" 'omprma-perf: submit of 8 bytes, 1 of 6
omprma-perf: submit of 4096 bytes, 2 of 6
omprma-perf: launch, 3 of 6
omprma-perf: settle of 8 bytes, 4 of 6
omprma-perf: settle of 4096 bytes, 5 of 6
omprma-perf: turns, 6 of 6'
"${perf[@]}" >"$folder/table" 2>"$folder/err"
check 'the table is left' "$(screen "$folder/perf" | awk '{ print $1, $2, $3 }')" \
    "$(awk '{ print $1, $2, $3 }' "$folder/table")"
check 'sequences in a pipe' "$(cat "$folder/table" "$folder/err" | grep -ca $'\e')" 0

check 'rows written over the line' "$(grep -caP '\e8[^\e]' "$folder/perf")" 0

# ---- images
cat >"$folder/image.c" <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <omprma/omprma.h>
int main(int count, char **words)
{
    struct stat status;
    int fd = open(words[count - 1], O_RDONLY);
    fstat(fd, &status);
    void *image = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int code = omprma_init();
    printf("half a");
    fflush(stdout);
    for (int device = 0; device < 2 && code == OMPRMA_OK; device++)
        code = omprma_image_load(device, image, status.st_size, NULL, 0);
    printf(" line %d\n", code);
    omprma_finalize();
    return code;
}
C
echo 'char large[80 << 20] = {1};' | "${CC:-cc}" -shared -fPIC -x c - -o "$folder/image.so" &&
    "${CC:-cc}" "$folder/image.c" -I "$SOURCE_DIR/include" -L "$BUILD_DIR/lib" -lomprma \
        "-Wl,-rpath,$BUILD_DIR/lib" -o "$folder/image" || exit 1
printf '#!/bin/sh\nexec "%s" "$@"\n' "$folder/image" >"$folder/loads"
chmod +x "$folder/loads"
at_terminal "$folder/images" "$RUN" -n 2 "$folder/loads" "$folder/image.so"
check 'status of a program with an image' $? 0
check 'images' "$(lines "$folder/images" | grep image)" 'omprma: image for device 0: 0 of 80 MiB are there
omprma: image for device 0: 32 of 80 MiB are there
omprma: image for device 0: 64 of 80 MiB are there
omprma: image of 80 MiB: device 0 loads it
omprma: image for device 1: 0 of 80 MiB are there
omprma: image for device 1: 32 of 80 MiB are there
omprma: image for device 1: 64 of 80 MiB are there
omprma: image of 80 MiB: device 1 loads it'
check 'half a line before it stays' "$(screen "$folder/images")" 'half a line 0'
none 'with an image' "$RUN" -n 2 "$folder/loads" "$folder/image.so"
finish
