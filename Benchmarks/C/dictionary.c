#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(struct text text) {
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t hash = text.length * factor;
    const char *next = text.bytes;
    size_t left = text.length;
    for (; left >= 8; next += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    if (left > 0) {
        uint64_t word = 0;
        memcpy(&word, next, left);
        hash = (hash ^ word) * factor;
    }
    return hash ^ hash >> 29;
}

void dictionary_make(struct dictionary *dictionary, size_t expected) {
    size_t capacity = 64;
    while (capacity < expected * 2) capacity *= 2;
    *dictionary = (struct dictionary){.capacity = capacity};
    dictionary->slots = allocate(capacity * sizeof *dictionary->slots);
    memset(dictionary->slots, 0, capacity * sizeof *dictionary->slots);
}

/// The slot of `text`, or the empty one where it belongs.
static struct dictionary_slot *find_slot(const struct dictionary *dictionary, struct text text, uint64_t hash) {
    size_t mask = dictionary->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct dictionary_slot *slot = &dictionary->slots[i];
        if (slot->number == 0) return slot;
        if (slot->hash == hash && slot->text.length == text.length &&
            memcmp(slot->text.bytes, text.bytes, text.length) == 0)
            return slot;
    }
}

uint64_t dictionary_find(const struct dictionary *dictionary, struct text text) {
    return find_slot(dictionary, text, hash_text(text))->number;
}

static void grow(struct dictionary *dictionary) {
    struct dictionary_slot *old = dictionary->slots;
    size_t old_capacity = dictionary->capacity;
    dictionary->capacity *= 2;
    dictionary->slots = allocate(dictionary->capacity * sizeof *old);
    memset(dictionary->slots, 0, dictionary->capacity * sizeof *old);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].number) *find_slot(dictionary, old[i].text, old[i].hash) = old[i];
    free(old);
}

struct text dictionary_insert(struct dictionary *dictionary, struct text text, uint64_t number) {
    if ((dictionary->count + 1) * 2 > dictionary->capacity) grow(dictionary);
    char *bytes = arena_allocate(&dictionary->texts, text.length);
    memcpy(bytes, text.bytes, text.length);
    struct text copy = {bytes, text.length};
    uint64_t hash = hash_text(text);
    *find_slot(dictionary, text, hash) = (struct dictionary_slot){.text = copy, .hash = hash, .number = number};
    dictionary->count++;
    return copy;
}

void dictionary_clear(struct dictionary *dictionary) {
    memset(dictionary->slots, 0, dictionary->capacity * sizeof *dictionary->slots);
    dictionary->count = 0;
    arena_reset(&dictionary->texts);
}

void dictionary_free(struct dictionary *dictionary) {
    free(dictionary->slots);
    arena_free(&dictionary->texts);
}
