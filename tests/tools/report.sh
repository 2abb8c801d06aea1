#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The page of omprma-perf --report: every row of the table, a plot per operation, well-formed,
# refers to nothing outside; without gnuplot a page without plots.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
PERF=$BUILD_DIR/bin/omprma-perf
command -v python3 >/dev/null || exit 77

# What is wrong with page $1, for the table $2 and a job whose command line held $3; $4 plots.
cat >"$folder/look.py" <<'PY'
import re, sys
import xml.etree.ElementTree as tree

page, table, word, plots = sys.argv[1:]
html, svg = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
root = tree.parse(page).getroot()
text = lambda element: "".join(element.itertext())
rows = [" ".join(filter(None, (text(cell) for cell in row)))
        for body in root.iter(html + "tbody") for row in body]
wanted = [" ".join(line.split()) for line in open(table).read().splitlines()[1:]]
if sorted(rows) != sorted(wanted):
    print("rows differ:", set(rows) ^ set(wanted))
facts = {text(row[0]): text(row[1]) for row in root.iter(html + "tr") if row[0].tag == html + "th"}
if word not in facts["Command"]:
    print("command line:", facts["Command"])
for name in "Date", "Machine", "Kernel", "MPI", "omprma", "Workers":
    if not facts[name].strip():
        print("nothing said of", name)
drawn = [element for element in root.iter(svg + "svg")]
if len(drawn) != int(plots):
    print(len(drawn), "plots")
if not all(list(element.iter(svg + "path")) for element in drawn):
    print("a plot without lines")
ids = [element.get("id") for element in root.iter() if element.get("id")]
if len(ids) != len(set(ids)):
    print("names that are there twice")
for element in root.iter():
    if element.tag in (html + "script", html + "link", svg + "script"):
        print("not one file:", element.tag)
    for name, value in element.items():
        if re.search(r"(href|src)$", name) and value[1:] not in ids:
            print("refers to", value)
PY

word="a <b> & 'c'"
timeout 120 "$PERF" --ops submit,launch,region,alloc,turns,settle --sizes 8,4K --reps 3 \
    --report "$folder/page.html" --json "$folder/$word.json" >"$folder/table" 2>"$folder/err"
check 'status' $? 0
check 'lines of the table' "$(wc -l <"$folder/table")" \
    "$(($(jq '.results | length' "$folder/$word.json") + 1))"
plots=0
! command -v gnuplot >/dev/null || plots=4
check 'the page' "$(python3 "$folder/look.py" "$folder/page.html" "$folder/table" 'a <b> & ' $plots 2>&1)" ''

check 'operations in words' "$(grep -c '^<li><b>' "$folder/page.html")" 4

mkdir "$folder/bin"
for program in mpirun orted prterun prted hydra_pmi_proxy sh; do # as far as this MPI has them
    ! path=$(type -P $program) || ln -s "$path" "$folder/bin"
done
ln -s "$(type -P true)" "$folder/bin/ssh" # mpirun looks for it
python=$(command -v python3)
PATH=$folder/bin:/nonexistent /usr/bin/timeout 120 "$PERF" -n 1 --ops submit --sizes 8 --reps 3 \
    --report "$folder/plain.html" >"$folder/table" 2>"$folder/err"
check 'status without gnuplot' $? 0
check 'said once' "$(grep -c 'no plots: gnuplot is not installed' "$folder/err")" 1
check 'said in the page' "$(grep -c 'No plots' "$folder/plain.html")" 1
check 'the page without plots' \
    "$("$python" "$folder/look.py" "$folder/plain.html" "$folder/table" plain.html 0 2>&1)" ''

out=$(timeout 20 "$PERF" --report /no/such/folder/it.html 2>&1)
check 'status for a page that cannot be written' "$? $out" \
    '125 omprma: error: --report /no/such/folder/it.html: No such file or directory'
finish
