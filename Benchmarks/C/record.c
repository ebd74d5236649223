#include "record.h"

static uint8_t *put_header(uint8_t *at, const struct header *header) {
    *at++ = RECORD_FORMAT;
    // The header is always complete, defaults included, so that it is found without a search.
    *at++ = WIRE_TAG(RECORD_KIND, WIRE_VARINT);
    at = put_varint(at, header->kind);
    *at++ = WIRE_TAG(RECORD_USER, WIRE_VARINT);
    at = put_varint(at, header->user);
    *at++ = WIRE_TAG(RECORD_VERSION, WIRE_VARINT);
    at = put_varint(at, header->version);
    *at++ = WIRE_TAG(RECORD_RECORDED_AT, WIRE_VARINT);
    return put_varint(at, (uint64_t)header->recorded_at);
}

static size_t seal(uint8_t *record, uint8_t *end) {
    return (size_t)(put_le32(end, crc32c(record, (size_t)(end - record))) - record);
}

static uint8_t hex_digit(char character) {
    if (character >= '0' && character <= '9') return (uint8_t)(character - '0');
    if (character >= 'a' && character <= 'f') return (uint8_t)(character - 'a' + 10);
    return 0xff;
}

static bool dash_before(int byte) { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

bool read_uuid(struct text text, uint8_t out[UUID_BYTES]) {
    const char *at = text.bytes;
    if (text.length != UUID_CHARACTERS || at[8] != '-' || at[13] != '-' || at[18] != '-' || at[23] != '-') return false;
    for (int i = 0; i < UUID_BYTES; i++) {
        if (dash_before(i)) at++;
        uint8_t high = hex_digit(*at++), low = hex_digit(*at++);
        if ((high | low) > 0x0f) return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

void write_uuid(char out[UUID_CHARACTERS], const uint8_t bytes[UUID_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < UUID_BYTES; i++) {
        if (dash_before(i)) *out++ = '-';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 0x0f];
    }
}

/// One Value with its tag and length. The member of the oneof is written even if it is 0, false or empty.
static uint8_t *put_entry(uint8_t *at, const struct numbered_entry *entry) {
    const struct value *value = entry->value;
    *at++ = WIRE_TAG(RECORD_ENTRIES, WIRE_BYTES);
    size_t length = 1 + varint_size(entry->name) + 1;
    uint8_t uuid[UUID_BYTES];
    bool is_uuid = value->field == VALUE_STRING && read_uuid(value->string, uuid);
    if (is_uuid) length += 1 + UUID_BYTES;
    else switch (value->field) {
    case VALUE_BOOL: length += 1; break;
    case VALUE_INT: length += varint_size(zigzag(value->integer)); break;
    case VALUE_DOUBLE: length += 8; break;
    default: length += varint_size(value->string.length) + value->string.length; break;
    }
    at = put_varint(at, length);
    *at++ = WIRE_TAG(VALUE_NAME, WIRE_VARINT);
    at = put_varint(at, entry->name);
    if (is_uuid) {
        *at++ = WIRE_TAG(VALUE_UUID, WIRE_BYTES);
        *at++ = UUID_BYTES;
        return put_bytes(at, uuid, UUID_BYTES);
    }
    switch (value->field) {
    case VALUE_BOOL:
        *at++ = WIRE_TAG(VALUE_BOOL, WIRE_VARINT);
        *at++ = value->boolean;
        return at;
    case VALUE_INT:
        *at++ = WIRE_TAG(VALUE_INT, WIRE_VARINT);
        return put_varint(at, zigzag(value->integer));
    case VALUE_DOUBLE: {
        uint64_t bits;
        memcpy(&bits, &value->number, 8);
        *at++ = WIRE_TAG(VALUE_DOUBLE, WIRE_FIXED64);
        return put_le64(at, bits);
    }
    default:
        *at++ = WIRE_TAG(VALUE_STRING, WIRE_BYTES);
        at = put_varint(at, value->string.length);
        return put_bytes(at, value->string.bytes, value->string.length);
    }
}

size_t encode_event(uint8_t *out, const struct header *header, const struct body *body) {
    uint8_t *at = put_header(out, header);
    if (body->has_occurred_at) {
        *at++ = WIRE_TAG(RECORD_OCCURRED_AT_MS, WIRE_VARINT);
        at = put_varint(at, zigzag(body->occurred_at / 1000));
    }
    *at++ = WIRE_TAG(RECORD_SOURCE, WIRE_VARINT);
    *at++ = SOURCE_IMPORT;
    if (body->name) {
        *at++ = WIRE_TAG(RECORD_NAME, WIRE_VARINT);
        at = put_varint(at, body->name);
    }
    for (uint32_t i = 0; i < body->entry_count; i++) at = put_entry(at, &body->entries[i]);
    if (body->empty_properties) {
        at = put_varint(at, WIRE_TAG(RECORD_EMPTY_PROPERTIES, WIRE_VARINT));
        *at++ = 1;
    }
    return seal(out, at);
}

/// An Identity that holds an external ID, behind the tag of `field`.
static uint8_t *put_identity(uint8_t *at, uint32_t field, struct text external_id) {
    at = put_varint(at, WIRE_TAG(field, WIRE_BYTES));
    at = put_varint(at, 1 + varint_size(external_id.length) + external_id.length);
    *at++ = WIRE_TAG(IDENTITY_EXTERNAL_ID, WIRE_BYTES);
    at = put_varint(at, external_id.length);
    return put_bytes(at, external_id.bytes, external_id.length);
}

size_t encode_user_created(uint8_t *out, const struct header *header, struct text external_id) {
    uint8_t *at = put_header(out, header);
    *at++ = WIRE_TAG(RECORD_SOURCE, WIRE_VARINT);
    *at++ = SOURCE_SYSTEM;
    return seal(out, put_identity(at, RECORD_IDENTITIES, external_id));
}

size_t encode_user_row(uint8_t *out, uint64_t position, struct text external_id) {
    uint8_t *at = out;
    *at++ = WIRE_TAG(USER_ROW_CREATED, WIRE_VARINT);
    at = put_varint(at, position);
    return seal(out, put_identity(at, USER_ROW_IDENTITIES, external_id));
}
