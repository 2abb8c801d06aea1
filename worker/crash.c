/*
 * crash.c: faults in kernels and guarded copies, see crash.h. Everything that runs in a handler
 * uses its own small text routines and atomics: no allocation, no stdio, no lock.
 * Must not know: MPI, messages, queues.
 */
#include "worker/crash.h"

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
#include "worker/image.h"

enum {
    STACK_BYTES = 64 << 10,    /* alternate stack; a signal frame alone may take 11 KiB */
    TEXT_BYTES = 768,          /* of the description */
    OVERFLOW_BYTES = 64 << 10, /* a fault this near below the stack pointer is an overflow */
};

/* One per thread of ours; never freed, since handlers of other threads walk the list. */
struct crash_slot {
    struct crash_slot *next;
    _Atomic uint64_t entry; /* the kernel that the thread is in, 0: none */
    _Atomic uint64_t order; /* when it was entered, among all */
};

struct guard {
    sigjmp_buf environment;
    uint64_t bad; /* the faulting address */
};

/* initial-exec: the first access from a handler must not allocate. */
#define IN_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
IN_THREAD struct crash_slot *own_slot;
IN_THREAD struct guard *volatile own_guard;

static struct crash_slot *_Atomic slots;
static _Atomic uint64_t entered; /* kernels entered so far */
static void (*wake_service)(void);
static atomic_flag crash_claimed = ATOMIC_FLAG_INIT;
static _Atomic bool crash_described;
static char crash_text[TEXT_BYTES];

/* ---- description, async-signal-safe ---- */

static size_t text_add(size_t at, const char *text)
{
    while (*text && at < TEXT_BYTES - 1)
        crash_text[at++] = *text++;
    crash_text[at] = 0;
    return at;
}

static size_t text_add_number(size_t at, uint64_t value, unsigned base)
{
    char digits[24];
    size_t start = sizeof(digits) - 1;
    digits[start] = 0;
    do {
        digits[--start] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    return text_add(at, digits + start);
}

static size_t text_add_hex(size_t at, uint64_t value)
{
    return text_add_number(text_add(at, "0x"), value, 16);
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

/* "segmentation fault at address 0x10 (pc image+0x1a)" */
static size_t text_add_fault(size_t at, const siginfo_t *info, const ucontext_t *context)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    uint64_t offset;

    at = text_add(at, signal_words(info));
    if (info->si_code <= 0)
        return text_add(at, " sent by a process");
    if (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) {
        at = text_add(at, " at address ");
        /* The processor does not tell which address it was when it is not a canonical one. */
        at = info->si_code == SI_KERNEL ? text_add(at, "(not a valid pointer)")
                                        : text_add_hex(at, address);
        if (info->si_code != SI_KERNEL && address - (sp - OVERFLOW_BYTES) < OVERFLOW_BYTES + 4096)
            at = text_add(at, ", stack overflow");
    }
    at = text_add(at, " (pc ");
    if (image_offset(pc, &offset))
        at = text_add_hex(text_add(at, "image+"), offset);
    else
        at = text_add(text_add_hex(at, pc), ", outside the image");
    return text_add(at, ")");
}

/* The kernel that a fault or exit on this thread belongs to; 0 if it is not a kernel's. A thread of
 * ours answers for itself: a fault of the service thread is no kernel's and must not park it. */
static uint64_t kernel_of_thread(void)
{
    if (own_slot)
        return atomic_load(&own_slot->entry);
    uint64_t latest = 0, entry = 0;
    for (struct crash_slot *slot = atomic_load(&slots); slot; slot = slot->next) {
        uint64_t candidate = atomic_load(&slot->entry), order = atomic_load(&slot->order);
        if (candidate && order >= latest) {
            latest = order;
            entry = candidate;
        }
    }
    return entry;
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

/* Publishes the description that `describe` wrote; only the first crash is kept. */
static void publish(void)
{
    atomic_store_explicit(&crash_described, true, memory_order_release);
    if (wake_service)
        wake_service();
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
    uint64_t entry = kernel_of_thread();
    if (!entry) {
        take_default(number, info);
        errno = saved_errno;
        return;
    }
    if (!atomic_flag_test_and_set(&crash_claimed)) {
        size_t at = text_add(text_add(0, "kernel "), image_kernel_name(entry));
        if (number == SIGABRT)
            text_add(at, " called abort");
        else
            text_add_fault(text_add(at, " crashed: "), info, context);
        publish();
    }
    park();
}

static void on_process_exit(int code, void *unused)
{
    (void)unused;
    uint64_t entry = kernel_of_thread();
    if (!entry)
        return;
    if (!atomic_flag_test_and_set(&crash_claimed)) {
        size_t at = text_add(text_add(0, "kernel "), image_kernel_name(entry));
        at = text_add(at, code < 0 ? " called exit(-" : " called exit(");
        at = text_add_number(at, code < 0 ? -(uint64_t)(int64_t)code : (uint64_t)code, 10);
        text_add(at, ")");
        publish();
    }
    park();
}

/* ---- set-up ---- */

omprma_status_t crash_thread(void)
{
    if (own_slot)
        return OMPRMA_OK;
    long page = sysconf(_SC_PAGESIZE), least = sysconf(_SC_SIGSTKSZ);
    size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
    bytes = (bytes + (size_t)page - 1) / (size_t)page * (size_t)page;
    struct crash_slot *slot = calloc(1, sizeof(*slot));
    char *memory = mmap(NULL, bytes + (size_t)page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (!slot || memory == MAP_FAILED)
        goto fail;
    /* The lowest page is a guard. */
    stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};
    if (mprotect(memory, (size_t)page, PROT_NONE) || sigaltstack(&stack, NULL))
        goto fail;
    slot->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
        ;
    own_slot = slot;
    return OMPRMA_OK;
fail:
    if (memory != MAP_FAILED)
        munmap(memory, bytes + (size_t)page);
    free(slot);
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a signal stack of %zu bytes", bytes);
}

omprma_status_t crash_install(void (*wake)(void))
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    omprma_status_t status = crash_thread();
    if (status)
        return status;
    wake_service = wake;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    if (on_exit(on_process_exit, NULL))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an exit handler");
    return OMPRMA_OK;
}

void crash_enter_kernel(uint64_t entry)
{
    if (!own_slot && crash_thread())
        return; /* without a slot the fault takes its default action, as before crash_install() */
    uint64_t order = atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
    atomic_store_explicit(&own_slot->order, order, memory_order_relaxed);
    atomic_store_explicit(&own_slot->entry, entry, memory_order_release);
}

void crash_leave_kernel(void)
{
    if (own_slot)
        atomic_store_explicit(&own_slot->entry, 0, memory_order_release);
}

bool crash_happened(const char **text)
{
    bool happened = atomic_load_explicit(&crash_described, memory_order_acquire);
    if (happened && text)
        *text = crash_text;
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
