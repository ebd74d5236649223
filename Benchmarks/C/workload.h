#ifndef CBENCH_WORKLOAD_H
#define CBENCH_WORKLOAD_H

// The input: JSON Lines as `profilecli generate` writes them, parsed ahead of the clock.

#include "record.h"

/// Numbers of standard attributes by which a user can be found.
enum { ATTRIBUTE_EMAIL = 1, ATTRIBUTE_PHONE = 4 };

/// One line, parsed. Texts point into the mapped file, or into the window's arena if they had escapes.
struct event {
    enum record_kind kind;
    uint32_t attribute;  // USER_ATTRIBUTES_CHANGED: the number of the standard attribute
    int64_t occurred_at;
    struct text user;
    struct text name;  // CUSTOM_EVENT_LOGGED
    struct entry *entries;  // in the order of the line; user attributes: one without a name
    uint32_t entry_count;
    bool has_occurred_at;
    bool has_properties;
    size_t bytes_max;  // of the record that it becomes
};

/// Reads the file window by window, so that 100 million events need no more memory than one window.
struct workload {
    const char *path;
    const char *map;
    size_t size;
    size_t offset;  // of the first line that has not been parsed
    uint64_t line;
    struct event *events;
    size_t next;   // the first event of the window that has not been taken
    size_t count;  // events in the window
    struct arena arena;
};

void workload_open(struct workload *workload, const char *path);
/// The next events, `wanted` of them or what the file still has. Valid until the next call.
size_t workload_take(struct workload *workload, size_t wanted, const struct event **events);
/// Parses until `wanted` events are at hand. To be called before the clock starts; `workload_take` then parses nothing.
void workload_prepare(struct workload *workload, size_t wanted);
void workload_close(struct workload *workload);

#endif
