// Accesses of the host to memory of the device that it may not access, or not yet: the server says which it is.

#include "client.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>

static int remote_pyptxHostAccess(uint64_t address, unsigned kind, unsigned *resume);

enum { READS, WRITES, ACCESSES };      // kind of an access; the last one where it is not known

static struct sigaction before;
static __thread void *fault_at;         // the instruction of the fault that is handled, for call_sites

static void *instruction_of(const ucontext_t *context, unsigned *kind) {
#if defined __x86_64__
    *kind = context->uc_mcontext.gregs[REG_ERR] & 2 ? WRITES : READS;
    return (void *)context->uc_mcontext.gregs[REG_RIP];
#else
    *kind = ACCESSES;
    return (void *)context->uc_mcontext.pc;
#endif
}

static void on_fault(int number, siginfo_t *information, void *context) {
    uint64_t address = (uint64_t)(uintptr_t)information->si_addr;
    int error = errno;                      // of the code that is interrupted
    if (information->si_code > 0 && on_device(address) && !fault_at) {
        unsigned kind, resume = 0;
        fault_at = instruction_of(context, &kind);
        int status = remote_pyptxHostAccess(address, kind, &resume);
        fault_at = NULL;
        errno = error;
        if (!status && resume) return;
    } else if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(number, information, context);
        return;
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
        return;
    }
    sigaction(SIGSEGV, &before, NULL);      // the instruction faults again
}

static void watch_host(void) {
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
    void *frame;
    backtrace(&frame, 1);                   // loads what it needs, which a signal handler must not
    sigaction(SIGSEGV, &action, &before);
}
