#ifndef CBENCH_WIRE_H
#define CBENCH_WIRE_H

// Bytes to numbers and back: the Protocol-buffers wire format for records, big-endian numbers for keys.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define WIRE_TAG(field, type) ((uint32_t)(field) << 3 | (uint32_t)(type))
#define VARINT_BYTES_MAX 10

static inline uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }
static inline int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }

// Writing. Each function returns the place behind what it wrote; the caller has made sure of the room.

static inline uint8_t *put_varint(uint8_t *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (uint8_t)value | 0x80;
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline size_t varint_size(uint64_t value) {
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static inline uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

static inline uint8_t *put_le32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
    return at + 4;
}

static inline uint8_t *put_le64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> 8 * i);
    return at + 8;
}

static inline uint8_t *put_be32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    return put_bytes(at, &value, 4);
}

static inline uint8_t *put_be64(uint8_t *at, uint64_t value) {
    value = __builtin_bswap64(value);
    return put_bytes(at, &value, 8);
}

#define NUMBER_KEY_BYTES_MAX 9

/// The key of a number: how many bytes follow, then these, big-endian and without leading zeros.
static inline uint8_t *put_number_key(uint8_t *at, uint64_t value) {
    int bytes = value == 0 ? 0 : 8 - __builtin_clzll(value) / 8;
    *at++ = (uint8_t)bytes;
    while (bytes-- > 0) *at++ = (uint8_t)(value >> 8 * bytes);
    return at;
}

/// The number of such a key, or 0.
static inline uint64_t get_number_key(const uint8_t *at, size_t size) {
    if (size == 0 || at[0] > 8 || size != (size_t)at[0] + 1) return 0;
    uint64_t value = 0;
    for (size_t i = 1; i < size; i++) value = value << 8 | at[i];
    return value;
}

static inline uint32_t get_le32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t get_be32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static inline uint64_t get_be64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return __builtin_bswap64(value);
}

// Reading. Everything is bounded: what a checksum vouches for may still have been written by a faulty program.

struct reader {
    const uint8_t *next;
    const uint8_t *end;
};

static inline size_t reader_left(const struct reader *reader) { return (size_t)(reader->end - reader->next); }

static inline bool read_varint(struct reader *reader, uint64_t *value) {
    if (reader->next < reader->end && *reader->next < 0x80) {
        *value = *reader->next++;
        return true;
    }
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 70 && reader->next < reader->end; shift += 7) {
        uint8_t byte = *reader->next++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return true;
        }
    }
    return false;
}

/// Reads a length and lends the bytes that follow.
static inline bool read_slice(struct reader *reader, struct reader *slice) {
    uint64_t length;
    if (!read_varint(reader, &length) || length > reader_left(reader)) return false;
    slice->next = reader->next;
    slice->end = reader->next += length;
    return true;
}

static inline bool read_fixed64(struct reader *reader, uint64_t *value) {
    if (reader_left(reader) < 8) return false;
    uint64_t result = 0;
    for (int i = 0; i < 8; i++) result |= (uint64_t)reader->next[i] << 8 * i;
    reader->next += 8;
    *value = result;
    return true;
}

/// Passes over the payload of a field whose tag has been read.
static inline bool skip_field(struct reader *reader, uint64_t tag) {
    uint64_t ignored;
    struct reader slice;
    switch (tag & 7) {
    case WIRE_VARINT: return read_varint(reader, &ignored);
    case WIRE_FIXED64: return read_fixed64(reader, &ignored);
    case WIRE_BYTES: return read_slice(reader, &slice);
    case WIRE_FIXED32:
        if (reader_left(reader) < 4) return false;
        reader->next += 4;
        return true;
    default: return false;
    }
}

#endif
