# trace.jq: what is wrong with a file of --trace, a line each; nothing if it is right. Times have
# three decimals, and are compared in whole nanoseconds.
def ns: (. * 1000 | round);
def past: (.ts | ns) + (.dur | ns);
def track: "\(.pid) \(.tid)";
# Spans of a track that lie in one another only in part.
def torn: reduce .[] as $span ({ends: [], torn: []};
    .ends |= map(select(. > ($span.ts | ns)))
    | if (.ends | length) > 0 and ($span | past) > .ends[-1] then .torn += [$span] else .ends += [$span | past] end) | .torn[];
.traceEvents as $all
| [$all[] | select(.ph == "X")] as $spans
| [$all[] | select(.ph != "M")] as $timed
| ([$all[] | select(.name == "thread_name") | {(track): .args.name}] | add // {}) as $tracks
| ([$all[] | select(.name == "process_name") | {"\(.pid)": .args.name}] | add // {}) as $processes
| ([$spans[] | select(.cat == "region") | {key: "\(.args.region)", value: .}] | from_entries) as $regions
| (if ($spans | length) == 0 then "no spans" else empty end),
  ($all[] | select((.ph | IN("X", "C", "M", "s", "f")) | not) | "an event of phase \(.ph)"),
  ($timed | [.[].ts | ns] | if . == sort then empty else "times go backwards" end),
  ($timed[] | select(.ts < 0 or (.dur // 0) < 0) | "a time below 0: \(.)"),
  ($timed[] | select($processes["\(.pid)"] == null or (.ph == "X" and $tracks[track] == null))
    | "a track without a name: \(.)"),
  ($spans[] | (if .pid == 1 then "thread " else "queue \(.args.queue)" end) as $name
    | select(($tracks[track] // "") | startswith($name) | not)
    | "on track \($tracks[track]): \(.)"),
  ($spans[] | select((.cat == "host") != (.pid == 1) or (.pid != 1 and .pid != .args.device + 2))
    | "in the wrong process: \(.)"),
  ($spans | group_by(track)[] | torn | "spans overlap: \(.)"),
  ($spans[] | select(.cat != "region" and .cat != "host" and $regions["\(.args.region)"] != null)
    | . as $part | $regions["\(.args.region)"]
    | select((.ts | ns) > ($part.ts | ns) or past < ($part | past)) | "a part beside its region: \($part)"),
  ([$timed[] | select(.ph == "C")] | group_by(.pid, .name)[]
    | select(.[-1].name != "memory in use" and .[-1].args.value != 0) | "a counter that does not end at 0: \(.[-1])"),
  ([$timed[] | select(.ph | IN("s", "f"))] | group_by(.id)[]
    | select(length != 2 or .[0].ph != "s" or .[1].ph != "f" or .[0].pid == .[1].pid) | "half an arrow: \(.)"),
  ([$timed[] | select(.ph | IN("s", "f"))][] | . as $tip
    | select(any($spans[]; track == ($tip | track) and (.ts | ns) <= ($tip.ts | ns) and ($tip.ts | ns) <= past) | not)
    | "an end of an arrow in no span: \(.)")
