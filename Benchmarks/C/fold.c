// `fold`: the whole log, in position order, into one profile for each user.

#include "commands.h"
#include "record.h"
#include "store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/// An attribute: its name's number, the bytes of its value (the Value message behind the name), and who set it.
struct attribute {
    uint32_t name;
    uint32_t length;
    uint32_t capacity;
    uint64_t position;
    uint8_t *bytes;
};

struct custom_event {
    uint32_t name;
    int64_t first_at;
    int64_t last_at;
    uint64_t count;
    uint64_t last_position;
};

/// Ascending by name.
struct attributes {
    struct attribute *items;
    uint32_t count, capacity;
};

struct custom_events {
    struct custom_event *items;
    uint32_t count, capacity;
};

struct profile {
    uint64_t events;  // all records of the user, so the version; 0: nobody has this number
    int64_t first_seen;
    int64_t last_seen;
    struct attributes standard;
    struct attributes custom;
    struct custom_events custom_events;
};

/// What one thread folds: the users whose numbers leave `parity` when divided by `threads`.
struct share {
    struct store *store;
    unsigned threads;
    unsigned parity;
    struct profile *profiles;  // by user number / threads
    size_t profile_capacity;
    struct arena values;
    uint64_t records;  // in the whole log
    uint64_t folded;
};

#define GROW(list)                                                                         \
    do {                                                                                   \
        if ((list)->count == (list)->capacity) {                                           \
            (list)->capacity = (list)->capacity ? (list)->capacity * 2 : 4;                \
            (list)->items = reallocate((list)->items, (list)->capacity * sizeof *(list)->items); \
        }                                                                                  \
    } while (0)

/// Index of the first item whose name is not below `wanted`.
#define LOWER_BOUND(list, wanted, index)                             \
    do {                                                             \
        uint32_t low = 0, high = (list)->count;                      \
        while (low < high) {                                         \
            uint32_t middle = (low + high) / 2;                      \
            if ((list)->items[middle].name < (wanted)) low = middle + 1; \
            else high = middle;                                      \
        }                                                            \
        (index) = low;                                               \
    } while (0)

static void set_attribute(struct share *share, struct attributes *attributes, uint32_t name, struct reader value,
                          uint64_t position) {
    uint32_t index, length = (uint32_t)reader_left(&value);
    LOWER_BOUND(attributes, name, index);
    struct attribute *attribute = attributes->items + index;
    if (index == attributes->count || attribute->name != name) {
        GROW(attributes);
        attribute = attributes->items + index;
        memmove(attribute + 1, attribute, (attributes->count - index) * sizeof *attribute);
        attributes->count++;
        *attribute = (struct attribute){.name = name};
    }
    if (length > attribute->capacity) {
        // Twice as much as before, so that a value that keeps growing wastes no more than its size.
        attribute->capacity = length > attribute->capacity * 2 ? (length + 7) & ~7u : attribute->capacity * 2;
        attribute->bytes = arena_allocate(&share->values, attribute->capacity);
    }
    memcpy(attribute->bytes, value.next, length);
    attribute->length = length;
    attribute->position = position;
}

static void count_custom_event(struct custom_events *events, uint32_t name, int64_t at, uint64_t position) {
    uint32_t index;
    LOWER_BOUND(events, name, index);
    struct custom_event *event = events->items + index;
    if (index == events->count || event->name != name) {
        GROW(events);
        event = events->items + index;
        memmove(event + 1, event, (events->count - index) * sizeof *event);
        events->count++;
        *event = (struct custom_event){name, at, at, 1, position};
        return;
    }
    if (at < event->first_at) event->first_at = at;
    if (at > event->last_at) event->last_at = at;
    event->count++;
    event->last_position = position;
}

static _Noreturn void damaged(uint64_t position, const char *what) {
    fail("position %llu: %s", (unsigned long long)position, what);
}

/// Applies one Value. What follows the name is kept as it stands, after its form has been checked.
static void fold_attribute(struct share *share, struct attributes *attributes, struct reader value, uint64_t position) {
    uint64_t name;
    if (value.next >= value.end || *value.next++ != WIRE_TAG(VALUE_NAME, WIRE_VARINT) || !read_varint(&value, &name))
        damaged(position, "an attribute does not begin with its name");
    for (struct reader rest = value; rest.next < rest.end;) {
        uint64_t tag;
        if (!read_varint(&rest, &tag) || !skip_field(&rest, tag)) damaged(position, "an attribute is malformed");
        if (tag >> 3 == VALUE_OPERATION) damaged(position, "an attribute is not set but changed: no workload has that");
    }
    set_attribute(share, attributes, (uint32_t)name, value, position);
}

static struct profile *profile_of(struct share *share, uint64_t user) {
    uint64_t index = user / share->threads;
    if (index >= share->profile_capacity) {
        size_t capacity = share->profile_capacity ? share->profile_capacity : 1024;
        while (index >= capacity) capacity *= 2;
        share->profiles = reallocate(share->profiles, capacity * sizeof *share->profiles);
        memset(share->profiles + share->profile_capacity, 0,
               (capacity - share->profile_capacity) * sizeof *share->profiles);
        share->profile_capacity = capacity;
    }
    return &share->profiles[index];
}

static void fold_record(struct share *share, const struct header *header, struct reader message, uint64_t position) {
    struct profile *profile = profile_of(share, header->user);
    if (header->version != ++profile->events) damaged(position, "the version is not the next one of its user");
    if (header->kind == USER_CREATED) return;
    struct attributes *attributes = header->kind == CUSTOM_ATTRIBUTES_CHANGED ? &profile->custom
                                    : header->kind == USER_ATTRIBUTES_CHANGED ? &profile->standard
                                                                              : NULL;
    int64_t at = header->recorded_at;
    uint64_t name = 0;
    while (message.next < message.end) {
        uint64_t tag, number;
        struct reader slice;
        if (!read_varint(&message, &tag)) damaged(position, "a field is malformed");
        switch (tag) {
        case WIRE_TAG(RECORD_OCCURRED_AT_MS, WIRE_VARINT):
            if (!read_varint(&message, &number)) damaged(position, "occurred_at_ms is malformed");
            at = unzigzag(number) * 1000;
            break;
        case WIRE_TAG(RECORD_NAME, WIRE_VARINT):
            if (!read_varint(&message, &name)) damaged(position, "name is malformed");
            break;
        case WIRE_TAG(RECORD_ENTRIES, WIRE_BYTES):
            if (!read_slice(&message, &slice)) damaged(position, "an entry is malformed");
            if (attributes) fold_attribute(share, attributes, slice, position);
            break;
        default:
            if (!skip_field(&message, tag)) damaged(position, "a field is malformed");
        }
    }
    if (header->kind == CUSTOM_EVENT_LOGGED) count_custom_event(&profile->custom_events, (uint32_t)name, at, position);
    if (profile->events == 2 || at < profile->first_seen) profile->first_seen = at;
    if (profile->events == 2 || at > profile->last_seen) profile->last_seen = at;
}

/// Scans the whole log; goes beyond the header, and to the CRC, only for the users of this share.
static void *fold_share(void *argument) {
    struct share *share = argument;
    MDB_txn *transaction = store_begin(share->store, MDB_RDONLY);
    MDB_cursor *log = store_cursor(share->store, transaction, LOG);
    uint64_t position = 0;
    MDB_val key, value;
    int code;
    while ((code = mdb_cursor_get(log, &key, &value, MDB_NEXT)) == 0) {
        struct reader message;
        struct header header;
        position++;
        if (get_number_key(key.mv_data, key.mv_size) != position) damaged(position, "is missing");
        if (!record_message(value.mv_data, value.mv_size, &message) || !read_header(&message, &header))
            damaged(position, "the header is malformed");
        if (header.user % share->threads != share->parity) continue;
        if (!record_is_intact(value.mv_data, value.mv_size)) damaged(position, "the CRC is wrong");
        fold_record(share, &header, message, position);
        share->folded++;
    }
    if (code != MDB_NOTFOUND) check_lmdb(code, "reading table log");
    share->records = position;
    mdb_cursor_close(log);
    mdb_txn_abort(transaction);
    return NULL;
}

static uint64_t mix(uint64_t hash, uint64_t number) {
    for (int i = 0; i < 8; i++) hash = (hash ^ (number >> 8 * i & 0xff)) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_attributes(uint64_t hash, const struct attributes *attributes) {
    hash = mix(hash, attributes->count);
    for (uint32_t i = 0; i < attributes->count; i++) {
        const struct attribute *attribute = &attributes->items[i];
        hash = mix(mix(mix(hash, attribute->name), attribute->position), attribute->length);
        for (uint32_t j = 0; j < attribute->length; j++) hash = (hash ^ attribute->bytes[j]) * 0x100000001b3u;
    }
    return hash;
}

/// FNV-1a over all of a profile, numbers as 8 bytes little-endian. The digest of a log is the sum over its users.
static uint64_t profile_digest(uint64_t user, const struct profile *profile) {
    uint64_t hash = mix(mix(0xcbf29ce484222325u, user), profile->events);
    hash = mix(mix(hash, (uint64_t)profile->first_seen), (uint64_t)profile->last_seen);
    hash = mix_attributes(mix_attributes(hash, &profile->standard), &profile->custom);
    hash = mix(hash, profile->custom_events.count);
    for (uint32_t i = 0; i < profile->custom_events.count; i++) {
        const struct custom_event *event = &profile->custom_events.items[i];
        hash = mix(mix(mix(hash, event->name), (uint64_t)event->first_at), (uint64_t)event->last_at);
        hash = mix(mix(hash, event->count), event->last_position);
    }
    return hash;
}

int fold_command(const char *path, unsigned threads) {
    struct share shares[2] = {0};
    pthread_t other;
    struct store store;
    uint64_t start = now_ns();
    store_open(&store, path);
    for (unsigned i = 0; i < threads; i++) {
        shares[i].store = &store;
        shares[i].threads = threads;
        shares[i].parity = i;
    }
    if (threads == 2 && pthread_create(&other, NULL, fold_share, &shares[1]) != 0) fail("cannot start a thread");
    fold_share(&shares[0]);
    if (threads == 2) pthread_join(other, NULL);
    double seconds = (double)(now_ns() - start) / 1e9;

    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t users = 0, folded = 0, digest = 0, state_bytes = 0;
    for (unsigned i = 0; i < threads; i++) {
        struct share *share = &shares[i];
        folded += share->folded;
        state_bytes += share->values.bytes + share->profile_capacity * sizeof *share->profiles;
        for (size_t j = 0; j < share->profile_capacity; j++) {
            struct profile *profile = &share->profiles[j];
            if (profile->events > 0) {
                users++;
                digest += profile_digest(j * threads + share->parity, profile);
            }
            state_bytes += (profile->standard.capacity + profile->custom.capacity) * sizeof(struct attribute) +
                           profile->custom_events.capacity * sizeof(struct custom_event);
            free(profile->standard.items);
            free(profile->custom.items);
            free(profile->custom_events.items);
        }
        free(share->profiles);
        arena_free(&share->values);
    }
    store_close(&store);
    if (folded != shares[0].records) fail("folded %llu of %llu records", (unsigned long long)folded,
                                          (unsigned long long)shares[0].records);
    printf("{\"program\":\"c\",\"command\":\"fold\",\"threads\":%u,\"events\":%llu,\"users\":%llu,\"seconds\":%.6f,"
           "\"events_per_s\":%.0f,\"digest\":\"%016llx\",\"state_bytes\":%llu,\"peak_rss_bytes\":%llu}\n",
           threads, (unsigned long long)folded, (unsigned long long)users, seconds, (double)folded / seconds,
           (unsigned long long)digest, (unsigned long long)state_bytes, (unsigned long long)usage.ru_maxrss * 1024);
    return 0;
}
