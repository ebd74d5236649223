#ifndef CBENCH_INDEX_H
#define CBENCH_INDEX_H

// The caches that lag: looked up during an append, and written in key order by a flush.

#include "store.h"
#include "tail.h"

/// A flush follows the commit after which the tail holds this many events.
#define FLUSH_EVENTS 65536

/// The user of an external ID in table `identifiers`, or 0.
uint64_t index_find_user(struct store *store, MDB_txn *transaction, struct text external_id);

/// The user's last version in table `streams`, or 0. `streams` is a cursor of that table.
uint64_t index_last_version(MDB_cursor *streams, uint64_t user);

/// Writes the tail to `identifiers`, `users` and `streams` in one transaction, moves the checkpoint, and empties the
/// tail.
void index_flush(struct store *store, struct tail *tail, struct checkpoint checkpoint);

#endif
