# targets.jq: from the merged results of omprma-perf to one line per target: name, worst value,
# limit, where it was found, pass or MISS (busy: cannot be told); with $all also every value.

.results as $results

| def bytes:
      if . >= 1048576 then "\(. / 1048576) MiB" elif . >= 1024 then "\(. / 1024) KiB" else "\(.) B"
      end;
  # Of an array, or of the values of an object.
  def median:
      [.[]] | if length == 0 then error("nothing was measured") else sort | .[length / 2 | floor] end;
  def rows($op; $path): [$results[] | select(.op == $op and .path == $path)];
  # The times of an operation by run: only what one run measured in turns is compared.
  def times($op; $path; $bytes):
      rows($op; $path) | map(select($bytes == null or .bytes == $bytes))
      | map({key: "\(.run)", value: .us_median}) | from_entries;
  def better($one; $other): $one | with_entries(.value = ([.value, $other[.key]] | min));
  def sizes($op; $low; $high):
      [$results[] | select(.op == $op and .bytes >= $low and .bytes <= $high).bytes] | unique;
  def one($value): [{at: "", value: $value}];

  # How many times as long as another one takes, and how many times as fast as it is: medians of
  # runs.
  def ratio($time; $other): [$time | keys[] | $time[.] / $other[.]] | median;
  def speed($op; $path; $than; $low; $high):
      [sizes($op; $low; $high)[]
       | {at: bytes, value: ratio(times($op; $than; .); times($op; $path; .))}];
  def speed($op; $path; $than; $low): speed($op; $path; $than; $low; 268435456);
  def slowdown($op): one(ratio(times($op; "auto"; null); times($op; "raw"; null)));
  # A ping-pong that shared its core with something else takes many times as long as the best one;
  # nothing can be compared to it.
  def disturbed($op):
      ([$results[]
        | select(.path == "raw" and (.op | IN("launch", "region", "openmp-region"))).us_min]
       | min) as $best
      | (times($op; "raw"; null) | median) > 2.5 * $best;
  # A time by another field, from several runs.
  def by($by; $op; $field; choose):
      rows($op; "auto") | group_by(.[$by])
      | map({key: "\(.[0][$by])", value: (map(.[$field]) | choose)}) | from_entries;

  def targets:
      1048576 as $mib
      | (("submit", "retrieve") as $op
         | {name: "\($op): rma / bare one-sided MPI, from 1 MiB", at_least: 0.95,
            values: speed($op; "rma"; "raw"; $mib)},
           {name: "\($op): two-sided / bare two-sided MPI, from 1 MiB", at_least: 0.95,
            values: speed($op; "two-sided"; "raw-two-sided"; $mib)},
           {name: "\($op): auto / bare one-sided MPI, 16 to 256 KiB", at_least: 2,
            values: speed($op; "auto"; "raw"; 16384; 262144)},
           {name: "\($op): auto / bare one-sided MPI, from 16 MiB", at_least: 1.5,
            values: speed($op; "auto"; "raw"; 16 * $mib)},
           {name: "\($op): auto / better of rma and two-sided", at_least: 0.95,
            values: [sizes($op; 1; 268435456)[]
                     | {at: bytes,
                        value: ratio(better(times($op; "rma"; .); times($op; "two-sided"; .));
                                     times($op; "auto"; .))}]}),
        {name: "exchange: rma / bare put between the workers", at_least: 0.95,
         values: speed("exchange"; "rma"; "raw"; $mib)},
        {name: "exchange: auto / bare put between the workers", at_least: 1.4,
         values: speed("exchange"; "auto"; "raw"; $mib)},
        {name: "exchange: auto / through the application", at_least: 1.9,
         values: speed("exchange"; "auto"; "via-application"; $mib)},
        {name: "launch, over the ping-pong", at_most: 1.3, values: slowdown("launch"),
         disturbed: disturbed("launch")},
        {name: "region, over the ping-pong", at_most: 1.6, values: slowdown("region"),
         disturbed: disturbed("region")},
        {name: "OpenMP region, over the ping-pong of its session", at_most: $region_limit,
         values: slowdown("openmp-region"), disturbed: disturbed("openmp-region")},
        {name: "alloc + free, 64 B to 1 MiB, microseconds", at_most: 0.2,
         values: [sizes("alloc"; 64; $mib)[]
                  | {at: bytes, value: (times("alloc"; "auto"; .) | median)}]},
        {name: "head time per region, most / least of 1, 2, 4, 8 workers", at_most: 1.2,
         values: (by("workers"; "head"; "us_median"; min) | one(([.[]] | max) / ([.[]] | min)))},
        {name: "mapping one of 10,000 arrays, the last 3,000 / 1,000 to 4,000", at_most: 1.2,
         values: (by("live"; "maps"; "us_median"; median)
                  | one((.["8000"] + .["9000"] + .["10000"])
                        / (.["2000"] + .["3000"] + .["4000"])))},
        {name: "memory of a worker, MiB", at_most: 32,
         values: [rows("idle"; "auto")[] | {at: "device \(.device)",
                                            value: (.memory_bytes / 1048576)}]},
        {name: "idle worker, % of a core", at_most: 1,
         values: [rows("idle"; "auto")[] | {at: "device \(.device)", value: (100 * .cpu_share)}]},
        {name: "first region after 10 s, microseconds", at_most: 1000,
         values: [rows("idle"; "auto")[] | {at: "device \(.device)", value: .us_median}]},
        {name: "mean region in turns, \(2 * $cores) / \($cores) workers on \($cores) cores",
         at_most: 3,
         values: (by("workers"; "turns"; "us_mean"; median)
                  | one(.["\(2 * $cores)"] / .["\($cores)"]))};

  targets
  | (if .at_least then (.values | min_by(.value)) else (.values | max_by(.value)) end) as $worst
  | (if .at_least then $worst.value >= .at_least else $worst.value <= .at_most end) as $met
  | ([.name, $worst.value, (if .at_least then ">= \(.at_least)" else "<= \(.at_most)" end),
      $worst.at, (if .disturbed then "busy" elif $met then "pass" else "MISS" end)] | @tsv),
    (if $all == "" or (.values | length) == 1 then empty
     else .values[] | ["", .value, "", .at, ""] | @tsv end)
