// `dump`: rows and digest of every table, to compare two stores.

#include "commands.h"
#include "store.h"

#include <stdio.h>

/// FNV-1a, 64 bits.
static uint64_t digest(uint64_t hash, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ next[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t digest_sized(uint64_t hash, MDB_val part) {
    uint8_t length[4];
    put_le32(length, (uint32_t)part.mv_size);
    return digest(digest(hash, length, 4), part.mv_data, part.mv_size);
}

static bool is_named(MDB_val name, const char *text) {
    return name.mv_size == strlen(text) && memcmp(name.mv_data, text, name.mv_size) == 0;
}

static void dump_table(MDB_txn *transaction, MDB_val name) {
    char text[64];
    if (name.mv_size >= sizeof text) fail("the name of a table is too long");
    memcpy(text, name.mv_data, name.mv_size);
    text[name.mv_size] = 0;
    MDB_dbi table;
    MDB_cursor *cursor;
    check_lmdb(mdb_dbi_open(transaction, text, 0, &table), text);
    check_lmdb(mdb_cursor_open(transaction, table, &cursor), text);
    uint64_t hash = 0xcbf29ce484222325u, rows = 0, bytes = 0;
    MDB_val key, value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (strcmp(text, "checkpoints") == 0 && !is_named(key, "index")) continue;
        hash = digest_sized(digest_sized(hash, key), value);
        rows++;
        bytes += key.mv_size + value.mv_size;
    }
    if (code != MDB_NOTFOUND) check_lmdb(code, text);
    printf("%-12s %10llu rows %12llu bytes  %016llx\n", text, (unsigned long long)rows, (unsigned long long)bytes,
           (unsigned long long)hash);
    mdb_cursor_close(cursor);
}

int dump_command(const char *path) {
    struct store store;
    store_open(&store, path);
    MDB_txn *transaction = store_begin(&store, MDB_RDONLY);
    MDB_dbi tables;
    MDB_cursor *cursor;
    check_lmdb(mdb_dbi_open(transaction, NULL, 0, &tables), "opening the list of tables");
    check_lmdb(mdb_cursor_open(transaction, tables, &cursor), "opening the list of tables");
    MDB_val name, ignored;
    int code;
    while ((code = mdb_cursor_get(cursor, &name, &ignored, MDB_NEXT)) == 0) {
        // `meta` has the UUID and the time of creation; snapshots are made by one of the programs only.
        if (!is_named(name, "meta") && !is_named(name, "snapshots")) dump_table(transaction, name);
    }
    if (code != MDB_NOTFOUND) check_lmdb(code, "reading the list of tables");
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    store_close(&store);
    return 0;
}
