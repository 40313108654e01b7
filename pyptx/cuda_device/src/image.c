// Sizes of module images, which the driver API passes without a size.

#include "client.h"

#define FAT_BINARY 0xBA55ED50u      // header of a fat binary: magic, version, header bytes, bytes that follow
#define WRAPPER 0x466243B1u         // what nvcc's host code points to: magic, version, pointer to the fat binary

static uint64_t number(const unsigned char *bytes, int size) {
    uint64_t found = 0;
    memcpy(&found, bytes, (size_t)size);
    return found;
}

static size_t elf_size(const unsigned char *elf) {
    uint64_t end = number(elf + 40, 8) + number(elf + 58, 2) * number(elf + 60, 2);     // of the section headers
    const unsigned char *section = elf + number(elf + 40, 8);
    for (uint64_t k = number(elf + 60, 2); k; k--, section += number(elf + 58, 2)) {
        uint64_t last = number(section + 24, 8) + (number(section + 4, 4) == 8 ? 0 : number(section + 32, 8));
        if (last > end) end = last;
    }
    uint64_t programs = number(elf + 32, 8) + number(elf + 54, 2) * number(elf + 56, 2);
    return programs > end ? programs : end;
}

// Follow the wrapper of a fat binary to the binary itself.
static const void *image_start(const void *image) {
    if (!image || (uint32_t)number(image, 4) != WRAPPER) return image;
    return (const void *)(uintptr_t)number((const unsigned char *)image + 8, 8);
}

static size_t size_of_image(const void *image) {
    const unsigned char *bytes = image;
    if (!bytes) return 0;
    if ((uint32_t)number(bytes, 4) == FAT_BINARY) return number(bytes + 6, 2) + number(bytes + 8, 8);
    if (!memcmp(bytes, "\177ELF", 4)) return elf_size(bytes);
    return strlen(image);
}
