#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every option, setting and function has its place in a manual page, in the completion and in the
# documents; the pages are well-formed; bash, zsh and fish complete options, values and programs.
set -euo pipefail

share=$BUILD_DIR/share
man=$share/man
[ -d "$man" ] || { echo 'skipped: this build has no manuals (no python3)' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

# text FILE: as it is read, on one line
text() {
    sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' "$1" | tr -s '\n ' ' '
}

# ---- nothing is left out ---------------------------------------------------------------------------

for page in programs settings functions; do
    cmp "$share/reference/$page.md" "$SOURCE_DIR/docs/reference/$page.md" ||
        complain "docs/reference/$page.md is out of date: cp $share/reference/$page.md docs/reference/"
done
cat "$SOURCE_DIR"/README.md "$SOURCE_DIR"/docs/{tutorial,how-to,reference,explanation}/*.md >"$work/documents"
completion=$share/bash-completion/completions
count=0
for program in "$BUILD_DIR"/bin/omprma-*; do
    name=${program##*/}
    [ -s "$man/man1/$name.1" ] || { complain "no page $name.1" && continue; }
    text "$man/man1/$name.1" >"$work/page"
    while read -r option; do
        count=$((count + 1))
        grep -qE -- "(^|[ ,])$option([= []|\$)" "$work/page" || complain "$name.1: no $option"
        grep -E "^    \[$name\]=" "$completion/$name" | grep -qE -- "[' ]${option}[' ]" ||
            complain "completion of $name: no $option"
        grep -qE -- "\\)${option}(=|\\[)" "$share/zsh/site-functions/_$name" || complain "zsh: $name: no $option"
        grep -qE -- " -l ${option#--} " "$share/fish/vendor_completions.d/$name.fish" || complain "fish: $name: no $option"
        case $option in --help | --version) continue ;; esac
        grep -qE -- "$option\b" "$work/documents" || complain "README.md, docs: no $option"
    done < <("$program" --help=all 2>&1 | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
done
[ "$count" -gt 20 ] || complain "only $count options found"

# Settings whose help is empty are for tests.
count=0
text "$man/man7/omprma-settings.7" >"$work/settings"
text "$man/man1/omprma-run.1" >"$work/page"
while read -r setting; do
    count=$((count + 1))
    grep -q " $setting=" "$work/settings" || complain "omprma-settings.7: no $setting"
    grep -q " $setting=" "$work/page" || complain "omprma-run.1: no $setting"
    grep -qw "$setting" "$work/documents" || complain "README.md, docs: no $setting"
done < <(tr '\n' ' ' <"$SOURCE_DIR/src/base/config.def" | grep -oE 'CONFIG_[A-Z_]+\([^;]*' |
    sed 's/CONFIG_/\nCONFIG_/g' | grep -vE '""\) *$|^$' |
    sed -nE 's/^CONFIG_[A-Z_]+\([a-z_]+, "([A-Z_]+)".*/OMPRMA_\1/p')
[ "$count" -gt 15 ] || complain "only $count settings found"

count=0
while read -r function; do
    count=$((count + 1))
    [ -s "$man/man3/$function.3" ] || complain "no page $function.3"
done < <(nm -D --defined-only "$BUILD_DIR/lib/libomprma.so" |
    sed -nE 's/.* (omprma_[a-z_]+)@@OMPRMA_[0-9.]+$/\1/p')
[ "$count" -gt 20 ] || complain "only $count functions found"

# ---- pages are well-formed ---------------------------------------------------------------------------

for page in "$man"/man?/*; do
    ! LC_ALL=C grep -nP '[^\x00-\x7f]' "$page" || complain "$page: not plain ASCII"
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W style "$page" || complain "$page: mandoc"
    fi
    if command -v man >/dev/null; then
        LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
            2>"$work/warnings" >"$work/out" || complain "$page: man"
        [ ! -s "$work/warnings" ] || { cat "$work/warnings" && complain "$page: man --warnings"; }
    fi
done

# ---- shells complete ----------------------------------------------------------------------------------

# What a bash, new and interactive as a user's, offers for the line up to the cursor: all that is
# possible is printed by readline when Tab is pressed twice.
offered() { # LINE
    local loaded=
    [ ! -r /usr/share/bash-completion/bash_completion ] ||
        loaded=". /usr/share/bash-completion/bash_completion;"
    cat >"$work/rc" <<RC
$loaded
PATH=$BUILD_DIR/bin:\$PATH PS1='' HISTFILE=
. "$completion/omprma-run"
bind 'set show-all-if-ambiguous on' 'set completion-query-items 0' 'set page-completions off'
bind '"\C-xk": kill-whole-line'
bind 'set enable-bracketed-paste off' 'set colored-stats off' 'set completion-display-width 0'
cd "$work/home"
RC
    # Tab, then the line is given up. All is typed ahead, so no key may mean something to a terminal.
    printf '%s\t\030kexit\n' "$1" |
        script -qec "bash --noprofile --rcfile $work/rc -i" /dev/null 2>&1 | tr -d '\r' |
        sed -e 's/\x1b\[[0-9;?]*[a-zA-Z]//g' -e 's/\x07//g'
}

offered_zsh() { # LINE
    PATH=$BUILD_DIR/bin:$PATH timeout 60 zsh -f "$SOURCE_DIR/tests/install/offered.zsh" \
        "$share/zsh/site-functions" "$work/home" "$1" | tr '\r' '\n' | sed -e 's/\x1b\[[0-9;?]*[a-zA-Z]/ /g'
}

offered_fish() { # LINE
    (cd "$work/home" && PATH=$BUILD_DIR/bin:$PATH HOME=$work fish --no-config \
        "$SOURCE_DIR/tests/install/offered.fish" "$share/fish/vendor_completions.d/${1%% *}.fish" "$1" | tr '\t' ' ')
}

shells=()
for shell in zsh fish; do
    if command -v $shell >/dev/null; then shells+=("_$shell"); else echo "no $shell: its completion is not tried"; fi
done

expect() { # LINE WANTED...: WANTED as bash offers it, with what stands before it
    local line=$1 got word shell
    shift
    for shell in '' "${shells[@]}"; do
        got=$("offered$shell" "$line")
        for word in "$@"; do
            [ -z "$shell" ] || word=${word##*[ =,/]}
            grep -qE -- "(^|[ =,/])$word\$|(^|[ =,/])$word([ /*]|\$)" <<<"$got" ||
                complain "completion of \"$line\"${shell:+ by ${shell#_}}: no \"$word\" in: $got"
        done
    done
}

if command -v script >/dev/null; then
    mkdir -p "$work/home/folder"
    printf '#!/bin/sh\n' >"$work/home/program"
    chmod +x "$work/home/program"
    touch "$work/home/hosts.txt"
    expect 'omprma-run --d' --data --devices-per-worker --dry-run
    expect 'omprma-run --data ' auto rma two-sided
    expect 'omprma-run --data=' auto rma two-sided
    expect 'omprma-run --osc=u' 'omprma-run --osc=ucx'
    expect 'omprma-run --backends native,c' 'omprma-run --backends native,cuda'
    expect 'omprma-run --hostfile h' 'omprma-run --hostfile hosts.txt'
    expect 'omprma-run -n 2 ./p' 'omprma-run -n 2 ./program'
    expect 'omprma-run -n 2 ./program ho' 'omprma-run -n 2 ./program hosts.txt'
    expect 'omprma-perf --ops launch,sub' 'omprma-perf --ops launch,submit'
    expect 'omprma-perf --runtime ' auto llvm omprma
    expect 'omprma-info --os' 'omprma-info --osc'
    # What a description may hold: nothing in it means something to a shell, or to zsh's own parser.
    python3 - "$SOURCE_DIR/scripts" "$work/odd" <<'PYTHON'
import pathlib, sys, types
sys.path.insert(0, sys.argv[1])
import completion
def option(name, text):
    return types.SimpleNamespace(name=name, short="", text=text, argument="", optional=False,
                                 names=lambda: ["--" + name], words=lambda: ("", []))
odd = [option("first", "Marks [worker 3 on node1] and \\it's so"), option("following", "Plain")]
for name, text in completion.files([types.SimpleNamespace(name="oddly", options=odd)]).items():
    file = pathlib.Path(sys.argv[2], name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
PYTHON
    for shell in "${shells[@]}"; do
        got=$(share=$work/odd "offered$shell" 'oddly --f')
        for word in "Marks \[worker 3 on node1\] and \\\\it's so" --following; do
            grep -q -- "$word" <<<"$got" || complain "completion by ${shell#_}: no \"$word\" in: $got"
        done
    done
else
    echo 'no script (bsdutils): the completion is not tried'
fi

finish 'manuals, completion and documents are complete'
