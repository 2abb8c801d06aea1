# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion for bash, zsh and fish, made by scripts/manuals from what the programs say of their options.

files(programs): the text of each file by its place under share/.
"""
import re

# ---- bash ------------------------------------------------------------------------------------------

BASH = r"""# Completion of omprma's programs for bash. Made by scripts/manuals.
# shellcheck shell=bash

declare -gA _omprma_options=(
%s)

# PROGRAM:OPTION -> kind of its value, and the words that it may be.
declare -gA _omprma_values=(
%s)

# What may stand for OPTION of PROGRAM, where CURRENT has been typed.
_omprma_value() { # PROGRAM OPTION CURRENT
    local kind words before=
    read -r kind words <<<"${_omprma_values[$1:$2]}"
    case $kind in
    file) mapfile -t COMPREPLY < <(compgen -f -- "$3") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -W "$words" -- "$3") ;;
    host) mapfile -t COMPREPLY < <(compgen -A hostname -- "$3") ;;
    list)
        [[ $3 != *,* ]] || before=${3%%,*},
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${3##*,}")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$3") ;;
    esac
    case $kind in file | folder) compopt -o filenames 2>/dev/null ;; esac
}

# The place of the PROGRAM that omprma-run is to start; 0: it is not there yet.
_omprma_started() { # PROGRAM
    local i word
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ "$word" = -- ]; then
            echo $((i + 1))
            return
        elif [[ $word != -* ]]; then
            echo "$i"
            return
        elif [ "${COMP_WORDS[i + 1]}" = "=" ]; then
            ((i += 2))
        elif [ "${_omprma_values[$1:$word]+there}" ]; then
            ((i += 1))
        fi
    done
    echo 0
}

_omprma() {
    local program=${1##*/} current=$2 before=$3 started=0
    COMPREPLY=()
    if [ "$program" = omprma-run ]; then
        started=$(_omprma_started "$program")
        if [ "$started" -gt 0 ] && [ "$COMP_CWORD" -gt "$started" ]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$started"
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                compopt -o filenames 2>/dev/null
            fi
            return
        fi
    fi
    if [ "$current" = "=" ]; then
        current=
    elif [ "$before" = "=" ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$started" = 0 ] && [ "${_omprma_values[$program:$before]+there}" ]; then
        _omprma_value "$program" "$before" "$current"
    elif [[ $started = 0 && $current = -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${_omprma_options[$program]}" -- "$current")
    elif [ "$program" = omprma-run ]; then
        case $current in
        */*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -d -- "$current" | sort -u) ;;
        esac
        compopt -o filenames 2>/dev/null
    fi
}

complete -F _omprma %s
"""


def bash(programs):
    options, values = "", ""
    for program in programs:
        names = [name for option in program.options
                 for name in option.names()]
        options += f"    [{program.name}]='{' '.join(names)}'\n"
        for option in program.options:
            kind, words = option.words()
            for name in option.names():
                if option.argument and not option.optional:
                    values += f"    [{program.name}:{name}]='{' '.join([kind] + words)}'\n"
    return BASH % (options, values, " ".join(program.name for program in programs))


def brief(option):
    """What an option does, in the few words that zsh and fish show beside it."""
    return re.split(r"\. | \(|; |: |, such as ", option.text)[0]


# ---- zsh -------------------------------------------------------------------------------------------

ZSH = """#compdef %s
# Completion of %s for zsh. Made by scripts/manuals.
_arguments -s -S : \\
%s"""

ZSH_STARTED = """    '(-)1:program: _alternative "commands\\:command\\:_command_names -e" "files\\:file\\:_files"' \\
    '*::argument: _normal'"""


def zsh_value(option):
    """What _arguments shall complete as an option's value: :NAME:ACTION."""
    if not option.argument:
        return ""
    kind, words = option.words()
    word = " ".join(words)
    action = {"file": "_files", "folder": "_files -/", "host": "_hosts",
              "list": f'_values -s , value {word}' if words else " "}.get(kind, f"({word})" if words else " ")
    return ("::" if option.optional else ":") + re.sub(r"[^A-Za-z0-9|,=]", " ", option.argument).lower() + ":" + action


def zsh_text(text):
    """A description in the brackets of _arguments, within single quotes."""
    return re.sub(r"[\[\]\\]", r"\\\g<0>", text).replace("'", "'\\''")


def zsh(program):
    lines = []
    for option in program.options:
        text = zsh_text(brief(option))
        long = f"--{option.name}" + ("=-" if option.optional else "=" if option.argument else "")
        names = [long] + ([option.short + ("+" if option.argument else "")] if option.short else [])
        left_out = " ".join(option.names())
        for name in names:
            lines.append(f"    '({left_out}){name}[{text}]{zsh_value(option)}'")
    text = " \\\n".join(lines + ([ZSH_STARTED] if program.name == "omprma-run" else []))
    return ZSH % (program.name, program.name, text)


# ---- fish ------------------------------------------------------------------------------------------

FISH = """# Completion of %s for fish. Made by scripts/manuals.
complete -c %s -f
%s"""

# Options of omprma-run end where the program begins; what follows is completed as a line of its own.
FISH_STARTED = """function __omprma_started
    set -l tokens (commandline -opc)
    set -e tokens[1]
    while set -q tokens[1]
        if contains -- $tokens[1] %s
            set -e tokens[1]
        else if not string match -q -- '-*' $tokens[1]; or test $tokens[1] = --
            return 0
        end
        set -e tokens[1]
    end
    return 1
end
complete -c omprma-run -a '(__fish_complete_subcommand -- %s)'
"""


def fish_value(option):
    if not option.argument:
        return ""
    kind, words = option.words()
    plain = " ".join(words)
    return {"file": "-rF", "folder": "-x -a '(__fish_complete_directories)'",
            "host": "-x -a '(__fish_print_hostnames)'",
            "list": f"-x -a '(__fish_append , {plain})'" if words else "-x"}.get(
                kind, f"-x -a '{plain}'" if words else "-x")


def fish(program):
    lines, condition = [], ""
    if program.name == "omprma-run":
        valued = " ".join(name for option in program.options if option.argument and not option.optional
                          for name in option.names())
        lines.append((FISH_STARTED % (valued, valued)).rstrip())
        condition = " -n 'not __omprma_started'"
    for option in program.options:
        short = f" -s '{option.short[1:]}'" if option.short else ""
        text = re.sub(r"['\\]", r"\\\g<0>", brief(option))
        value = "" if option.optional else fish_value(option)
        lines.append(f"complete -c {program.name}{condition}{short} -l {option.name} {value} -d '{text}'".replace("  ", " "))
    return FISH % (program.name, program.name, "\n".join(lines))


# ----------------------------------------------------------------------------------------------------


def files(programs):
    found = {}
    for program in programs:
        found[f"bash-completion/completions/{program.name}"] = bash(programs)
        found[f"zsh/site-functions/_{program.name}"] = zsh(program)
        found[f"fish/vendor_completions.d/{program.name}.fish"] = fish(program)
    return found
