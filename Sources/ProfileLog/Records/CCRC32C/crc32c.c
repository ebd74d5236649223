#include "crc32c.h"

#include <string.h>

static uint32_t extend_bytewise(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1u)));
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t extend_hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t wide = crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; count > 0; bytes++, count--) crc = __builtin_ia32_crc32qi(crc, *bytes);
    return crc;
}

uint32_t profilelog_crc32c(const void *bytes, size_t count) {
    if (__builtin_cpu_supports("sse4.2")) return ~extend_hardware(~0u, bytes, count);
    return ~extend_bytewise(~0u, bytes, count);
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t profilelog_crc32c(const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint32_t crc = ~0u;
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; next++, count--) crc = __crc32cb(crc, *next);
    return ~crc;
}
#else
uint32_t profilelog_crc32c(const void *bytes, size_t count) { return ~extend_bytewise(~0u, bytes, count); }
#endif
