#ifndef CBENCH_CRC32C_H
#define CBENCH_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#define CRC32C_WORD(crc, word) ((uint32_t)_mm_crc32_u64((crc), (word)))
#define CRC32C_BYTE(crc, byte) _mm_crc32_u8((crc), (byte))
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define CRC32C_WORD(crc, word) __crc32cd((crc), (word))
#define CRC32C_BYTE(crc, byte) __crc32cb((crc), (byte))
#else
#error "the comparison needs the processor's CRC-32C: compile with -msse4.2 or -march=armv8-a+crc"
#endif

/// CRC-32C (Castagnoli) of `count` bytes. In the header, so that it is inlined where records are written and checked.
static inline uint32_t crc32c(const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint32_t crc = ~0u;
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = CRC32C_WORD(crc, word);
    }
    for (; count > 0; next++, count--) crc = CRC32C_BYTE(crc, *next);
    return ~crc;
}

#endif
