#ifndef CBENCH_DICTIONARY_H
#define CBENCH_DICTIONARY_H

// A hash table from text to a number that is never 0: `names`, and the identifiers of users that the tail knows.

#include "support.h"

struct dictionary_slot {
    struct text text;
    uint64_t hash;
    uint64_t number;  // 0: the slot is empty
};

struct dictionary {
    struct dictionary_slot *slots;
    size_t capacity;  // a power of two, at least twice `count`
    size_t count;
    struct arena texts;
};

/// Makes room for `expected` texts before the table must grow.
void dictionary_make(struct dictionary *dictionary, size_t expected);
/// The number of `text`, or 0.
uint64_t dictionary_find(const struct dictionary *dictionary, struct text text);
/// Adds `text`, which must not be there yet. Returns the dictionary's copy of it, which lasts until it is cleared.
struct text dictionary_insert(struct dictionary *dictionary, struct text text, uint64_t number);
void dictionary_clear(struct dictionary *dictionary);
void dictionary_free(struct dictionary *dictionary);

#endif
