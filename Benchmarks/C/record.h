#ifndef CBENCH_RECORD_H
#define CBENCH_RECORD_H

// The stored form of an event, as Sources/ProfileLog/Records/record.proto defines it, as far as the workload needs it:
//
//   0x01 | Record message | CRC-32C of both, uint32 little-endian

#include "crc32c.h"
#include "support.h"
#include "wire.h"

#include <stdbool.h>

#define RECORD_FORMAT 0x01

enum record_kind {
    USER_CREATED = 1,
    CUSTOM_EVENT_LOGGED = 20,
    CUSTOM_ATTRIBUTES_CHANGED = 21,
    USER_ATTRIBUTES_CHANGED = 22,
};

enum { SOURCE_IMPORT = 4, SOURCE_SYSTEM = 6 };

enum record_field {
    RECORD_KIND = 1,
    RECORD_USER = 2,
    RECORD_VERSION = 3,
    RECORD_RECORDED_AT = 4,
    RECORD_OCCURRED_AT_MS = 6,
    RECORD_SOURCE = 8,
    RECORD_NAME = 9,
    RECORD_ENTRIES = 10,
    RECORD_EMPTY_PROPERTIES = 16,
    RECORD_IDENTITIES = 23,
};

enum value_field {
    VALUE_NAME = 1,
    VALUE_BOOL = 2,
    VALUE_INT = 3,
    VALUE_DOUBLE = 4,
    VALUE_STRING = 5,
    VALUE_OPERATION = 10,
    VALUE_UUID = 12,
};
enum identity_field { IDENTITY_EXTERNAL_ID = 1 };
enum user_row_field { USER_ROW_CREATED = 1, USER_ROW_IDENTITIES = 2 };

#define UUID_CHARACTERS 36
#define UUID_BYTES 16

/// The bytes of a string of the form 00112233-4455-6677-8899-aabbccddeeff, lower case; false if it is no such string.
bool read_uuid(struct text text, uint8_t out[UUID_BYTES]);
void write_uuid(char out[UUID_CHARACTERS], const uint8_t bytes[UUID_BYTES]);

/// A typed value; `field` is the member of the oneof that holds it.
struct value {
    enum value_field field;
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct text string;
    };
};

struct entry {
    struct text name;
    struct value value;
};

/// An entry as it is stored: its name is a number.
struct numbered_entry {
    uint32_t name;
    const struct value *value;
};

struct header {
    enum record_kind kind;
    uint64_t user;
    uint64_t version;
    int64_t recorded_at;  // microseconds since 1970 UTC
};

/// What stands behind the header of an event of the workload.
struct body {
    bool has_occurred_at;
    bool empty_properties;
    int64_t occurred_at;  // microseconds, whole milliseconds: no workload has finer times
    uint32_t name;  // 0: none
    uint32_t entry_count;
    const struct numbered_entry *entries;  // ascending by name
};

/// Room that a record takes at most, without its entries' and identities' texts.
#define RECORD_BYTES_MAX(entries) (128 + (size_t)(entries) * 32)

/// Both write a whole record, format byte and CRC included, and return its size.
size_t encode_event(uint8_t *out, const struct header *header, const struct body *body);
size_t encode_user_created(uint8_t *out, const struct header *header, struct text external_id);

/// The row of table `users` for a user who was created with an external ID, CRC included.
size_t encode_user_row(uint8_t *out, uint64_t position, struct text external_id);

/// Reads the four fields that begin every record. False: they are not there in order.
static inline bool read_header(struct reader *message, struct header *header) {
    uint64_t kind, recorded_at;
    if (message->next >= message->end || *message->next++ != WIRE_TAG(RECORD_KIND, WIRE_VARINT)) return false;
    if (!read_varint(message, &kind)) return false;
    if (message->next >= message->end || *message->next++ != WIRE_TAG(RECORD_USER, WIRE_VARINT)) return false;
    if (!read_varint(message, &header->user)) return false;
    if (message->next >= message->end || *message->next++ != WIRE_TAG(RECORD_VERSION, WIRE_VARINT)) return false;
    if (!read_varint(message, &header->version)) return false;
    if (message->next >= message->end || *message->next++ != WIRE_TAG(RECORD_RECORDED_AT, WIRE_VARINT)) return false;
    if (!read_varint(message, &recorded_at)) return false;
    header->kind = (enum record_kind)kind;
    header->recorded_at = (int64_t)recorded_at;
    return true;
}

/// Lends the message of a record without checking it, for a reader that may go no further than the header.
static inline bool record_message(const uint8_t *bytes, size_t size, struct reader *message) {
    if (size < 5 || bytes[0] != RECORD_FORMAT) return false;
    *message = (struct reader){bytes + 1, bytes + size - 4};
    return true;
}

/// Whether the CRC at the end of a record (of at least 5 bytes) is that of what stands before it.
static inline bool record_is_intact(const uint8_t *bytes, size_t size) {
    return crc32c(bytes, size - 4) == get_le32(bytes + size - 4);
}

#endif
