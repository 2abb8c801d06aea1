# trace.jq: what is wrong with a file of --trace, a line each; nothing if it is right. Times have
# three decimals, and are compared in whole nanoseconds.
def ns: (. * 1000 | round);
def track: "\(.pid) \(.tid)";
.traceEvents as $all
| [$all[] | select(.ph == "X")] as $spans
| [$all[] | select(.ph != "M")] as $timed
| ([$all[] | select(.name == "thread_name") | {(track): .args.name}] | add // {}) as $tracks
| ([$all[] | select(.name == "process_name") | {"\(.pid)": .args.name}] | add // {}) as $processes
| ([$spans[] | {key: "\(track) \(.ts | ns)", value: .cat}] | from_entries) as $begins
| ([$spans[] | select(.cat == "region")] | group_by(track) | map({key: (.[0] | track), value: .})
    | from_entries) as $regions
| (if ($spans | length) == 0 then "no spans" else empty end),
  ($all[] | select((.ph | IN("X", "s", "f", "M")) | not) | "an event of phase \(.ph)"),
  ($timed | [.[].ts | ns] | if . == sort then empty else "times go backwards" end),
  ($timed[] | select(.ts < 0 or (.dur // 0) < 0) | "a time below 0: \(.)"),
  ($timed[] | select($tracks[track] == null or $processes["\(.pid)"] == null)
    | "a track without a name: \(track)"),
  ($spans[] | select(.cat as $cat | $tracks[track] // "" | startswith("\($cat)s") | not)
    | "a \(.cat) on track \($tracks[track])"),
  ($spans | group_by(track)[] | [., .[1:]] | transpose[] | select(.[1])
    | select((.[0].ts | ns) + (.[0].dur | ns) >= (.[1].ts | ns)) | "spans overlap: \(.)"),
  ([$timed[] | select(.ph != "X")] | group_by(.id)[] | select([.[].ph] != ["s", "f"])
    | "an arrow without a beginning or an end: \(.)"),
  ($timed[] | select(.ph == "s") | . as $arrow
    | select([$regions[track][]? | select((.ts | ns) <= ($arrow.ts | ns) and
        ($arrow.ts | ns) <= (.ts | ns) + (.dur | ns))] | length != 1)
    | "an arrow that begins in no region: \(.)"),
  ($timed[] | select(.ph == "f")
    | select($begins["\(track) \(.ts | ns)"] | IN(null, "region"))
    | "an arrow that ends at no part: \(.)")
