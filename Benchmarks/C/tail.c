#include "tail.h"

#include <stdlib.h>
#include <string.h>

void tail_make(struct tail *tail) {
    *tail = (struct tail){.slot_capacity = 1 << 17};
    tail->slots = allocate(tail->slot_capacity * sizeof *tail->slots);
    memset(tail->slots, 0, tail->slot_capacity * sizeof *tail->slots);
    dictionary_make(&tail->identifiers, 1 << 16);
}

void tail_clear(struct tail *tail) {
    tail->entry_count = tail->user_count = tail->created_count = 0;
    memset(tail->slots, 0, tail->slot_capacity * sizeof *tail->slots);
    dictionary_clear(&tail->identifiers);
    tail->contact_count = 0;
    arena_reset(&tail->contact_keys);
}

void tail_free(struct tail *tail) {
    free(tail->entries);
    free(tail->users);
    free(tail->slots);
    free(tail->created);
    dictionary_free(&tail->identifiers);
    free(tail->contacts);
    arena_free(&tail->contact_keys);
}

/// The slot of `user`, or the empty one where it belongs.
static uint32_t *find_slot(const struct tail *tail, uint64_t user) {
    size_t mask = tail->slot_capacity - 1;
    for (size_t i = (user * 0x9e3779b97f4a7c15u) >> 32 & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &tail->slots[i];
        if (*slot == 0 || tail->users[*slot - 1].user == user) return slot;
    }
}

static void grow_slots(struct tail *tail) {
    free(tail->slots);
    tail->slot_capacity *= 2;
    tail->slots = allocate(tail->slot_capacity * sizeof *tail->slots);
    memset(tail->slots, 0, tail->slot_capacity * sizeof *tail->slots);
    for (size_t i = 0; i < tail->user_count; i++) *find_slot(tail, tail->users[i].user) = (uint32_t)i + 1;
}

uint64_t tail_last_version(const struct tail *tail, uint64_t user) {
    uint32_t slot = *find_slot(tail, user);
    return slot ? tail->users[slot - 1].last_version : 0;
}

#define MAKE_ROOM(array, count, capacity)                                    \
    do {                                                                     \
        if ((count) == (capacity)) {                                         \
            (capacity) = (capacity) ? (capacity) * 2 : 1 << 16;              \
            (array) = reallocate((array), (capacity) * sizeof *(array));     \
        }                                                                    \
    } while (0)

void tail_append(struct tail *tail, uint64_t user, uint64_t version, uint64_t position) {
    MAKE_ROOM(tail->entries, tail->entry_count, tail->entry_capacity);
    uint32_t index = (uint32_t)tail->entry_count++;
    tail->entries[index] = (struct tail_entry){position, TAIL_NONE};
    uint32_t *slot = find_slot(tail, user);
    if (*slot) {
        struct tail_user *known = &tail->users[*slot - 1];
        tail->entries[known->last_entry].next = index;
        known->last_entry = index;
        known->last_version = version;
        return;
    }
    MAKE_ROOM(tail->users, tail->user_count, tail->user_capacity);
    tail->users[tail->user_count++] = (struct tail_user){user, version, version, index, index};
    *slot = (uint32_t)tail->user_count;
    if (tail->user_count * 2 > tail->slot_capacity) grow_slots(tail);
}

void tail_create_user(struct tail *tail, uint64_t user, uint64_t position, struct text external_id) {
    MAKE_ROOM(tail->created, tail->created_count, tail->created_capacity);
    struct text owned = dictionary_insert(&tail->identifiers, external_id, user);
    tail->created[tail->created_count++] = (struct tail_created){user, position, owned};
}

void tail_add_contact(struct tail *tail, uint64_t user, uint8_t type, struct text address) {
    if (address.length > CONTACT_BYTES_MAX) fail("an address is too long");
    MAKE_ROOM(tail->contacts, tail->contact_count, tail->contact_capacity);
    uint8_t *key = arena_allocate(&tail->contact_keys, 2 + address.length), *at = key + 2;
    for (uint32_t i = 0; i < address.length; i++) {
        char c = address.bytes[i];
        if (type == IDENTIFIER_PHONE && (c < '0' || c > '9')) continue;
        *at++ = (uint8_t)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    key[0] = type;
    key[1] = (uint8_t)(at - key - 2);
    struct text owned = {(const char *)key, (uint32_t)(at - key)};
    tail->contacts[tail->contact_count++] = (struct tail_contact){user, owned};
}
