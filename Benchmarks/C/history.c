// `history`: all events of users chosen at random, found by `streams` and decoded completely.

#include "commands.h"
#include "record.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

/// What a decoded record leaves behind: its texts in a scratch buffer, its numbers in a sum, so that the compiler
/// cannot leave the decoding out.
struct decoded {
    uint8_t *scratch;
    size_t size, capacity;
    uint64_t sum;
};

struct names {
    struct text *texts;  // by number
    size_t count;        // numbers below this are there
    struct arena arena;
};

static void keep_text(struct decoded *decoded, const void *bytes, size_t length) {
    if (decoded->size + length > decoded->capacity) {
        decoded->capacity = (decoded->size + length) * 2;
        decoded->scratch = reallocate(decoded->scratch, decoded->capacity);
    }
    memcpy(decoded->scratch + decoded->size, bytes, length);
    decoded->size += length;
}

static void keep_name(struct decoded *decoded, const struct names *names, uint64_t number) {
    if (number == 0 || number >= names->count) fail("a record uses a name that table names has not");
    keep_text(decoded, names->texts[number].bytes, names->texts[number].length);
}

/// Names of up to some thousand kinds are held in memory by every program that reads a store.
static void load_names(struct store *store, struct names *names) {
    MDB_txn *transaction = store_begin(store, MDB_RDONLY);
    MDB_cursor *cursor = store_cursor(store, transaction, NAMES);
    MDB_stat stat;
    check_lmdb(mdb_stat(transaction, store->tables[NAMES], &stat), "reading table names");
    *names = (struct names){.count = 1};
    names->texts = allocate((stat.ms_entries + 1) * sizeof *names->texts);
    MDB_val key, value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (key.mv_size != 4 || get_be32(key.mv_data) != names->count || value.mv_size < 4)
            fail("a row of table names is damaged");
        const uint8_t *bytes = value.mv_data;
        uint32_t length = (uint32_t)value.mv_size - 4;
        if (crc32c(bytes, length) != get_le32(bytes + length)) fail("the CRC of a name is wrong");
        char *copy = arena_allocate(&names->arena, length);
        memcpy(copy, bytes, length);
        names->texts[names->count++] = (struct text){copy, length};
    }
    if (code != MDB_NOTFOUND) check_lmdb(code, "reading table names");
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
}

static bool decode_value(struct decoded *decoded, const struct names *names, struct reader value, bool named) {
    while (value.next < value.end) {
        uint64_t tag, number;
        struct reader slice;
        if (!read_varint(&value, &tag)) return false;
        switch (tag) {
        case WIRE_TAG(VALUE_NAME, WIRE_VARINT):
            if (!read_varint(&value, &number)) return false;
            if (named) keep_name(decoded, names, number);
            else decoded->sum += number;
            break;
        case WIRE_TAG(VALUE_BOOL, WIRE_VARINT):
            if (!read_varint(&value, &number)) return false;
            decoded->sum += number != 0;
            break;
        case WIRE_TAG(VALUE_INT, WIRE_VARINT):
            if (!read_varint(&value, &number)) return false;
            decoded->sum += (uint64_t)unzigzag(number);
            break;
        case WIRE_TAG(VALUE_DOUBLE, WIRE_FIXED64):
            if (!read_fixed64(&value, &number)) return false;
            decoded->sum += number;
            break;
        case WIRE_TAG(VALUE_STRING, WIRE_BYTES):
            if (!read_slice(&value, &slice)) return false;
            keep_text(decoded, slice.next, reader_left(&slice));
            break;
        case WIRE_TAG(VALUE_UUID, WIRE_BYTES): {
            char text[UUID_CHARACTERS];
            if (!read_slice(&value, &slice) || reader_left(&slice) != UUID_BYTES) return false;
            write_uuid(text, slice.next);
            keep_text(decoded, text, UUID_CHARACTERS);
            break;
        }
        default:
            if (!skip_field(&value, tag)) return false;
        }
    }
    return true;
}

static bool decode_identity(struct decoded *decoded, struct reader identity) {
    while (identity.next < identity.end) {
        uint64_t tag;
        struct reader slice;
        if (!read_varint(&identity, &tag)) return false;
        if ((tag & 7) != WIRE_BYTES) {
            if (!skip_field(&identity, tag)) return false;
            continue;
        }
        if (!read_slice(&identity, &slice)) return false;
        keep_text(decoded, slice.next, reader_left(&slice));
    }
    return true;
}

static bool decode_body(struct decoded *decoded, const struct names *names, enum record_kind kind,
                        struct reader message) {
    while (message.next < message.end) {
        uint64_t tag, number;
        struct reader slice;
        if (!read_varint(&message, &tag)) return false;
        switch (tag) {
        case WIRE_TAG(RECORD_OCCURRED_AT_MS, WIRE_VARINT):
            if (!read_varint(&message, &number)) return false;
            decoded->sum += (uint64_t)unzigzag(number) * 1000;
            break;
        case WIRE_TAG(RECORD_SOURCE, WIRE_VARINT):
        case WIRE_TAG(RECORD_EMPTY_PROPERTIES, WIRE_VARINT):
            if (!read_varint(&message, &number)) return false;
            decoded->sum += number;
            break;
        case WIRE_TAG(RECORD_NAME, WIRE_VARINT):
            if (!read_varint(&message, &number)) return false;
            keep_name(decoded, names, number);
            break;
        case WIRE_TAG(RECORD_ENTRIES, WIRE_BYTES):
            if (!read_slice(&message, &slice)) return false;
            if (!decode_value(decoded, names, slice, kind != USER_ATTRIBUTES_CHANGED)) return false;
            break;
        case WIRE_TAG(RECORD_IDENTITIES, WIRE_BYTES):
            if (!read_slice(&message, &slice) || !decode_identity(decoded, slice)) return false;
            break;
        default:
            if (!skip_field(&message, tag)) return false;
        }
    }
    return true;
}

static void decode_record(struct decoded *decoded, const struct names *names, MDB_cursor *log, uint64_t position,
                          uint64_t user, uint64_t version) {
    uint8_t bytes[NUMBER_KEY_BYTES_MAX];
    MDB_val key = val(bytes, (size_t)(put_number_key(bytes, position) - bytes)), value;
    check_lmdb(mdb_cursor_get(log, &key, &value, MDB_SET), "reading table log");
    struct reader message;
    struct header header;
    if (!record_message(value.mv_data, value.mv_size, &message) || !record_is_intact(value.mv_data, value.mv_size) ||
        !read_header(&message, &header))
        fail("position %llu: the record is damaged", (unsigned long long)position);
    if (header.user != user || header.version != version)
        fail("position %llu: the record is not what table streams says", (unsigned long long)position);
    decoded->size = 0;  // each record overwrites the last one
    decoded->sum += (uint64_t)header.recorded_at + header.kind;
    if (!decode_body(decoded, names, header.kind, message))
        fail("position %llu: the record is malformed", (unsigned long long)position);
    decoded->sum += decoded->size;
}

/// Decodes all events of a user, and returns how many there are.
static uint64_t read_history(struct decoded *decoded, const struct names *names, MDB_cursor *streams, MDB_cursor *log,
                             uint64_t user) {
    uint8_t bytes[16];
    put_be64(put_be64(bytes, user), 1);
    MDB_val key = val(bytes, 16), row;
    uint64_t version = 0;
    int code = mdb_cursor_get(streams, &key, &row, MDB_SET_RANGE);
    for (; code == 0; code = mdb_cursor_get(streams, &key, &row, MDB_NEXT)) {
        if (key.mv_size != 16) fail("a key of table streams has not 16 bytes");
        if (get_be64(key.mv_data) != user) return version;
        if (row.mv_size < CRC_BYTES || !record_is_intact(row.mv_data, row.mv_size))
            fail("a row of table streams is damaged");
        struct reader reader = {row.mv_data, (const uint8_t *)row.mv_data + row.mv_size - CRC_BYTES};
        uint64_t position = 0, difference;
        while (reader.next < reader.end) {
            if (!read_varint(&reader, &difference)) fail("a row of table streams is damaged");
            position += difference;
            decode_record(decoded, names, log, position, user, ++version);
        }
    }
    if (code != MDB_NOTFOUND) check_lmdb(code, "reading table streams");
    return version;
}

int history_command(const char *path, uint64_t users, uint64_t seed) {
    struct store store;
    store_open(&store, path);
    struct names names;
    load_names(&store, &names);
    MDB_txn *transaction = store_begin(&store, MDB_RDONLY);
    MDB_cursor *streams = store_cursor(&store, transaction, STREAMS), *log = store_cursor(&store, transaction, LOG);
    struct checkpoint checkpoint;
    store_checkpoint(&store, transaction, &checkpoint);
    if (checkpoint.position != last_position(log)) fail("the index of %s lags behind its log: flush it first", path);
    if (checkpoint.users == 0) fail("%s has no users", path);
    mdb_txn_reset(transaction);

    struct decoded decoded = {0};
    uint64_t events = 0, start = now_ns();
    for (uint64_t i = 0; i < users; i++) {
        // A read transaction for each user, as for each request.
        check_lmdb(mdb_txn_renew(transaction), "beginning a transaction");
        check_lmdb(mdb_cursor_renew(transaction, streams), "beginning a transaction");
        check_lmdb(mdb_cursor_renew(transaction, log), "beginning a transaction");
        events += read_history(&decoded, &names, streams, log, 1 + next_random(&seed) % checkpoint.users);
        mdb_txn_reset(transaction);
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"program\":\"c\",\"command\":\"history\",\"users\":%llu,\"events\":%llu,\"seconds\":%.6f,"
           "\"users_per_s\":%.0f,\"events_per_s\":%.0f,\"sum\":\"%016llx\"}\n",
           (unsigned long long)users, (unsigned long long)events, seconds, (double)users / seconds,
           (double)events / seconds, (unsigned long long)decoded.sum);

    mdb_cursor_close(streams);
    mdb_cursor_close(log);
    mdb_txn_abort(transaction);
    free(decoded.scratch);
    free(names.texts);
    arena_free(&names.arena);
    store_close(&store);
    return 0;
}
