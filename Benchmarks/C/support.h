#ifndef CBENCH_SUPPORT_H
#define CBENCH_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/// Text that somebody else owns; no NUL at its end.
struct text {
    const char *bytes;
    uint32_t length;
};

/// Prints `cbench: …` and ends with exit code 1 (`fail`) or 64 (`fail_usage`: the arguments are wrong).
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// `malloc` and `realloc` that end the program when memory is out.
void *allocate(size_t bytes);
void *reallocate(void *old, size_t bytes);

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t now_ns(void);

/// Memory that is only given back all at once. All zeros is an empty arena.
struct arena {
    struct arena_chunk *chunk;
    uint8_t *next;
    uint8_t *end;
    size_t bytes;  // taken from the system
};

void *arena_refill(struct arena *arena, size_t bytes);
/// Forgets everything, and keeps one chunk for the next use.
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

static inline void *arena_allocate(struct arena *arena, size_t bytes) {
    bytes = bytes ? (bytes + 7) & ~(size_t)7 : 8;
    if ((size_t)(arena->end - arena->next) < bytes) return arena_refill(arena, bytes);
    void *result = arena->next;
    arena->next += bytes;
    return result;
}

/// The next number of a sequence that `state` determines (SplitMix64).
uint64_t next_random(uint64_t *state);

#endif
