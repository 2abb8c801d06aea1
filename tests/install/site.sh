#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The site is made without a warning, its links lead somewhere, and nothing in it comes from a network. In a browser
# each page but those of the log fits a window of 400 and one of 1,200 pixels, no table is cut, and a search finds something.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
grep -q '^OMPRMA_SPHINX:FILEPATH=/' "$BUILD_DIR/CMakeCache.txt" || { echo 'skipped: no sphinx-build' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

cd "$SOURCE_DIR"
cmake --build "$BUILD_DIR" --target site >"$work/log" 2>&1 ||
    { tail -20 "$work/log" && fail 'the site cannot be made'; }
site=$BUILD_DIR/site
for page in docs/*.md docs/*/*.md; do
    [[ $page == docs/site/* ]] || [ -s "$site/${page%.md}.html" ] || complain "no ${page%.md}.html"
done
count=0
while IFS=: read -r page target; do
    count=$((count + 1))
    file=${target%%#*} file=${file%%\?*} # newer sphinx adds a sum of the file
    [ -z "$file" ] || [ -e "$(dirname "$page")/$file" ] || complain "$page: no $target"
done < <(find "$site" -name '*.html' -print0 | xargs -0 grep -oE '(href|src)="[^"]*"' |
    sed -E 's/:(href|src)="(.*)"$/:\2/' | grep -vE ':(https?|mailto):')
[ "$count" -gt 100 ] || complain "only $count links"
! grep -rnE '<(link|script|img|iframe)[^>]*(href|src)="(https?:)?//' --include='*.html' "$site" ||
    complain 'something comes from a network'
! grep -rnE '(@import|url\()[ "'\'']*(https?:)?//' --include='*.css' "$site" || complain 'a style comes from a network'

for picture in docs/pictures/*.svg; do
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture" || complain "$picture is no XML"
    grep -rqF "_images/$(basename "$picture")" --include='*.html' "$site" || complain "no page shows $picture"
done

twice=$(grep -oE '<li class="toctree-l1"><a[^>]*>[^<]*' "$site/docs/tutorial/first-program.html" | sed 's/.*>//' | sort | uniq -d)
[ -z "$twice" ] || complain "the list of pages has two of one name: $twice"

# ---- in a browser ----------------------------------------------------------------------------------

command -v chromium >/dev/null || { echo 'no chromium: pages are not looked at' && finish 'the site is complete'; exit; }

# A page that opens all others in frames of both widths, one after the other, and writes what does not fit: the
# page itself, or a table, whose frame would have to be moved sideways.
pages=$(cd "$site" && find . -name '*.html' ! -path './docs/lab/*' ! -name genindex.html ! -name search.html | sort | sed 's/.*/"&",/')
cat >"$work/look.html" <<PAGE
<html><body><pre id="found"></pre><iframe id="frame" style="height: 800px"></iframe><script>
const pages = [$pages], found = document.getElementById("found"), frame = document.getElementById("frame");
const load = page => new Promise(done => { frame.onload = done; frame.src = "file://$site/" + page; });
const say = text => { found.textContent += text + "\n"; };
(async () => {
    for (const width of [400, 1200]) {
        frame.style.width = width + "px";
        for (const page of pages) {
            await load(page);
            const inside = frame.contentDocument, root = inside.documentElement;
            if (root.scrollWidth > width)
                say("WIDE " + page + ": " + root.scrollWidth + " pixels of " + width);
            for (const table of inside.querySelectorAll(".wy-table-responsive, table"))
                if (table.scrollWidth > table.clientWidth + 1)
                    say("CUT " + page + ": a table of " + table.scrollWidth + " in " + table.clientWidth + " of " + width);
        }
    }
    await load("search.html?q=worker");
    for (let i = 0; i < 100 && !frame.contentDocument.querySelector("#search-results li"); i++)
        await new Promise(done => setTimeout(done, 50));
    say("SEARCH " + frame.contentDocument.querySelectorAll("#search-results li").length);
    say("END " + pages.length);
})();
</script></body></html>
PAGE
HOME=$work timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --allow-file-access-from-files --virtual-time-budget=200000 --dump-dom "file://$work/look.html" \
    >"$work/seen" 2>"$work/log" || { tail -5 "$work/log" && complain 'chromium failed'; }
grep -q '^END ' "$work/seen" || { tail -5 "$work/log" "$work/seen" && complain 'not all pages were looked at'; }
! grep -oE '(WIDE|CUT) [.]/.*' "$work/seen" || complain 'these pages do not fit'
grep -qE 'SEARCH [1-9]' "$work/seen" || complain 'a search for "worker" finds nothing'

finish "the site is complete; $(grep -o '^END [0-9]*' "$work/seen" | cut -d' ' -f2) pages fit their windows"
