#ifndef PROFILELOG_CRC32C_H
#define PROFILELOG_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, by the processor's own instruction where there is one.
uint32_t profilelog_crc32c(const void *bytes, size_t count);

#endif
