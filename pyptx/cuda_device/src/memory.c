// The memory of the device in this process. It is mapped twice: at the addresses that the program sees, accessible where the host may
// access it, and at an alias of the library's own, accessible as a whole.

#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE 4096u

static int memory_file = -1;
static uint64_t base, size_of_memory;
static char *alias;

static int on_device(uint64_t address) { return address - base < size_of_memory; }

// Where this library accesses an address of the program.
static void *own(uint64_t address) {
    return on_device(address) ? alias + (address - base) : (void *)(uintptr_t)address;
}

static void fail(const char *what) {
    fprintf(stderr, "pyptx: %s of the simulated device failed: %s\n", what, strerror(errno));
    abort();
}

static int map_memory(int file, uint64_t address, uint64_t size) {
    void *wanted = (void *)(uintptr_t)address;
    void *found = mmap(wanted, size, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    if (found != wanted) {
        if (found != MAP_FAILED) munmap(found, size);
        fprintf(stderr, "pyptx: cannot map the memory of the simulated device at %p (%llu GiB): %s\n", wanted,
                (unsigned long long)(size >> 30), strerror(errno));
        return OPERATING_SYSTEM;
    }
    alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (alias == MAP_FAILED) fail("a second mapping of the memory");
    madvise(found, size, MADV_DONTDUMP);
    madvise(alias, size, MADV_DONTDUMP);
    memory_file = file;
    base = address;
    size_of_memory = size;
    return SUCCESS;
}

static void copy_box(void) {
    uint64_t to = get_word(), from = get_word(), width = get_word(), height = get_word(), depth = get_word();
    uint64_t to_pitch = get_word(), from_pitch = get_word(), to_slice = get_word(), from_slice = get_word();
    for (uint64_t z = 0; z < depth; z++)
        for (uint64_t y = 0; y < height; y++)
            memmove(own(to + z * to_slice + y * to_pitch), own(from + z * from_slice + y * from_pitch), width);
}

// Map a part of the shared memory at an address of the device.
static void remap(void) {
    uint64_t address = get_word(), size = get_word(), offset = get_word();
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    if (mmap((void *)(uintptr_t)address, size, PROT_NONE, flags, memory_file, (off_t)offset) == MAP_FAILED) fail("a mapping");
    if (mmap(own(address), size, PROT_READ | PROT_WRITE, flags, memory_file, (off_t)offset) == MAP_FAILED) fail("a mapping");
}

// A descriptor of a file of another process, for the program; negative if it cannot be opened.
static int open_other(void) {
    uint64_t process = get_word(), number = get_word();
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)process, (unsigned long long)number);
    return open(path, O_RDWR);
}

// Map a part of the memory of another device, which is a file of another process; 0 if it cannot be opened.
static int map_file(void) {
    uint64_t address = get_word(), size = get_word(), offset = get_word(), process = get_word(), number = get_word();
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)process, (unsigned long long)number);
    int file = open(path, O_RDWR | O_CLOEXEC), flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    if (file < 0) return 0;
    if (mmap((void *)(uintptr_t)address, size, PROT_NONE, flags, file, (off_t)offset) == MAP_FAILED) fail("a mapping");
    if (mmap(own(address), size, PROT_READ | PROT_WRITE, flags, file, (off_t)offset) == MAP_FAILED) fail("a mapping");
    close(file);
    return 1;
}

// Let the host access pages of the device's memory: 0 not at all, 1 to read, 3 to read and write.
static void protect(void) {
    uint64_t address = get_word(), size = get_word(), access = get_word();
    int protection = (access & 1 ? PROT_READ : 0) | (access & 2 ? PROT_WRITE : 0);
    if (mprotect((void *)(uintptr_t)address, size, protection)) fail("a change of access");
}

static void move_pages(uint64_t address, uint64_t size, void *made) {
    if (made == MAP_FAILED) fail("a mapping of registered memory");
    memcpy(made, (void *)(uintptr_t)address, size);
    if (mremap(made, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)address) == MAP_FAILED) fail("registration");
}

// Replace pages of the host by pages of the shared memory with the same contents, or by private ones again.
static void share_pages(void) {
    uint64_t address = get_word(), size = get_word(), offset = get_word();
    move_pages(address, size, mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory_file, (off_t)offset));
}

static void unshare_pages(void) {
    uint64_t address = get_word(), size = get_word();
    move_pages(address, size, mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
