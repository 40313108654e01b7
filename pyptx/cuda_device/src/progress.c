// Late work of the device runs when the program waits for it by a call. A program may also wait for a value in memory: after some
// seconds without calls this thread makes one, in which work runs.

#include "client.h"

#include <signal.h>

enum { PATIENCE_S = 2 };

static int remote_pyptxProgress(void);

static void *make_progress(void *unused) {
    unsigned long before = 0;
    (void)unused;
    for (;;) {
        sleep(PATIENCE_S);
        unsigned long now = atomic_load(&calls);
        if (now == before) remote_pyptxProgress();
        before = atomic_load(&calls);
    }
    return NULL;
}

static void start_progress(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);        // signals of the program are for its own threads
    if (!pthread_create(&thread, NULL, make_progress, NULL)) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
