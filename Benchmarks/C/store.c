#include "store.h"

#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_BYTES ((size_t)1 << 40)
#define TABLES_MAX 16
#define READERS_MAX 4096

static const char *const table_names[TABLE_COUNT] = {
    [META] = "meta",           [LOG] = "log",         [NAMES] = "names", [USERS] = "users",
    [IDENTIFIERS] = "identifiers", [CONTACTS] = "contacts", [STREAMS] = "streams", [KEYS] = "keys",
    [DEVICES] = "devices",
    [PENDING] = "pending",     [SNAPSHOTS] = "snapshots", [CHECKPOINTS] = "checkpoints",
};

void check_lmdb(int code, const char *what) {
    if (code != 0) fail("%s: %s", what, mdb_strerror(code));
}

static void file_in(char path[PATH_MAX], const char *folder, const char *file) {
    if (snprintf(path, PATH_MAX, "%s/%s", folder, file) >= PATH_MAX) fail("the path %s is too long", folder);
}

static void open_environment(struct store *store, const char *path, unsigned flags) {
    store->path = path;
    check_lmdb(mdb_env_create(&store->env), "making an environment");
    check_lmdb(mdb_env_set_mapsize(store->env, MAP_BYTES), "reserving the map");
    check_lmdb(mdb_env_set_maxdbs(store->env, TABLES_MAX), "setting the number of tables");
    check_lmdb(mdb_env_set_maxreaders(store->env, READERS_MAX), "setting the number of readers");
    int code = mdb_env_open(store->env, path, MDB_NOTLS | flags, 0644);
    if (code != 0) fail("cannot open the store %s: %s", path, mdb_strerror(code));
}

static void put_meta(struct store *store, MDB_txn *transaction, const char *name, const void *bytes, size_t size) {
    MDB_val key = val(name, strlen(name)), value = val(bytes, size);
    check_lmdb(mdb_put(transaction, store->tables[META], &key, &value, MDB_NOOVERWRITE), "writing table meta");
}

/// LMDB does not sync the folder in which it creates its files.
static void sync_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder) != 0) fail("cannot sync the folder %s: %s", path, strerror(errno));
    close(folder);
}

void store_create(struct store *store, const char *path, const uint8_t uuid[16], int64_t created) {
    char data[PATH_MAX];
    file_in(data, path, "data.mdb");
    if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("cannot make the folder %s: %s", path, strerror(errno));
    if (access(data, F_OK) == 0) fail("%s already holds a store: name another folder, or delete it first", path);
    open_environment(store, path, 0);
    MDB_txn *transaction = store_begin(store, 0);
    for (int table = 0; table < TABLE_COUNT; table++) {
        int code = mdb_dbi_open(transaction, table_names[table], MDB_CREATE, &store->tables[table]);
        check_lmdb(code, table_names[table]);
    }
    uint8_t number[8];
    put_meta(store, transaction, "uuid", uuid, 16);
    put_be64(number, (uint64_t)created);
    put_meta(store, transaction, "created", number, 8);
    put_be32(number, FORMAT_VERSION);
    put_meta(store, transaction, "reader", number, 4);
    put_meta(store, transaction, "writer", number, 4);
    check_lmdb(mdb_txn_commit(transaction), "committing the new store");
    sync_folder(path);
}

void store_open(struct store *store, const char *path) {
    char data[PATH_MAX];
    file_in(data, path, "data.mdb");
    if (access(data, R_OK) != 0) fail("%s holds no store that can be read: %s", path, strerror(errno));
    open_environment(store, path, MDB_RDONLY);
    MDB_txn *transaction = store_begin(store, MDB_RDONLY);
    for (int table = 0; table < TABLE_COUNT; table++) {
        int code = mdb_dbi_open(transaction, table_names[table], 0, &store->tables[table]);
        if (code != 0) fail("%s is no ProfileLog store: table %s: %s", path, table_names[table], mdb_strerror(code));
    }
    MDB_val key = val("reader", 6), value;
    int code = mdb_get(transaction, store->tables[META], &key, &value);
    if (code != 0 || value.mv_size != 4) fail("%s is no ProfileLog store: its table meta names no format", path);
    uint32_t reader = get_be32(value.mv_data);
    if (reader > FORMAT_VERSION) fail("%s has format %u; this program reads format %u", path, reader, FORMAT_VERSION);
    // A commit, so that the handles of the tables outlive the transaction.
    check_lmdb(mdb_txn_commit(transaction), "opening the tables");
}

void store_close(struct store *store) { mdb_env_close(store->env); }

void store_delete(const char *path) {
    char file[PATH_MAX];
    file_in(file, path, "data.mdb");
    unlink(file);
    file_in(file, path, "lock.mdb");
    unlink(file);
    rmdir(path);
}

MDB_txn *store_begin(struct store *store, unsigned flags) {
    MDB_txn *transaction;
    check_lmdb(mdb_txn_begin(store->env, NULL, flags, &transaction), "beginning a transaction");
    return transaction;
}

MDB_cursor *store_cursor(struct store *store, MDB_txn *transaction, enum table table) {
    MDB_cursor *cursor;
    check_lmdb(mdb_cursor_open(transaction, store->tables[table], &cursor), table_names[table]);
    return cursor;
}

bool store_checkpoint(struct store *store, MDB_txn *transaction, struct checkpoint *checkpoint) {
    MDB_val key = val("index", 5), value;
    *checkpoint = (struct checkpoint){0};
    int code = mdb_get(transaction, store->tables[CHECKPOINTS], &key, &value);
    if (code == MDB_NOTFOUND) return false;
    check_lmdb(code, "reading the index checkpoint");
    const uint8_t *bytes = value.mv_data;
    if (value.mv_size != CHECKPOINT_BYTES || !record_is_intact(bytes, CHECKPOINT_BYTES) ||
        get_be32(bytes) != INDEX_REVISION)
        fail("%s has an index of another revision", store->path);
    *checkpoint = (struct checkpoint){get_be64(bytes + 4), get_be64(bytes + 12)};
    return true;
}

uint64_t last_position(MDB_cursor *log) {
    MDB_val key, value;
    int code = mdb_cursor_get(log, &key, &value, MDB_LAST);
    if (code == MDB_NOTFOUND) return 0;
    check_lmdb(code, "reading the end of the log");
    return get_number_key(key.mv_data, key.mv_size);
}

void store_sizes(struct store *store, uint64_t *file_bytes, uint64_t *used_bytes) {
    MDB_envinfo info;
    MDB_stat stat;
    check_lmdb(mdb_env_info(store->env, &info), "asking for the size");
    MDB_txn *transaction = store_begin(store, MDB_RDONLY);
    uint64_t pages = 2;  // the meta pages
    check_lmdb(mdb_env_stat(store->env, &stat), "asking for the size");
    pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
    for (int table = 0; table < TABLE_COUNT; table++) {
        check_lmdb(mdb_stat(transaction, store->tables[table], &stat), table_names[table]);
        pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
    }
    mdb_txn_abort(transaction);
    *file_bytes = (info.me_last_pgno + 1) * stat.ms_psize;
    *used_bytes = pages * stat.ms_psize;
}
