/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timeline_file.c: the lines of the file, in the order of their times. No JSON library, because
 * this code may run inside the user's program, which may carry another version of one.
 */
#include <string.h>

#include "base/kernel_name.h"
#include "report/outfile.h"
#include "report/regions.h"
#include "report/timeline.h"

static const char *const kind_names[] = {
    [SPAN_REGION] = "region", [SPAN_KERNEL] = "kernel",   [SPAN_TRANSFER] = "transfer",
    [SPAN_WAIT] = "wait",     [SPAN_COMMAND] = "command",
};

/* Process 1 stands for the program; those of devices follow. */
static int process_of(int device)
{
    return device + 2;
}

/* Some readers take a thread and a process of the same number for the same thing. */
static uint32_t thread_of(const struct timeline *timeline, uint32_t track)
{
    return (uint32_t)timeline->recording->device_count + 1 + track;
}

static const char *words(const struct timeline *timeline, uint32_t text)
{
    return recording_words(timeline->recording, text);
}

/* ---- names ---- */

static void print_meta(FILE *file, const char *what, int process, uint32_t thread)
{
    fprintf(file, ",\n{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d", what, process);
    if (thread)
        fprintf(file, ",\"tid\":%u", thread);
    fprintf(file, ",\"args\":{");
}

/* Of another clock. */
static void print_clock(const struct timeline *timeline, int device, FILE *file)
{
    const struct recorded_device *clocks = &timeline->recording->device[device];
    int64_t first = clocks->first.within_ns, last = clocks->last.within_ns;

    if (first < 0 || (clocks->first.ahead_ns == 0 && clocks->last.ahead_ns == 0))
        return;
    print_meta(file, "process_labels", process_of(device), 0);
    fprintf(file, "\"labels\":\"its clock brought to the program's to within %lld us\"}}",
            (long long)((first > last ? first : last) / 1000 + 1));
}

static void print_process(const struct timeline *timeline, int device, FILE *file)
{
    print_meta(file, "process_name", process_of(device), 0);
    fprintf(file, "\"name\":\"");
    outfile_text(file, device < 0 ? "program"
                                  : words(timeline, timeline->recording->device[device].name));
    fprintf(file, "\"}}");
    print_meta(file, "process_sort_index", process_of(device), 0);
    fprintf(file, "\"sort_index\":%d}}", process_of(device));
    if (device >= 0)
        print_clock(timeline, device, file);
}

static void print_track(const struct timeline *timeline, uint32_t at, FILE *file)
{
    const struct track *track = &timeline->tracks[at - 1];
    uint32_t thread = thread_of(timeline, at);

    print_meta(file, "thread_name", process_of(track->device), thread);
    fprintf(file, "\"name\":\"%s %u", track->device < 0 ? "thread" : "queue", track->key);
    if (track->lane)
        fprintf(file, ", %u", track->lane + 1);
    fprintf(file, "\"}}");
    print_meta(file, "thread_sort_index", process_of(track->device), thread);
    fprintf(file, "\"sort_index\":%llu}}",
            (unsigned long long)(track->key & 0xffffff) << 12 | (track->lane & 0xfff));
}

/* ---- spans ---- */

/* A kernel's source stands behind its name; "": not known. */
static const char *source_of(const struct timeline *timeline, const struct span *span)
{
    const char *name = words(timeline, span->name);

    return span->name ? name + strlen(name) + 1 : "";
}

static bool has_kernel(const struct span *span)
{
    return span->kind == SPAN_KERNEL || (span->kind == SPAN_REGION && span->launches);
}

static void print_name(const struct timeline *timeline, const struct span *span, FILE *file)
{
    char text[REGION_NAME_BYTES];
    const char *name = words(timeline, span->name);

    outfile_text(file,
                 has_kernel(span) ? region_name(name, source_of(timeline, span), text) : name);
}

/* The symbol, and what it says. */
static void print_kernel(const struct timeline *timeline, const struct span *span, FILE *file)
{
    const char *symbol = words(timeline, span->name), *source = source_of(timeline, span);
    struct kernel_name name;

    fprintf(file, ",\"kernel\":\"");
    outfile_text(file, symbol);
    fputc('"', file);
    if (!*source || !kernel_name_split(symbol, &name))
        return;
    fprintf(file, ",\"source\":\"");
    outfile_text(file, source);
    fprintf(file, ":%d\"", name.line);
}

static void print_us(FILE *file, const char *name, int64_t ns)
{
    fprintf(file, ",\"%s\":%lld.%03lld", name, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void print_number(FILE *file, const char *name, uint64_t value)
{
    if (value)
        fprintf(file, ",\"%s\":%llu", name, (unsigned long long)value);
}

static int64_t since(const struct timeline *timeline, int64_t at_ns)
{
    int64_t ns = at_ns - timeline->recording->origin_ns;

    return ns > 0 ? ns : 0;
}

/* How long it was asked for before it began, and ended before the program knew. */
static void print_seen(const struct slice *slice, FILE *file)
{
    const struct span *span = slice->span;

    print_us(file, "queued_us", slice->begin_ns - span->asked_ns);
    if (span->ran_ns)
        print_us(file, "result_us", span->end_ns - slice->end_ns);
    fprintf(file, ",\"seen\":\"%s\"", span->ran_ns ? "worker" : "program");
}

static void print_begin(const struct timeline *timeline, const struct slice *slice, FILE *file)
{
    const struct span *span = slice->span;

    fprintf(file, ",\n{\"name\":\"");
    if (slice->is_wait)
        fprintf(file, "wait for ");
    print_name(timeline, span, file);
    fprintf(file, "\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%u",
            slice->is_wait ? "host" : kind_names[span->kind],
            process_of(slice->is_wait ? -1 : (int)span->device), thread_of(timeline, slice->track));
    print_us(file, "ts", since(timeline, slice->begin_ns));
    print_us(file, "dur", slice->end_ns - slice->begin_ns);
    fprintf(file, ",\"args\":{\"device\":%u,\"queue\":%u", span->device, span->queue);
    print_number(file, "region", span->kind == SPAN_REGION ? span->number : span->region);
}

static void print_slice(const struct timeline *timeline, const struct slice *slice, FILE *file)
{
    const struct span *span = slice->span;

    print_begin(timeline, slice, file);
    if (slice->is_wait) {
        fprintf(file, "}}");
        return;
    }
    print_number(file, "launches", span->launches);
    if (span->kind == SPAN_KERNEL)
        print_kernel(timeline, span, file);
    if (span->path)
        fprintf(file, ",\"path\":\"%s\"", words(timeline, span->path));
    print_number(file, "bytes", span->kind == SPAN_TRANSFER ? span->to + span->back : 0);
    if (span->kind != SPAN_TRANSFER) {
        print_number(file, "bytes_to", span->to);
        print_number(file, "bytes_back", span->back);
    }
    print_number(file, "message_bytes", span->message);
    if (span->with >= 0)
        fprintf(file, ",\"with\":%d", span->with);
    if (span->waited_ns)
        print_us(file, "waited_us", span->waited_ns);
    if (span->kind != SPAN_REGION)
        print_seen(slice, file);
    fprintf(file, "%s%s}}", span->failed ? ",\"failed\":true" : "",
            span->unended ? ",\"unended\":true" : "");
}

static void print_sample(const struct timeline *timeline, const struct sample *sample, FILE *file)
{
    fprintf(file, ",\n{\"name\":\"%s\",\"ph\":\"C\",\"pid\":%d", sample->name,
            process_of((int)sample->device));
    print_us(file, "ts", since(timeline, sample->at_ns));
    fprintf(file, ",\"args\":{\"value\":%llu}}", (unsigned long long)sample->value);
}

static void print_arrow(const struct timeline *timeline, const struct arrow_end *end, FILE *file)
{
    const struct slice *slice = end->slice;

    fprintf(file,
            ",\n{\"name\":\"data\",\"cat\":\"data\",\"ph\":\"%s\",\"id\":%u,\"pid\":%d,\"tid\":%u",
            end->is_head ? "f\",\"bp\":\"e" : "s", end->number,
            process_of((int)slice->span->device), thread_of(timeline, slice->track));
    print_us(file, "ts", since(timeline, end->at_ns));
    fputc('}', file);
}

/* What has a moment only: counters and ends of arrows, up to this one. */
struct moments {
    uint32_t sample, arrow;
};

static void print_moments(const struct timeline *timeline, struct moments *done, int64_t up_to_ns,
                          FILE *file)
{
    for (;;) {
        const struct sample *sample =
            done->sample < timeline->sample_count ? &timeline->samples[done->sample] : NULL;
        const struct arrow_end *end =
            done->arrow < timeline->arrow_count ? &timeline->arrows[done->arrow] : NULL;

        if (sample && sample->at_ns <= up_to_ns && (!end || sample->at_ns <= end->at_ns))
            print_sample(timeline, &timeline->samples[done->sample++], file);
        else if (end && end->at_ns <= up_to_ns)
            print_arrow(timeline, &timeline->arrows[done->arrow++], file);
        else
            return;
    }
}

/* ---- all ---- */

static void print_other(const struct timeline *timeline, FILE *file)
{
    const struct recording *recording = timeline->recording;
    uint64_t kept = recording->ended < RECORDING_SPANS ? recording->ended : RECORDING_SPANS;
    const char *before = "";

    fprintf(file, "\"otherData\":{\"omprma\":\"%s\",\"program\":\"", OMPRMA_VERSION_STRING);
    outfile_text(file, words(timeline, recording->program));
    fprintf(file, "\",\"data path\":\"");
    outfile_text(file, words(timeline, recording->choice));
    fprintf(file, "\",\"devices\":\"%d\",\"hosts\":\"", recording->device_count);
    for (int i = 0; i < recording->device_count; i++) {
        const char *host = words(timeline, recording->device[i].host);

        if (i > 0 && strcmp(host, words(timeline, recording->device[i - 1].host)) == 0)
            continue;
        fprintf(file, "%s", before);
        outfile_text(file, host);
        before = " ";
    }
    fprintf(file, "\",\"spans\":\"%llu\",\"earlier spans that are not kept\":\"%llu\"}",
            (unsigned long long)kept,
            (unsigned long long)(recording->ended - kept + recording->missed));
}

void timeline_print(const struct timeline *timeline, FILE *file)
{
    struct moments done = {0, 0};

    fprintf(file, "{\"displayTimeUnit\":\"ns\",");
    print_other(timeline, file);
    fprintf(file, ",\n\"traceEvents\":[\n{\"name\":\"trace_begin\",\"ph\":\"M\",\"pid\":1,"
                  "\"args\":{}}");
    for (int device = -1; device < timeline->recording->device_count; device++)
        print_process(timeline, device, file);
    for (uint32_t i = 1; i <= timeline->track_count; i++)
        print_track(timeline, i, file);
    for (uint32_t i = 0; i < timeline->slice_count; i++) {
        print_moments(timeline, &done, timeline->slices[i].begin_ns, file);
        print_slice(timeline, &timeline->slices[i], file);
    }
    print_moments(timeline, &done, INT64_MAX, file);
    fprintf(file, "\n]}\n");
}
