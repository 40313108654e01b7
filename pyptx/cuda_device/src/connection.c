// The connection to the server: one socket, used by one thread at a time, and the shared memory of the device.
//
// A request is {function, bytes of payload, context, thread, return addresses} and its payload. The server answers with actions, which
// this process carries out in its own memory, and at the end with the reply. All words are 8 bytes.

#include "client.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { REPLY, COPY, COPY_AND_RETURN, WRITE, READ, CALL, CALL_STREAM, REMAP, PROTECT, SHARE, UNSHARE, MAP_OTHER, OPEN_OTHER, CALL_LOG };      // server/connection.py
#define ACKNOWLEDGE 0xFFFFFFFFu
#define VARIABLE "PYPTX_DEVICE_SOCKET"

#define SITES 4
#define SITES_VARIABLE "PYPTX_CALL_SITES"       // set where the server wants return addresses
struct request { uint32_t function, bytes; uint64_t context, thread, sites[SITES]; };
struct reply { uint32_t kind; int32_t status; uint64_t bytes; };
enum { IS_LATE = 1 };       // flags: work of the device runs when the program waits for it
struct welcome { uint64_t base, size, flags; };
struct bytes { unsigned char *data; size_t size, capacity, at; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_call_ended = PTHREAD_COND_INITIALIZER;
static unsigned host_calls;     // that run, one inside the other as the server sees them
static int server = -1;         // the socket
static atomic_int state = NOT_INITIALIZED;
static struct bytes outgoing, incoming;
static atomic_ulong threads;
static __thread uint64_t thread_number;

static void grow(struct bytes *b, size_t size) {
    if (size <= b->capacity) return;
    size_t capacity = size + size / 2 + 4096;
    unsigned char *data = capacity > size ? realloc(b->data, capacity) : NULL;
    if (!data) { fputs("pyptx: out of memory for a message to the simulated device\n", stderr); abort(); }
    b->data = data;
    b->capacity = capacity;
}

static int lost(void) {
    if (server >= 0) {
        fputs("pyptx: the process of the simulated device has ended; its memory is lost\n", stderr);
        close(server);
    }
    server = -1;
    return state = UNKNOWN;
}

static int send_all(const void *data, size_t size) {
    for (const unsigned char *p = data; size;) {
        ssize_t n = send(server, p, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int receive_all(void *data, size_t size) {
    for (unsigned char *p = data; size;) {
        ssize_t n = recv(server, p, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

// starting ------------------------------------------------------------------------------------------------------------

static void forget_in_child(void) {
    // CUDA does not support use after fork; the connection belongs to the parent
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&host_call_ended, NULL);
    host_calls = 0;
    if (server >= 0) close(server);
    server = -1;
    if (state == SUCCESS) state = NOT_INITIALIZED;
    atomic_store(&threads, 0);
}

enum { OTHER_VERSION = -1, ENDED = -2 };     // instead of a descriptor

static int receive_memory(struct welcome *welcome) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = { welcome, sizeof *welcome };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
    ssize_t n;
    do n = recvmsg(server, &message, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    if (n <= 0) return ENDED;
    if (n != (ssize_t)sizeof *welcome || !welcome->size) return OTHER_VERSION;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS) return OTHER_VERSION;
    int memory;
    memcpy(&memory, CMSG_DATA(header), sizeof memory);
    return memory;
}

static int open_connection(void) {
    const char *path = getenv(VARIABLE);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (!path || !*path) {
        fputs("pyptx: this libcuda.so.1 runs kernels on pyptx's simulator, which is not running\n"
              "hint: start the program with `pyptx exec PROGRAM ...`\n", stderr);
        return NO_DEVICE;
    }
    if (strlen(path) >= sizeof address.sun_path) {
        fprintf(stderr, "pyptx: the path of the simulated device's socket is too long: %s\nhint: set TMPDIR to a shorter path\n", path);
        return NO_DEVICE;
    }
    strcpy(address.sun_path, path);
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0) {
        fprintf(stderr, "pyptx: the simulated device at %s does not answer: %s\n"
                        "hint: the `pyptx exec` that started this program must still be running\n", path, strerror(errno));
        if (server >= 0) close(server);
        server = -1;
        return NO_DEVICE;
    }
    struct welcome welcome;
    int memory = send_all(TABLE_IDENTITY, 16) ? ENDED : receive_memory(&welcome);
    if (memory < 0) {
        if (memory == ENDED) fputs("pyptx: the process of the simulated device ended while it started\n", stderr);
        else fputs("pyptx: the simulated device was refused: libcuda.so.1 and the running pyptx are of different versions\n"
              "hint: rebuild it: python -m pyptx.cuda_device.build_client\n", stderr);
        close(server);
        server = -1;
        return NO_DEVICE;
    }
    pthread_atfork(NULL, NULL, forget_in_child);
    if (welcome.flags & IS_LATE) start_progress();
    watch_host();
    return map_memory(memory, welcome.base, welcome.size);
}

EXPORT int cuInit(unsigned flags) {
    static int forked_from;
    if (flags) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (state == NOT_INITIALIZED && (!forked_from || forked_from == getpid())) {
        forked_from = getpid();
        state = open_connection();
    }
    int status = state;
    pthread_mutex_unlock(&lock);
    return status;
}

// calls ---------------------------------------------------------------------------------------------------------------

// Return addresses outside of this library and of the runtime library, innermost first; in a fault, also the faulting
// instruction, and none of the C library.
static const char *wants_sites;
static pthread_once_t asked_for_sites = PTHREAD_ONCE_INIT;
static void ask_for_sites(void) { wants_sites = getenv(SITES_VARIABLE); }

static void call_sites(uint64_t sites[SITES]) {
    pthread_once(&asked_for_sites, ask_for_sites);
    if (!wants_sites) return;
    void *frames[24];
    Dl_info here, in;
    int count = backtrace(frames, 24), n = 0, k = 1;
    if (!dladdr((void *)call_sites, &here)) return;
    if (fault_at) while (k < count && frames[k] != fault_at) k++;
    for (; k < count && n < SITES; k++) {
        int known = dladdr(frames[k], &in);
        if (known && (in.dli_fbase == here.dli_fbase || (in.dli_fname && strstr(in.dli_fname, "libcudart.so")))) continue;
        if (fault_at && known && in.dli_fname && strstr(in.dli_fname, "/libc.so")) continue;
        sites[n++] = (uint64_t)(uintptr_t)frames[k];
    }
}

static int begin(uint32_t function) {
    if (state != SUCCESS) return state;
    if (!thread_number) thread_number = atomic_fetch_add(&threads, 1) + 1;
    struct request head = { .function = function, .context = current_context(), .thread = thread_number };
    call_sites(head.sites);
    atomic_fetch_add(&calls, 1);
    pthread_mutex_lock(&lock);
    if (state != SUCCESS) {
        pthread_mutex_unlock(&lock);
        return state;
    }
    grow(&outgoing, sizeof head);
    memcpy(outgoing.data, &head, sizeof head);
    outgoing.size = sizeof head;
    return SUCCESS;
}

static void put_word(uint64_t word) {
    grow(&outgoing, outgoing.size + sizeof word);
    memcpy(outgoing.data + outgoing.size, &word, sizeof word);
    outgoing.size += sizeof word;
}

static void put_bytes(const void *bytes, size_t size) {
    grow(&outgoing, outgoing.size + size);
    // by the library's own mapping: pages of the device may be protected, and a fault here would wait for the lock
    if (size) memcpy(outgoing.data + outgoing.size, own((uint64_t)(uintptr_t)bytes), size);
    outgoing.size += size;
}

static uint64_t get_word(void) {
    uint64_t word = 0;
    if (incoming.at + sizeof word <= incoming.size) memcpy(&word, incoming.data + incoming.at, sizeof word);
    incoming.at += sizeof word;
    return word;
}

static const unsigned char *get_bytes(size_t size) {
    const unsigned char *found = incoming.data + incoming.at;
    incoming.at += size;
    return found;
}

static void end_call(void) { pthread_mutex_unlock(&lock); }

static void call_host(int kind) {
    uint64_t function = get_word(), data = get_word(), stream = get_word();
    uint64_t size = kind == CALL_LOG ? get_word() : 0;
    char *text = kind == CALL_LOG ? strndup((const char *)get_bytes(size), size) : NULL;
    unsigned mine = ++host_calls;
    end_call();      // the function may call the driver, and other threads may
    if (kind == CALL_LOG)
        ((void (*)(void *, int, char *, size_t))(uintptr_t)function)((void *)(uintptr_t)data, (int)stream, text, size);
    else if (kind == CALL) ((void (*)(void *))(uintptr_t)function)((void *)(uintptr_t)data);
    else ((void (*)(uint64_t, int, void *))(uintptr_t)function)(stream, SUCCESS, (void *)(uintptr_t)data);
    free(text);
    pthread_mutex_lock(&lock);
    // The server carries out calls of other threads inside this one: it answers this one when those have ended.
    while (host_calls != mine) pthread_cond_wait(&host_call_ended, &lock);
    host_calls--;
    pthread_cond_broadcast(&host_call_ended);
}

static int acknowledge(const void *bytes, size_t size) {
    struct request head = { .function = ACKNOWLEDGE, .bytes = (uint32_t)size, .thread = thread_number };
    return send_all(&head, sizeof head) || (size && send_all(bytes, size)) ? -1 : 0;
}

// Copy between a buffer and memory that the program named; 0 if that memory is not accessible.
static int reach(void *buffer, void *place, size_t size, int writes) {
    struct iovec mine = { buffer, size }, theirs = { place, size };
    ssize_t n = writes ? process_vm_writev(getpid(), &mine, 1, &theirs, 1, 0) : process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0);
    if (n == (ssize_t)size) return 1;
    if (n >= 0 || (errno != EPERM && errno != ENOSYS)) return 0;
    memcpy(writes ? place : buffer, writes ? buffer : place, size);      // a sandbox forbids the call
    return 1;
}

static int call(void) {
    if (outgoing.size - sizeof(struct request) > UINT32_MAX) return INVALID_VALUE;
    uint32_t payload = (uint32_t)(outgoing.size - sizeof(struct request));
    memcpy(outgoing.data + offsetof(struct request, bytes), &payload, sizeof payload);
    if (send_all(outgoing.data, outgoing.size)) return lost();
    for (;;) {
        struct reply reply;
        if (server < 0 || receive_all(&reply, sizeof reply)) return lost();
        grow(&incoming, reply.bytes);
        if (reply.bytes && receive_all(incoming.data, reply.bytes)) return lost();
        incoming.size = reply.bytes;
        incoming.at = 0;
        static struct bytes answer;     // used under the lock
        answer.size = 0;
        switch (reply.kind) {
        case REPLY: return reply.status;
        case COPY_AND_RETURN: copy_box(); return SUCCESS;
        case COPY: copy_box(); break;
        case WRITE: {
            void *place = own(get_word());
            grow(&answer, 1);
            answer.size = (size_t)!reach(incoming.data + incoming.at, place, incoming.size - incoming.at, 1);
            break;
        }
        case READ: {
            void *place = own(get_word());
            size_t size = get_word();
            grow(&answer, size);
            answer.size = reach(answer.data, place, size, 0) ? size : 0;
            break;
        }
        case REMAP: remap(); break;
        case PROTECT: protect(); break;
        case SHARE: share_pages(); break;
        case UNSHARE: unshare_pages(); break;
        case MAP_OTHER:
            grow(&answer, 1);
            answer.size = (size_t)!map_file();
            break;
        case OPEN_OTHER: {
            int file = open_other();
            grow(&answer, sizeof file);
            memcpy(answer.data, &file, sizeof file);
            answer.size = file < 0 ? 0 : sizeof file;
            break;
        }
        default: call_host((int)reply.kind);
        }
        if (acknowledge(answer.data, answer.size)) return lost();
    }
}
