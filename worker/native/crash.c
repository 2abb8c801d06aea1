/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * crash.c: faults in kernels and guarded copies, see crash.h. Everything that runs in a handler
 * uses its own small text routines and atomics: no allocation, no stdio, no lock.
 * Must not know: MPI, messages, queues.
 */
#define _GNU_SOURCE
#include "worker/native/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/log.h"
#include "base/peek.h"
#include "worker/native/image.h"
#include "worker/native/misaligned.h"

enum {
    STACK_BYTES = 64 << 10,    /* alternate stack; a signal frame alone may take 11 KiB */
    OVERFLOW_BYTES = 64 << 10, /* a fault this near below the stack pointer is an overflow */
    NULL_BYTES = 4096,         /* null pointers, and members of what they point to */
    SEARCH_BYTES = 64 << 10,   /* of a stack, for whose code called */
    SEARCH_WORDS = 256,        /* looked at a time */
    CODE_BYTES = 15,           /* the longest instruction */
    WRITTEN = 2,
    FETCHED = 16, /* in a page fault's error code */
};

/* One per thread of ours; never freed, since handlers of other threads walk the list. */
struct crash_slot {
    struct crash_slot *next;
    pthread_t thread;
    _Atomic uint64_t entry;      /* the kernel that the thread is in, 0: none */
    struct crash *_Atomic crash; /* of its device */
    _Atomic uint64_t order;      /* when it was entered, among all */
};

struct guard {
    sigjmp_buf environment;
    uint64_t bad; /* the faulting address */
};

/* initial-exec: the first access from a handler must not allocate. */
#define IN_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
IN_THREAD struct crash_slot *own_slot;
IN_THREAD struct guard *volatile own_guard;
IN_THREAD volatile sig_atomic_t describing; /* this thread's crash */
IN_THREAD bool has_stack;                   /* for signals */

static struct crash_slot *_Atomic slots;
static _Atomic uint64_t entered; /* kernels entered so far */
static void (*wake_service)(void);
static pid_t worker;       /* the process whose kernels these are */
static atomic_bool forked; /* this is a process that a kernel has forked */
static bool has_stack_key;
static pthread_key_t stack_key; /* a thread's signal stack, which is freed when it ends */

/* ---- description, async-signal-safe ---- */

struct words {
    char *text;
    size_t at;
};

static void text_add(struct words *words, const char *text)
{
    while (*text && words->at < CRASH_TEXT_BYTES - 1)
        words->text[words->at++] = *text++;
    words->text[words->at] = 0;
}

static void text_add_number(struct words *words, uint64_t value, unsigned base)
{
    char digits[24];
    size_t start = sizeof(digits) - 1;
    digits[start] = 0;
    do {
        digits[--start] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    text_add(words, digits + start);
}

static void text_add_hex(struct words *words, uint64_t value)
{
    text_add(words, "0x");
    text_add_number(words, value, 16);
}

static const char *signal_words(const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGSEGV:
        return "segmentation fault";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return info->si_code == FPE_INTDIV ? "integer division by zero" : "arithmetic error";
    case SIGILL:
        return "illegal instruction";
    default:
        return "signal";
    }
}

static void text_add_pc(struct words *words, uint64_t pc)
{
    uint64_t offset;

    text_add(words, " (pc ");
    if (image_offset(pc, &offset)) {
        text_add(words, "image+");
        text_add_hex(words, offset);
    } else {
        text_add_hex(words, pc);
        text_add(words, ", outside the image");
    }
}

/* False: it is another fault. */
static bool text_add_misaligned(struct words *words, const siginfo_t *info, uint64_t pc,
                                const struct crash_scene *scene)
{
    unsigned char code[CODE_BYTES] = {0};
    struct misaligned found;

    if (info->si_signo != SIGSEGV || info->si_code != SI_KERNEL ||
        !misaligned_find(code, peek((const void *)(uintptr_t)pc, code, sizeof(code)),
                         scene->registers, &found))
        return false;
    text_add(words, "misaligned vector of ");
    text_add_number(words, found.bytes, 10);
    text_add(words, " bytes at address ");
    text_add_hex(words, found.address);
    text_add_pc(words, pc);
    text_add(words, "): it must lie at a multiple of ");
    text_add_number(words, found.bytes, 10);
    text_add(words, ", as its type says; allocate what is mapped so on the host (alignas, "
                    "aligned_alloc), for the device keeps that");
    return true;
}

/* "segmentation fault at address 0x10 (pc image+0x1a)" */
static void text_add_fault(struct words *words, const siginfo_t *info, const ucontext_t *context,
                           const struct crash_scene *scene)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    bool overflow = info->si_code > 0 && info->si_code != SI_KERNEL &&
                    (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
                    address - (sp - OVERFLOW_BYTES) < OVERFLOW_BYTES + 4096;

    if (text_add_misaligned(words, info, pc, scene))
        return;
    text_add(words, signal_words(info));
    if (info->si_code <= 0) {
        text_add(words, " sent by a process");
        return;
    }
    if (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) {
        text_add(words, " at address ");
        /* The processor does not tell which address it was when it is not a canonical one. */
        if (info->si_code == SI_KERNEL)
            text_add(words, "(not a valid pointer)");
        else
            text_add_hex(words, address);
        if (overflow)
            text_add(words, ", stack overflow");
    }
    text_add_pc(words, pc);
    if (info->si_signo == SIGSEGV && info->si_code != SI_KERNEL) {
        uint64_t error = (uint64_t)context->uc_mcontext.gregs[REG_ERR];
        text_add(words, error & FETCHED   ? ", jumping there"
                        : error & WRITTEN ? ", writing"
                                          : ", reading");
    }
    text_add(words, ")");
    if (overflow)
        text_add(words, ": have smaller local variables, or raise the limit before omprma-run, "
                        "ulimit -s, and for threads OMP_STACKSIZE");
    if (info->si_signo == SIGSEGV && info->si_code != SI_KERNEL && address < NULL_BYTES)
        text_add(words, ": that is a null pointer");
}

/* In DWARF's order. */
static void scene_note(struct crash_scene *scene, const siginfo_t *info, const ucontext_t *context)
{
    static const int order[CRASH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (int i = 0; i < CRASH_REGISTERS; i++)
        scene->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    if (info->si_signo == SIGSEGV && info->si_code == SEGV_MAPERR)
        scene->address = (uint64_t)(uintptr_t)info->si_addr;
}

/* ---- whose fault ---- */

/* Whose image the code at `pc` is in or, where it is in a library's, what called that: the nearest
 * word above `sp` that points into an image. The stack is read by a system call, which does not
 * fault where it ends. */
static const void *owner_of_code(uint64_t pc, uint64_t sp)
{
    const void *owner = image_owner(pc);
    uint64_t words[SEARCH_WORDS] = {0};

    for (uint64_t at = sp; !owner && at < sp + SEARCH_BYTES; at += sizeof(words)) {
        size_t bytes = peek((const void *)(uintptr_t)at, words, sizeof(words));

        for (size_t i = 0; !owner && i < bytes / sizeof(*words); i++)
            owner = image_owner(words[i]);
        if (bytes < sizeof(words))
            break;
    }
    return owner;
}

/* The slot of the kernel that was entered last, of one owner or, for NULL, of all. */
static struct crash_slot *latest_slot(const void *owner)
{
    struct crash_slot *latest = NULL;
    for (struct crash_slot *slot = atomic_load(&slots); slot; slot = slot->next) {
        const struct crash *crash = atomic_load(&slot->crash);
        if (!atomic_load(&slot->entry) || !crash || (owner && crash->owner != owner))
            continue;
        if (!latest || atomic_load(&slot->order) >= atomic_load(&latest->order))
            latest = slot;
    }
    return latest;
}

/* The slot of the kernel that a fault or exit on this thread belongs to, NULL if it is not a
 * kernel's. A thread of ours answers for itself: a fault of the service thread is no kernel's and
 * must not park it. Nor is that of a process that a kernel has forked. */
static struct crash_slot *slot_of_thread(uint64_t pc, uint64_t sp)
{
    if (getpid() != worker)
        return NULL;
    if (own_slot)
        return atomic_load(&own_slot->entry) ? own_slot : NULL;
    const void *owner = owner_of_code(pc, sp);
    struct crash_slot *slot = owner ? latest_slot(owner) : NULL;
    return slot ? slot : latest_slot(NULL);
}

/* Ends the calling thread's work without ending the thread: its stack and locks stay as they are.
 * With all signals blocked it is never chosen for one sent to the process. */
static void __attribute__((noreturn)) park(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (;;)
        pause();
}

void crash_wake(void)
{
    if (wake_service)
        wake_service();
}

/* Begins the description of a crash: "kernel NAME". False if the device has crashed before. */
static bool claim(struct crash_slot *slot, struct crash **crash, struct words *words)
{
    char name[KERNEL_NAME_WORDS];

    *crash = atomic_load(&slot->crash);
    if (atomic_exchange(&(*crash)->claimed, true))
        return false;
    *words = (struct words){(*crash)->text, 0};
    (*crash)->scene.kernel = image_kernel_name(atomic_load(&slot->entry));
    text_add(words, "kernel ");
    text_add(words, kernel_name_words((*crash)->scene.kernel, name));
    (*crash)->scene.name_end = words->at;
    return true;
}

static void publish(struct crash *crash)
{
    atomic_store_explicit(&crash->described, true, memory_order_release);
    crash_wake();
}

/* ---- signals that kernels send ---- */

/* Each ends the process, unless somebody handles it. A terminal sends those that are not
 * `by_kernel`; of the others the system's kernel sends one as a timer ends, or at a breakpoint. Not
 * those that a thread of MPI's may get for what it does itself, as SIGPIPE. */
static const struct sent {
    int number;
    bool by_kernel;
    const char *name;
} sent[] = {
    {SIGHUP, false, "SIGHUP"},   {SIGINT, false, "SIGINT"},   {SIGQUIT, false, "SIGQUIT"},
    {SIGUSR1, false, "SIGUSR1"}, {SIGUSR2, false, "SIGUSR2"}, {SIGTERM, false, "SIGTERM"},
    {SIGTRAP, true, "SIGTRAP"},  {SIGALRM, true, "SIGALRM"},  {SIGVTALRM, true, "SIGVTALRM"},
    {SIGPROF, true, "SIGPROF"},
};

static const struct sent *sent_find(int number)
{
    size_t i = 0;
    while (sent[i].number != number)
        i++;
    return &sent[i];
}

/* Has this process sent it to itself, or set a timer for it? */
static bool sent_by_us(const struct sent *what, const siginfo_t *info)
{
    return info->si_code > 0 ? what->by_kernel : info->si_pid == worker;
}

/* ---- handlers ---- */

static void take_default(int number, const siginfo_t *info)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    if (info->si_code <= 0)
        raise(number); /* pending until the handler returns; a real fault comes again by itself */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct guard *guard = own_guard;
    if (guard && info->si_code > 0 && (number == SIGSEGV || number == SIGBUS)) {
        guard->bad = info->si_code == SI_KERNEL ? 0 : (uint64_t)(uintptr_t)info->si_addr;
        /* The mask of the interrupted code; saving it in sigsetjmp() would be a system call. */
        pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
        siglongjmp(guard->environment, 1);
    }
    const ucontext_t *at = context;
    struct crash_slot *slot = slot_of_thread((uint64_t)at->uc_mcontext.gregs[REG_RIP],
                                             (uint64_t)at->uc_mcontext.gregs[REG_RSP]);
    struct crash *crash;
    struct words words;
    /* What the description needs may have been overwritten by the kernel, too. */
    if (!slot || describing) {
        take_default(number, info);
        errno = saved_errno;
        return;
    }
    describing = true;
    if (claim(slot, &crash, &words)) {
        text_add(&words, number == SIGABRT ? " called abort" : " crashed");
        crash->scene.verb_end = words.at;
        scene_note(&crash->scene, info, context);
        if (number != SIGABRT) {
            text_add(&words, ": ");
            text_add_fault(&words, info, context, &crash->scene);
        }
        publish(crash);
    }
    describing = false;
    park();
}

/* As if nobody handled it. */
static void end_by(int number)
{
    sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(number); /* pending until the handler returns */
}

static void describe_sent(struct crash_slot *slot, const struct sent *what, const siginfo_t *info,
                          const ucontext_t *context)
{
    struct crash *crash;
    struct words words;

    if (!claim(slot, &crash, &words))
        return;
    text_add(&words, info->si_code > 0 ? " got " : " raised ");
    text_add(&words, what->name);
    crash->scene.verb_end = words.at;
    scene_note(&crash->scene, info, context);
    text_add(&words, ", which ends its process: handle it there, or do not send it");
    publish(crash);
}

/* One that came to the whole process may have met another thread than the kernel's. */
static void on_sent(int number, siginfo_t *info, void *context)
{
    const struct sent *what = sent_find(number);
    const ucontext_t *at = context;
    struct crash_slot *slot;

    if (!sent_by_us(what, info) || getpid() != worker) {
        end_by(number);
        return;
    }
    slot = slot_of_thread((uint64_t)at->uc_mcontext.gregs[REG_RIP],
                          (uint64_t)at->uc_mcontext.gregs[REG_RSP]);
    if (!slot && (slot = latest_slot(NULL)) && pthread_kill(slot->thread, number) == 0)
        return;
    if (!slot || describing) {
        end_by(number);
        return;
    }
    describing = true;
    describe_sent(slot, what, info, context);
    describing = false;
    park();
}

/* Of the kernel that called `function`, such as "exit". */
static void __attribute__((noreturn))
end_kernel(struct crash_slot *slot, const char *function, int code)
{
    struct crash *crash;
    struct words words;
    if (claim(slot, &crash, &words)) {
        text_add(&words, " called ");
        text_add(&words, function);
        text_add(&words, code < 0 ? "(-" : "(");
        text_add_number(&words, code < 0 ? -(uint64_t)(int64_t)code : (uint64_t)code, 10);
        text_add(&words, ")");
        crash->scene.verb_end = words.at;
        publish(crash);
    }
    park();
}

/* In place of the C library's: omprma-worker exports them, and images find them first. The
 * library's own exit() holds a lock while handlers run (glibc from 2.41 on), in which one kernel
 * would be parked and the next one, of another device, wait for ever. */
__attribute__((visibility("default"))) void exit(int code)
{
    struct crash_slot *slot = slot_of_thread((uint64_t)(uintptr_t)__builtin_return_address(0),
                                             (uint64_t)(uintptr_t)__builtin_frame_address(0));
    void (*others)(int);
    if (slot)
        end_kernel(slot, "exit", code);
    others = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    others(code);
    __builtin_unreachable();
}

void crash_ended(const void *caller, const void *frame, const char *function, int code)
{
    uint64_t pc = (uint64_t)(uintptr_t)caller, offset;
    struct crash_slot *slot =
        image_offset(pc, &offset) ? slot_of_thread(pc, (uint64_t)(uintptr_t)frame) : NULL;

    if (slot)
        end_kernel(slot, function, code);
}

bool crash_thread_in_kernel(void)
{
    return own_slot && atomic_load(&own_slot->entry);
}

/* What ends the process inside the C library, as errx() does, has not called the one above. */
static void on_process_exit(int code, void *unused)
{
    (void)unused;
    struct crash_slot *slot = slot_of_thread(0, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    if (!slot)
        return;
    /* This handler is used up, and a kernel of another device may come here, too. */
    on_exit(on_process_exit, NULL);
    end_kernel(slot, "exit", code);
}

/* ---- set-up ---- */

static size_t stack_bytes(void)
{
    long page = sysconf(_SC_PAGESIZE), least = sysconf(_SC_SIGSTKSZ);
    size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
    return (bytes + (size_t)page - 1) / (size_t)page * (size_t)page;
}

static void stack_free(void *memory)
{
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(memory, stack_bytes() + (size_t)sysconf(_SC_PAGESIZE));
    has_stack = false;
}

static void stack_key_make(void)
{
    has_stack_key = pthread_key_create(&stack_key, stack_free) == 0;
}

/* Gives the calling thread a stack for signals. The lowest page is a guard. */
static bool stack_make(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = stack_bytes();
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};
    if (memory == MAP_FAILED)
        return false;
    if (mprotect(memory, page, PROT_NONE) || sigaltstack(&stack, NULL)) {
        munmap(memory, bytes + page);
        return false;
    }
    has_stack = true;
    pthread_once(&once, stack_key_make);
    if (has_stack_key) /* else it stays until the process ends */
        pthread_setspecific(stack_key, memory);
    return true;
}

void crash_other_thread(void)
{
    if (worker && !has_stack)
        stack_make();
}

/* Slots are never freed, stacks are. */
omprma_status_t crash_thread(void)
{
    if (own_slot)
        return OMPRMA_OK;
    struct crash_slot *slot = calloc(1, sizeof(*slot));
    if (!slot || (!has_stack && !stack_make())) {
        free(slot);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a signal stack of %zu bytes",
                         stack_bytes());
    }
    slot->thread = pthread_self();
    slot->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
        ;
    own_slot = slot;
    return OMPRMA_OK;
}

static void note_fork(void)
{
    atomic_store(&forked, true);
}

omprma_status_t crash_install(void (*wake)(void))
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    omprma_status_t status = crash_thread();
    if (status)
        return status;
    wake_service = wake;
    worker = getpid();
    atomic_store(&forked, false);
    if (pthread_atfork(NULL, NULL, note_fork))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a handler of fork()");
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    action.sa_sigaction = on_sent;
    action.sa_flags |= SA_RESTART;
    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
        if (sigaction(sent[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(sent[i].number, &action, NULL);
    if (on_exit(on_process_exit, NULL))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an exit handler");
    return OMPRMA_OK;
}

void crash_enter_kernel(uint64_t entry, struct crash *crash)
{
    if (!own_slot && crash_thread())
        return; /* without a slot the fault takes its default action, as before crash_install() */
    uint64_t order = atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
    atomic_store_explicit(&own_slot->order, order, memory_order_relaxed);
    atomic_store_explicit(&own_slot->crash, crash, memory_order_relaxed);
    atomic_store_explicit(&own_slot->entry, entry, memory_order_release);
}

void crash_leave_kernel(void)
{
    /* It would go on as a second worker, with the connections of the first. */
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        log_write(LOG_WARNING,
                  "a process that a region has forked came to the region's end; end it "
                  "there by _exit(), or start programs by posix_spawn()");
        _exit(EXIT_FAILURE);
    }
    if (own_slot)
        atomic_store_explicit(&own_slot->entry, 0, memory_order_release);
}

bool crash_happened(const struct crash *crash, const char **text)
{
    bool happened = atomic_load_explicit(&crash->described, memory_order_acquire);
    if (happened && text)
        *text = crash->text;
    return happened;
}

/* ---- guarded access ---- */

/* Above lies nobody's memory, and a fault there would not name its address; the first page is kept
 * free by every kernel in use, so that null pointers fault. */
static const uint64_t user_start = 4096, user_end = UINT64_C(1) << 47;

static bool range_possible(uint64_t address, size_t bytes, uint64_t *bad)
{
    if (address >= user_start && address < user_end && bytes <= user_end - address)
        return true;
    *bad = address >= user_start && address < user_end ? user_end : address;
    return false;
}

struct access {
    char *to;         /* NULL: touch only */
    const char *from; /* or what to touch */
    size_t bytes;
    bool write;
};

__attribute__((no_sanitize("address", "thread"))) static void
pages_touch(const struct access *access)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)access->from;
    for (uint64_t at = start; at < start + access->bytes; at = (at / page + 1) * page) {
        volatile char *byte = (volatile char *)(uintptr_t)at;
        char value = *byte;
        /* A kernel's own update in between is never overwritten. Not an atomic "or 0": compilers
         * turn that into a load. */
        if (access->write)
            __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
}

/* False, and guard->bad, if the access faults. The caller's variables are not in this frame, so
 * siglongjmp() leaves them alone. */
__attribute__((noinline)) static bool access_try(struct guard *guard, const struct access *access)
{
    if (sigsetjmp(guard->environment, 0)) {
        own_guard = NULL;
        return false;
    }
    own_guard = guard;
    atomic_signal_fence(memory_order_seq_cst);
    if (access->to)
        memcpy(access->to, access->from, access->bytes);
    else
        pages_touch(access);
    atomic_signal_fence(memory_order_seq_cst);
    own_guard = NULL;
    return true;
}

bool guarded_probe(uint64_t address, size_t bytes, bool write, uint64_t *bad)
{
    struct guard guard;
    const struct access access = {
        .from = (const char *)(uintptr_t)address, .bytes = bytes, .write = write};
    if (!bytes)
        return true;
    if (!range_possible(address, bytes, bad))
        return false;
    if (access_try(&guard, &access))
        return true;
    *bad = guard.bad;
    return false;
}

bool guarded_copy(void *to, const void *from, size_t bytes, uint64_t *bad)
{
    uint64_t source = (uint64_t)(uintptr_t)from, target = (uint64_t)(uintptr_t)to;
    struct guard guard;
    const struct access access = {.to = to, .from = from, .bytes = bytes};
    if (!bytes)
        return true;
    if (!range_possible(source, bytes, bad) || !range_possible(target, bytes, bad))
        return false;
    if (access_try(&guard, &access))
        return true;
    /* memcpy() need not go upwards; look for the lowest address that is bad. */
    if (guarded_probe(source, bytes, false, bad) && guarded_probe(target, bytes, true, bad))
        *bad = guard.bad;
    return false;
}
