# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# graphs.awk: what perf/graphs measured, a line for each limit. It reads
#   GRAPH VERSION PATTERN WORKERS US TASKS ELAPSED_US LEAST_BYTES
#   MOVED PATTERN WORKERS BYTES
# and takes the shortest of several. Variables: patterns and counts, lists with commas.

$1 == "MOVED" { moved[$2, $3] += $4 }
$1 == "GRAPH" {
    key = $2 " " $3 " " $4
    if (!((key, $5) in elapsed) || $7 < elapsed[key, $5])
        elapsed[key, $5] = $7
    tasks[key, $5] = $6
    if ($2 == "auto")
        least[$3, $4] += $8
    if (!seen[$5]++)
        lengths[++length_count] = $5
    if ($5 * $6 / $7 / $4 > peak[$4])
        peak[$4] = $5 * $6 / $7 / $4
}

# Of the workers' time, the part in which tasks worked.
function efficiency(key, us, n) { return us * tasks[key, us] / elapsed[key, us] / n }

# From long tasks to short ones: where less than half of the peak is reached first, in between.
# Microseconds of a worker for each task.
function finest(key, n,    i, us, part, grain, last_part, last_grain) {
    for (i = length_count; i > 0; i--) {
        us = lengths[i]
        if (!((key, us) in elapsed))
            continue
        part = efficiency(key, us, n) / peak[n]
        grain = elapsed[key, us] * n / tasks[key, us]
        if (part < 0.5 && !last_grain)
            return "none"
        if (part < 0.5)
            return sprintf("%.1f", grain + (last_grain - grain) * (0.5 - part) / (last_part - part))
        last_part = part
        last_grain = grain
    }
    return sprintf("%.1f", last_grain)
}

# The largest over all lengths; its length in worst_us.
function largest_ratio(key, other,    i, us, ratio, worst) {
    for (i = 1; i <= length_count; i++) {
        us = lengths[i]
        if (!((key, us) in elapsed) || !((other, us) in elapsed))
            continue
        ratio = elapsed[key, us] / elapsed[other, us]
        if (ratio > worst) {
            worst = ratio
            worst_us = us
        }
    }
    return worst
}

function row(good, name, value, limit, words) {
    printf "%-5s %-28s %9s  %-7s %s\n", (good ? "pass" : "MISS"), name, value, limit, words
}

function pattern_rows(name, n,    auto, hand, mpi, value, good, one) {
    auto = "auto " name " " n
    hand = "hand " name " " n
    mpi = "mpi " name " " n
    one = "auto " name " 1"
    if (n <= 2) {
        value = finest(auto, n)
        good = value != "none" && value + 0 <= 10
        row(good, name "-finest-us", value, "<= 10", "by hand " finest(hand, n) ", MPI " finest(mpi, n))
    }
    if (n > 2) {
        value = efficiency(auto, 1000, n)
        row(value >= 0.9, name "-efficiency-1ms", sprintf("%.2f", value), ">= 0.9", \
            sprintf("by hand %.2f, MPI %.2f", efficiency(hand, 1000, n), efficiency(mpi, 1000, n)))
    }
    value = largest_ratio(auto, hand)
    row(value <= 1.2, name "-over-by-hand", sprintf("%.2f", value), "<= 1.2", \
        sprintf("the worst: tasks of %d us; of 1 ms %.2f", worst_us, \
                elapsed[auto, 1000] / elapsed[hand, 1000]))
    if (least[name, n] > 0) {
        value = moved[name, n] / least[name, n]
        row(value <= 1.1, name "-bytes-over-least", sprintf("%.2f", value), "<= 1.1", \
            sprintf("%.0f KiB for each round of all lengths", moved[name, n] / 1024))
    }
    if (n == 2 && ((one, 1000) in elapsed)) {
        value = efficiency(auto, 1000, 2) * 2 / efficiency(one, 1000, 1)
        row(value >= 1.7, name "-over-one-worker", sprintf("%.2f", value), ">= 1.7", "tasks of 1 ms")
    }
}

END {
    pattern_count = split(patterns, pattern_list, ",")
    worker_count = split(counts, worker_list, ",")
    for (w = 1; w <= worker_count; w++) {
        n = worker_list[w] + 0
        printf "%d workers that %s; at most %.2f of their time was work\n", n, \
            (n > 2 ? "sleep" : "compute"), peak[n]
        for (p = 1; p <= pattern_count; p++)
            pattern_rows(pattern_list[p], n)
    }
}
