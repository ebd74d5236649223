// `sqlite`: the records of a store in a table of SQLite, clustered by user: how fast they are appended, and how fast
// the records of users chosen at random are read. Nothing is decoded.

#include "commands.h"
#include "record.h"
#include "store.h"
#include "support.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS_PER_COMMIT = 1000 };

static void check_sqlite(sqlite3 *database, bool ok) {
    if (!ok) fail("SQLite: %s", sqlite3_errmsg(database));
}

static void execute(sqlite3 *database, const char *statement) {
    check_sqlite(database, sqlite3_exec(database, statement, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *text) {
    sqlite3_stmt *statement = NULL;
    check_sqlite(database, sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK);
    return statement;
}

/// Appends all records of the log in their order. Each commit is on the disk before the next one begins.
static uint64_t append_records(sqlite3 *database, MDB_cursor *log, uint64_t *users) {
    sqlite3_stmt *insert = prepare(database, "INSERT INTO event VALUES (?, ?, ?)");
    MDB_val key, value;
    uint64_t count = 0;
    for (int code = mdb_cursor_get(log, &key, &value, MDB_FIRST); code != MDB_NOTFOUND;
         code = mdb_cursor_get(log, &key, &value, MDB_NEXT)) {
        check_lmdb(code, "reading the log");
        struct reader message;
        struct header header;
        if (!record_message(value.mv_data, value.mv_size, &message) || !read_header(&message, &header))
            fail("a record of the log cannot be read");
        if (count % RECORDS_PER_COMMIT == 0) execute(database, count ? "COMMIT; BEGIN" : "BEGIN");
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)header.user);
        sqlite3_bind_int64(insert, 2, (sqlite3_int64)header.version);
        sqlite3_bind_blob(insert, 3, value.mv_data, (int)value.mv_size, SQLITE_STATIC);
        check_sqlite(database, sqlite3_step(insert) == SQLITE_DONE);
        sqlite3_reset(insert);
        if (header.user > *users) *users = header.user;
        count++;
    }
    if (count == 0) fail("the log has no records");
    execute(database, "COMMIT");
    sqlite3_finalize(insert);
    return count;
}

static uint64_t read_records(sqlite3 *database, uint64_t users, uint64_t reads, uint64_t seed, uint64_t *bytes) {
    sqlite3_stmt *select = prepare(database, "SELECT record FROM event WHERE user = ? ORDER BY version");
    uint64_t count = 0;
    for (uint64_t i = 0; i < reads; i++) {
        sqlite3_bind_int64(select, 1, (sqlite3_int64)(1 + next_random(&seed) % users));
        while (sqlite3_step(select) == SQLITE_ROW) {
            const uint8_t *record = sqlite3_column_blob(select, 0);
            *bytes += (uint64_t)sqlite3_column_bytes(select, 0) + record[0];
            count++;
        }
        sqlite3_reset(select);
    }
    sqlite3_finalize(select);
    return count;
}

int sqlite_command(const char *path, uint64_t reads, uint64_t seed) {
    struct store store;
    store_open(&store, path);
    MDB_txn *transaction = store_begin(&store, MDB_RDONLY);
    MDB_cursor *log = store_cursor(&store, transaction, LOG);

    char file[4096];
    if (snprintf(file, sizeof file, "%s/records.sqlite", path) >= (int)sizeof file) fail("%s is too long", path);
    remove(file);
    sqlite3 *database = NULL;
    check_sqlite(database, sqlite3_open(file, &database) == SQLITE_OK);
    execute(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;"
                      "CREATE TABLE event (user INTEGER, version INTEGER, record BLOB, PRIMARY KEY (user, version)) "
                      "WITHOUT ROWID");
    uint64_t users = 0, start = now_ns();
    uint64_t appended = append_records(database, log, &users);
    double append_seconds = (double)(now_ns() - start) / 1e9;
    execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");

    uint64_t bytes = 0;
    start = now_ns();
    uint64_t events = read_records(database, users, reads, seed, &bytes);
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"program\":\"sqlite\",\"events\":%llu,\"events_per_s\":%.0f,\"users_per_s\":%.0f,"
           "\"read_events_per_s\":%.0f,\"sum\":\"%llu\"}\n",
           (unsigned long long)appended, (double)appended / append_seconds, (double)reads / seconds,
           (double)events / seconds, (unsigned long long)bytes);

    sqlite3_close(database);
    remove(file);
    mdb_cursor_close(log);
    mdb_txn_abort(transaction);
    store_close(&store);
    return 0;
}
