#include "index.h"

#include "record.h"

#include <stdlib.h>

#define IDENTIFIER_BYTES_MAX 256

static size_t put_identifier_key(uint8_t *out, struct text external_id) {
    out[0] = IDENTIFIER_EXTERNAL_ID;
    memcpy(out + 1, external_id.bytes, external_id.length);
    return 1 + external_id.length;
}

static void put_stream_key(uint8_t out[16], uint64_t user, uint64_t version) { put_be64(put_be64(out, user), version); }

uint64_t index_find_user(struct store *store, MDB_txn *transaction, struct text external_id) {
    uint8_t bytes[IDENTIFIER_BYTES_MAX];
    MDB_val key = val(bytes, put_identifier_key(bytes, external_id)), value;
    int code = mdb_get(transaction, store->tables[IDENTIFIERS], &key, &value);
    if (code == MDB_NOTFOUND) return 0;
    check_lmdb(code, "reading table identifiers");
    if (value.mv_size != 8 + CRC_BYTES || !record_is_intact(value.mv_data, value.mv_size))
        fail("a row of table identifiers is damaged");
    return get_be64(value.mv_data);
}

/// Positions in a row of `streams`: each ends with the one byte of its varint that is below 0x80.
static size_t count_positions(const uint8_t *bytes, size_t size) {
    size_t count = 0;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        count += (size_t)__builtin_popcountll(~word & 0x8080808080808080u);
    }
    for (; size > 0; bytes++, size--) count += *bytes < 0x80;
    return count;
}

uint64_t index_last_version(MDB_cursor *streams, uint64_t user) {
    uint8_t bytes[16];
    put_stream_key(bytes, user + 1, 0);
    MDB_val key = val(bytes, 16), value;
    int code = mdb_cursor_get(streams, &key, &value, MDB_SET_RANGE);
    code = mdb_cursor_get(streams, &key, &value, code == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
    if (code == MDB_NOTFOUND) return 0;
    check_lmdb(code, "reading table streams");
    if (key.mv_size != 16) fail("a key of table streams has not 16 bytes");
    const uint8_t *found = key.mv_data;
    if (get_be64(found) != user) return 0;
    if (value.mv_size < CRC_BYTES || !record_is_intact(value.mv_data, value.mv_size))
        fail("a row of table streams is damaged");
    return get_be64(found + 8) + count_positions(value.mv_data, value.mv_size - CRC_BYTES) - 1;
}

static int by_bytes(const void *left, const void *right) {
    const struct text *a = &((const struct tail_created *)left)->external_id;
    const struct text *b = &((const struct tail_created *)right)->external_id;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int by_user(const void *left, const void *right) {
    uint64_t a = ((const struct tail_user *)left)->user, b = ((const struct tail_user *)right)->user;
    return (a > b) - (a < b);
}

static void flush_users(struct store *store, MDB_txn *transaction, const struct tail *tail) {
    MDB_cursor *cursor = store_cursor(store, transaction, USERS);
    uint8_t number[NUMBER_KEY_BYTES_MAX], row[IDENTIFIER_BYTES_MAX + 64];
    for (size_t i = 0; i < tail->created_count; i++) {
        const struct tail_created *created = &tail->created[i];
        size_t size = (size_t)(put_number_key(number, created->user) - number);
        MDB_val key = val(number, size);
        MDB_val value = val(row, encode_user_row(row, created->position, created->external_id));
        check_lmdb(mdb_cursor_put(cursor, &key, &value, MDB_APPEND), "writing table users");
    }
    mdb_cursor_close(cursor);
}

/// Sorts `tail->created` by external ID, so it comes after `flush_users`.
static void flush_identifiers(struct store *store, MDB_txn *transaction, struct tail *tail) {
    MDB_cursor *cursor = store_cursor(store, transaction, IDENTIFIERS);
    uint8_t bytes[IDENTIFIER_BYTES_MAX], row[8 + CRC_BYTES];
    qsort(tail->created, tail->created_count, sizeof *tail->created, by_bytes);
    for (size_t i = 0; i < tail->created_count; i++) {
        const struct tail_created *created = &tail->created[i];
        put_be64(row, created->user);
        put_le32(row + 8, crc32c(row, 8));
        MDB_val key = val(bytes, put_identifier_key(bytes, created->external_id)), value = val(row, sizeof row);
        check_lmdb(mdb_cursor_put(cursor, &key, &value, MDB_NOOVERWRITE), "writing table identifiers");
    }
    mdb_cursor_close(cursor);
}

static int by_contact(const void *left, const void *right) {
    const struct tail_contact *a = left, *b = right;
    uint32_t shorter = a->key.length < b->key.length ? a->key.length : b->key.length;
    int order = memcmp(a->key.bytes, b->key.bytes, shorter);
    if (order == 0) order = (a->key.length > b->key.length) - (a->key.length < b->key.length);
    return order ? order : (a->user > b->user) - (a->user < b->user);
}

static void flush_contacts(struct store *store, MDB_txn *transaction, struct tail *tail) {
    MDB_cursor *cursor = store_cursor(store, transaction, CONTACTS);
    uint8_t bytes[2 + CONTACT_BYTES_MAX + 8];
    qsort(tail->contacts, tail->contact_count, sizeof *tail->contacts, by_contact);
    for (size_t i = 0; i < tail->contact_count; i++) {
        const struct tail_contact *contact = &tail->contacts[i];
        memcpy(bytes, contact->key.bytes, contact->key.length);
        put_be64(bytes + contact->key.length, contact->user);
        MDB_val key = val(bytes, contact->key.length + 8), value = val(NULL, 0);
        check_lmdb(mdb_cursor_put(cursor, &key, &value, 0), "writing table contacts");
    }
    mdb_cursor_close(cursor);
}

/// The beginning of the row that `key` names: copies it to `row`, and returns its last position.
static uint64_t read_row(MDB_cursor *streams, MDB_val *key, uint64_t expected, uint8_t *row, size_t *size) {
    MDB_val value;
    check_lmdb(mdb_cursor_get(streams, key, &value, MDB_SET), "reading table streams");
    if (value.mv_size > STREAM_ROW_BYTES_MAX) fail("a row of table streams is too long");
    if (value.mv_size < CRC_BYTES || !record_is_intact(value.mv_data, value.mv_size))
        fail("a row of table streams is damaged");
    value.mv_size -= CRC_BYTES;
    struct reader reader = {value.mv_data, (const uint8_t *)value.mv_data + value.mv_size};
    uint64_t position = 0, count = 0, difference;
    for (; reader.next < reader.end; count++) {
        if (!read_varint(&reader, &difference)) fail("a row of table streams is damaged");
        position += difference;
    }
    if (count != expected) fail("a row of table streams has another number of positions than its user has events");
    memcpy(row, value.mv_data, value.mv_size);
    *size = value.mv_size;
    return position;
}

static void flush_streams(struct store *store, MDB_txn *transaction, const struct tail *tail) {
    MDB_cursor *cursor = store_cursor(store, transaction, STREAMS);
    uint8_t bytes[16], row[STREAM_ROW_BYTES_MAX];
    for (size_t i = 0; i < tail->user_count; i++) {
        const struct tail_user *user = &tail->users[i];
        uint64_t version = user->first_version;
        uint32_t next = user->first_entry;
        while (next != TAIL_NONE) {
            // Rows begin at versions 1, 129, 257 …, whatever the flushes were.
            uint64_t in_row = (version - 1) % STREAM_ROW_ENTRIES, position = 0;
            size_t size = 0;
            put_stream_key(bytes, user->user, version - in_row);
            MDB_val key = val(bytes, 16);
            if (in_row > 0) position = read_row(cursor, &key, in_row, row, &size);
            uint8_t *at = row + size;
            for (; next != TAIL_NONE && in_row < STREAM_ROW_ENTRIES; in_row++, version++) {
                const struct tail_entry *entry = &tail->entries[next];
                at = put_varint(at, entry->position - position);
                position = entry->position;
                next = entry->next;
            }
            at = put_le32(at, crc32c(row, (size_t)(at - row)));
            key = val(bytes, 16);
            MDB_val value = val(row, (size_t)(at - row));
            check_lmdb(mdb_cursor_put(cursor, &key, &value, 0), "writing table streams");
        }
    }
    mdb_cursor_close(cursor);
}

void index_flush(struct store *store, struct tail *tail, struct checkpoint checkpoint) {
    MDB_txn *transaction = store_begin(store, 0);
    flush_users(store, transaction, tail);
    flush_identifiers(store, transaction, tail);
    flush_contacts(store, transaction, tail);
    // The tail is emptied at the end, so its users may be put in order where they lie.
    qsort(tail->users, tail->user_count, sizeof *tail->users, by_user);
    flush_streams(store, transaction, tail);
    uint8_t row[CHECKPOINT_BYTES];
    put_be64(put_be64(put_be32(row, INDEX_REVISION), checkpoint.position), checkpoint.users);
    put_le32(row + CHECKPOINT_BYTES - CRC_BYTES, crc32c(row, CHECKPOINT_BYTES - CRC_BYTES));
    MDB_val key = val("index", 5), value = val(row, sizeof row);
    check_lmdb(mdb_put(transaction, store->tables[CHECKPOINTS], &key, &value, 0), "writing table checkpoints");
    check_lmdb(mdb_txn_commit(transaction), "committing an index flush");
    tail_clear(tail);
}
