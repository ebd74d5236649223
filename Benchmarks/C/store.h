#ifndef CBENCH_STORE_H
#define CBENCH_STORE_H

// The LMDB environment and its tables, as docs/decisions/0001-record-and-tables.md defines them.

#include "support.h"
#include "wire.h"

#include <lmdb.h>
#include <stdbool.h>

enum table {
    META,
    LOG,
    NAMES,
    USERS,
    IDENTIFIERS,
    CONTACTS,
    STREAMS,
    KEYS,
    DEVICES,
    PENDING,
    SNAPSHOTS,
    CHECKPOINTS,
    TABLE_COUNT
};

#define FORMAT_VERSION 1u
#define INDEX_REVISION 8u
#define CHECKPOINT_BYTES 24

enum { IDENTIFIER_EXTERNAL_ID = 1 };

/// Positions in a row of `streams`.
#define STREAM_ROW_ENTRIES 128
#define STREAM_ROW_BYTES_MAX (STREAM_ROW_ENTRIES * VARINT_BYTES_MAX + CRC_BYTES)
#define CRC_BYTES 4

struct store {
    const char *path;
    MDB_env *env;
    MDB_dbi tables[TABLE_COUNT];
};

/// How far the caches reach.
struct checkpoint {
    uint64_t position;
    uint64_t users;
};

/// Makes a new store with all its tables. Ends the program if the folder already holds one.
void store_create(struct store *store, const char *path, const uint8_t uuid[16], int64_t created);
/// Opens an existing store for reading.
void store_open(struct store *store, const char *path);
void store_close(struct store *store);
/// Deletes the files of a store that is closed, and the folder if nothing else is in it.
void store_delete(const char *path);

/// Ends the program with LMDB's message unless `code` is 0.
void check_lmdb(int code, const char *what);

MDB_txn *store_begin(struct store *store, unsigned flags);
MDB_cursor *store_cursor(struct store *store, MDB_txn *transaction, enum table table);
/// False: there is no index checkpoint yet.
bool store_checkpoint(struct store *store, MDB_txn *transaction, struct checkpoint *checkpoint);
/// The key of the last record, or 0.
uint64_t last_position(MDB_cursor *log);

/// Bytes of `data.mdb` up to its last page, and of the pages that the tables use.
void store_sizes(struct store *store, uint64_t *file_bytes, uint64_t *used_bytes);

static inline MDB_val val(const void *bytes, size_t size) {
    return (MDB_val){.mv_size = size, .mv_data = (void *)bytes};
}

#endif
