#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void complain(const char *format, va_list arguments) {
    fflush(stdout);
    fputs("cbench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(1);
}

void fail_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    fputs("Run `cbench --help` for the commands and their options.\n", stderr);
    exit(64);
}

void *allocate(size_t bytes) { return reallocate(NULL, bytes); }

void *reallocate(void *old, size_t bytes) {
    void *result = realloc(old, bytes ? bytes : 1);
    if (!result) fail("out of memory (%zu bytes)", bytes);
    return result;
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct arena_chunk {
    struct arena_chunk *previous;
    size_t bytes;
    uint8_t content[];
};

#define CHUNK_BYTES ((size_t)1 << 20)

void *arena_refill(struct arena *arena, size_t bytes) {
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct arena_chunk *chunk = allocate(sizeof *chunk + size);
    chunk->previous = arena->chunk;
    chunk->bytes = size;
    arena->chunk = chunk;
    arena->next = chunk->content + bytes;
    arena->end = chunk->content + size;
    arena->bytes += size;
    return chunk->content;
}

void arena_reset(struct arena *arena) {
    if (!arena->chunk) return;
    while (arena->chunk->previous) {
        struct arena_chunk *previous = arena->chunk->previous;
        arena->bytes -= arena->chunk->bytes;
        free(arena->chunk);
        arena->chunk = previous;
    }
    arena->next = arena->chunk->content;
    arena->end = arena->next + arena->chunk->bytes;
}

void arena_free(struct arena *arena) {
    arena_reset(arena);
    free(arena->chunk);
    *arena = (struct arena){0};
}

uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
