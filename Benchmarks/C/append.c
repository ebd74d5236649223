// `append`, `append-one`, `append-batches`: input events in batches, each made durable by one commit.

#include "commands.h"
#include "crc32c.h"
#include "dictionary.h"
#include "index.h"
#include "record.h"
#include "store.h"
#include "tail.h"
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
    struct store store;
    struct tail tail;
    struct dictionary names;
    struct checkpoint index;  // how far the tables reach
    uint64_t last_position;
    uint64_t last_user;
    uint8_t *record;  // scratch, at least `record_capacity` bytes
    size_t record_capacity;
    struct numbered_entry *entries;  // scratch
    size_t entry_capacity;
};

/// One write transaction.
struct batch {
    struct writer *writer;
    MDB_txn *transaction;
    MDB_cursor *log;
    MDB_cursor *streams;
    int64_t recorded_at;
};

static void append_record(struct batch *batch, uint64_t user, uint64_t version, size_t size) {
    struct writer *writer = batch->writer;
    uint8_t bytes[NUMBER_KEY_BYTES_MAX];
    uint64_t position = ++writer->last_position;
    MDB_val key = val(bytes, (size_t)(put_number_key(bytes, position) - bytes)), value = val(writer->record, size);
    check_lmdb(mdb_cursor_put(batch->log, &key, &value, MDB_APPEND), "writing table log");
    tail_append(&writer->tail, user, version, position);
}

static uint64_t create_user(struct batch *batch, struct text external_id) {
    struct writer *writer = batch->writer;
    uint64_t user = ++writer->last_user;
    struct header header = {USER_CREATED, user, 1, batch->recorded_at};
    append_record(batch, user, 1, encode_user_created(writer->record, &header, external_id));
    tail_create_user(&writer->tail, user, writer->last_position, external_id);
    return user;
}

static uint64_t resolve_user(struct batch *batch, struct text external_id) {
    uint64_t user = dictionary_find(&batch->writer->tail.identifiers, external_id);
    if (user == 0) user = index_find_user(&batch->writer->store, batch->transaction, external_id);
    return user != 0 ? user : create_user(batch, external_id);
}

static uint64_t last_version(struct batch *batch, uint64_t user) {
    uint64_t version = tail_last_version(&batch->writer->tail, user);
    return version != 0 ? version : index_last_version(batch->streams, user);
}

static uint32_t resolve_name(struct batch *batch, struct text name) {
    struct writer *writer = batch->writer;
    uint32_t number = (uint32_t)dictionary_find(&writer->names, name);
    if (number != 0) return number;
    number = (uint32_t)writer->names.count + 1;
    dictionary_insert(&writer->names, name, number);
    uint8_t bytes[4], *row = allocate(name.length + 4);
    put_be32(bytes, number);
    put_le32(put_bytes(row, name.bytes, name.length), crc32c(name.bytes, name.length));
    MDB_val key = val(bytes, 4), value = val(row, name.length + 4);
    MDB_dbi names = writer->store.tables[NAMES];
    check_lmdb(mdb_put(batch->transaction, names, &key, &value, MDB_APPEND), "writing table names");
    free(row);
    return number;
}

/// Numbers the names of an event's entries in the order of the line, and puts the entries in the order of the numbers.
static void number_entries(struct batch *batch, const struct event *event) {
    struct numbered_entry *entries = batch->writer->entries;
    for (uint32_t i = 0; i < event->entry_count; i++) {
        struct numbered_entry entry = {resolve_name(batch, event->entries[i].name), &event->entries[i].value};
        uint32_t at = i;
        for (; at > 0 && entries[at - 1].name > entry.name; at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void reserve_scratch(struct writer *writer, const struct event *event) {
    if (event->bytes_max > writer->record_capacity) {
        writer->record_capacity = event->bytes_max * 2;
        writer->record = reallocate(writer->record, writer->record_capacity);
    }
    if (event->entry_count > writer->entry_capacity) {
        writer->entry_capacity = event->entry_count * 2;
        writer->entries = reallocate(writer->entries, writer->entry_capacity * sizeof *writer->entries);
    }
}

static void append_event(struct batch *batch, const struct event *event) {
    struct writer *writer = batch->writer;
    reserve_scratch(writer, event);
    uint64_t user = resolve_user(batch, event->user);
    uint64_t version = last_version(batch, user) + 1;
    struct body body = {
        .has_occurred_at = event->has_occurred_at,
        .occurred_at = event->occurred_at,
        .entry_count = event->entry_count,
    };
    uint8_t contact = 0;
    switch (event->kind) {
    case CUSTOM_EVENT_LOGGED:
        body.name = resolve_name(batch, event->name);
        body.empty_properties = event->has_properties && event->entry_count == 0;
        number_entries(batch, event);
        break;
    case USER_ATTRIBUTES_CHANGED:
        writer->entries[0] = (struct numbered_entry){event->attribute, &event->entries[0].value};
        if (event->attribute == ATTRIBUTE_EMAIL) contact = IDENTIFIER_EMAIL;
        if (event->attribute == ATTRIBUTE_PHONE) contact = IDENTIFIER_PHONE;
        break;
    default: number_entries(batch, event);
    }
    body.entries = writer->entries;
    struct header header = {event->kind, user, version, batch->recorded_at};
    append_record(batch, user, version, encode_event(writer->record, &header, &body));
    if (contact && event->entries[0].value.field == VALUE_STRING)
        tail_add_contact(&writer->tail, user, contact, event->entries[0].value.string);
}

static void append_batch(struct writer *writer, const struct event *events, size_t count, int64_t recorded_at) {
    struct store *store = &writer->store;
    MDB_txn *transaction = store_begin(store, 0);
    struct batch batch = {
        .writer = writer,
        .transaction = transaction,
        .log = store_cursor(store, transaction, LOG),
        .streams = store_cursor(store, transaction, STREAMS),
        .recorded_at = recorded_at,
    };
    // A store may be shared. ProfileLog catches up with other writers here; this program only has to notice them.
    struct checkpoint checkpoint;
    store_checkpoint(store, transaction, &checkpoint);
    if (last_position(batch.log) != writer->last_position || checkpoint.position != writer->index.position)
        fail("another process writes to %s", store->path);

    for (size_t i = 0; i < count; i++) append_event(&batch, &events[i]);
    mdb_cursor_close(batch.streams);
    mdb_cursor_close(batch.log);
    check_lmdb(mdb_txn_commit(transaction), "committing a batch");
}

static void flush_index(struct writer *writer) {
    writer->index = (struct checkpoint){writer->last_position, writer->last_user};
    index_flush(&writer->store, &writer->tail, writer->index);
}

static void writer_make(struct writer *writer, const struct append_options *options) {
    *writer = (struct writer){.record_capacity = 4096, .entry_capacity = 64};
    store_create(&writer->store, options->store, options->uuid, options->recorded_at_start);
    tail_make(&writer->tail);
    dictionary_make(&writer->names, 1024);
    writer->record = allocate(writer->record_capacity);
    writer->entries = allocate(writer->entry_capacity * sizeof *writer->entries);
}

static void writer_free(struct writer *writer) {
    store_close(&writer->store);
    tail_free(&writer->tail);
    dictionary_free(&writer->names);
    free(writer->record);
    free(writer->entries);
}

/// The sizes of the batches: one for all, or one a line of a file.
struct sizes {
    FILE *file;
    const char *path;
    uint64_t each;
    uint64_t line;
};

/// Events of the next batch, 0 if there is none.
static uint64_t next_size(struct sizes *sizes) {
    if (!sizes->file) return sizes->each;
    unsigned long long size;
    int found = fscanf(sizes->file, "%llu", &size);
    sizes->line++;
    if (found == EOF) return 0;
    if (found != 1 || size == 0 || size > 100000000)
        fail("%s, line %llu: expected the size of a batch", sizes->path, (unsigned long long)sizes->line);
    return size;
}

static int by_value(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/// Nearest rank, in microseconds; `sorted` holds nanoseconds.
static double percentile(const uint64_t *sorted, size_t count, double fraction) {
    if (count == 0) return 0;
    size_t rank = (size_t)(fraction * (double)count);
    if ((double)rank < fraction * (double)count) rank++;
    if (rank > 0) rank--;
    return (double)sorted[rank] / 1000;
}

int append_command(const struct append_options *options) {
    struct workload workload;
    workload_open(&workload, options->input);
    struct sizes sizes = {.each = options->batch, .path = options->sizes};
    if (options->sizes && !(sizes.file = fopen(options->sizes, "r")))
        fail("cannot read the batch sizes %s: %s", options->sizes, strerror(errno));
    workload_prepare(&workload, 1);  // a malformed line is found before there is a store
    struct writer writer;
    writer_make(&writer, options);

    uint64_t *durations = NULL, total = 0, events_left = options->count ? options->count : UINT64_MAX;
    uint64_t events = 0, flushes = 0, longest_flush = 0;
    size_t batches = 0, capacity = 0;
    int64_t recorded_at = options->recorded_at_start;
    for (uint64_t wanted; events_left > 0 && (wanted = next_size(&sizes)) > 0;) {
        if (wanted > events_left) wanted = events_left;
        workload_prepare(&workload, wanted);
        if (batches == capacity) {
            capacity = capacity ? capacity * 2 : 4096;
            durations = reallocate(durations, capacity * sizeof *durations);
        }
        const struct event *batch;
        size_t count = workload_take(&workload, wanted, &batch);
        if (count == 0 || (sizes.file && count < wanted)) {
            if (sizes.file) fail("the batches of %s hold more events than %s", options->sizes, options->input);
            break;
        }
        uint64_t start = now_ns();
        append_batch(&writer, batch, count, recorded_at++);
        uint64_t committed = now_ns(), end = committed;
        if (writer.tail.entry_count >= FLUSH_EVENTS) {
            flush_index(&writer);
            end = now_ns();
            flushes++;
            if (end - committed > longest_flush) longest_flush = end - committed;
        }
        durations[batches++] = end - start;
        total += end - start;
        events += count;
        events_left -= count;
    }

    // What closing the store costs belongs to the run, though to no commit.
    uint64_t start = now_ns();
    if (writer.tail.entry_count > 0) flush_index(&writer);
    uint64_t last_flush = now_ns() - start;
    total += last_flush;

    uint64_t file_bytes, used_bytes;
    store_sizes(&writer.store, &file_bytes, &used_bytes);
    qsort(durations, batches, sizeof *durations, by_value);
    double seconds = (double)total / 1e9;
    printf("{\"program\":\"c\",\"command\":\"%s\",\"events\":%llu,\"records\":%llu,\"users\":%llu,\"batches\":%zu,"
           "\"seconds\":%.6f,\"events_per_s\":%.0f,"
           "\"commit_p50_us\":%.1f,\"commit_p99_us\":%.1f,\"commit_p999_us\":%.1f,\"commit_max_us\":%.1f,"
           "\"flushes\":%llu,\"flush_max_us\":%.1f,\"last_flush_us\":%.1f,"
           "\"data_bytes\":%llu,\"used_bytes\":%llu}\n",
           options->command, (unsigned long long)events, (unsigned long long)writer.last_position,
           (unsigned long long)writer.last_user, batches, seconds, seconds > 0 ? (double)events / seconds : 0,
           percentile(durations, batches, 0.5), percentile(durations, batches, 0.99),
           percentile(durations, batches, 0.999), percentile(durations, batches, 1), (unsigned long long)flushes,
           (double)longest_flush / 1000, (double)last_flush / 1000, (unsigned long long)file_bytes,
           (unsigned long long)used_bytes);

    if (sizes.file) fclose(sizes.file);
    free(durations);
    writer_free(&writer);
    workload_close(&workload);
    if (!options->keep) store_delete(options->store);
    return 0;
}
