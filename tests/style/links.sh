#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Links between our documents work: the file is there, and so is the heading after '#'. Text in code
# blocks is left out, and addresses of other sites are not tried. Pages for users stay short.
set -euo pipefail
cd "$SOURCE_DIR"
status=0

# The headings of a document as anchors: lower case, punctuation gone, blanks to dashes.
anchors() { # FILE
    awk '/^ *```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
        sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# One "LINE TARGET" per link.
links() { # FILE
    awk '/^ *```/ { code = !code } code { next }
        { gsub(/`[^`]*`/, ""); text = $0
          while (match(text, /\]\([^) ]+\)/)) {
              print NR, substr(text, RSTART + 2, RLENGTH - 3)
              text = substr(text, RSTART + RLENGTH)
          } }' "$1"
}

mapfile -t documents < <(find . -name '*.md' -not -path './build*' -not -path './.git/*' | sort)
[ ${#documents[@]} -gt 0 ] || { echo 'no documents' && exit 1; }
count=0
for document in "${documents[@]}"; do
    while read -r line target; do
        count=$((count + 1))
        case $target in
        *://* | mailto:*) continue ;;
        esac
        file=${target%%#*}
        place=$document
        [ -z "$file" ] || place=$(dirname "$document")/$file
        if [ ! -e "$place" ]; then
            echo "${document#./}:$line: $target: no such file"
            status=1
        elif [[ $target == *'#'* ]] && ! anchors "$place" | grep -qxF -- "${target#*#}"; then
            echo "${document#./}:$line: $target: no such heading"
            status=1
        fi
    done < <(links "$document")
done
[ "$count" -gt 0 ] || { echo 'no links found: the search is broken' && exit 1; }

lines() { # FILE...: of all together
    cat "$@" | wc -l
}
[ "$(lines README.md)" -le 150 ] || { echo "README.md: $(lines README.md) lines, at most 150" && status=1; }
mapfile -t files < <(find docs/{tutorial,how-to,reference,explanation} -name '*.md' ! -name hsa.md) # a table, made
pages=$(lines "${files[@]}")
[ "$pages" -le 2000 ] || { echo "pages for users: $pages lines, at most 2000" && status=1; }
exit $status
