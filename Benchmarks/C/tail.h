#ifndef CBENCH_TAIL_H
#define CBENCH_TAIL_H

// What the log holds behind the index checkpoint: for each user the chain of positions, and the users who are new.
// A look-up asks the tail first and the tables second; an index flush empties it.

#include "dictionary.h"

#include <stddef.h>

#define TAIL_NONE UINT32_MAX
#define CONTACT_BYTES_MAX 255

enum { IDENTIFIER_EMAIL = 4, IDENTIFIER_PHONE = 5 };

/// One event of the tail.
struct tail_entry {
    uint64_t position;
    uint32_t next;  // of the same user, or TAIL_NONE
};

/// A user with events in the tail.
struct tail_user {
    uint64_t user;
    uint64_t first_version;  // of the first event in the tail
    uint64_t last_version;
    uint32_t first_entry;
    uint32_t last_entry;
};

/// A user who was created in the tail.
struct tail_created {
    uint64_t user;
    uint64_t position;
    struct text external_id;  // owned by the tail
};

/// An address that a user was given: e-mail in lower case, of a phone number the digits.
struct tail_contact {
    uint64_t user;
    struct text key;  // of table `contacts`, without the user; owned by the tail
};

struct tail {
    struct tail_entry *entries;
    size_t entry_count, entry_capacity;
    struct tail_user *users;
    size_t user_count, user_capacity;
    uint32_t *slots;  // hash table: user number to index in `users`, plus 1
    size_t slot_capacity;
    struct tail_created *created;  // ascending by user
    size_t created_count, created_capacity;
    struct dictionary identifiers;  // external IDs of `created`
    struct tail_contact *contacts;
    size_t contact_count, contact_capacity;
    struct arena contact_keys;
};

void tail_make(struct tail *tail);
void tail_clear(struct tail *tail);
void tail_free(struct tail *tail);

/// The user's last version if the tail has an event of the user, otherwise 0.
uint64_t tail_last_version(const struct tail *tail, uint64_t user);
/// Notes that the event at `position` is `version` of `user`.
void tail_append(struct tail *tail, uint64_t user, uint64_t version, uint64_t position);
/// Notes a new user. Each has a greater number than the one before.
void tail_create_user(struct tail *tail, uint64_t user, uint64_t position, struct text external_id);

/// Notes that `user` was given `address`, which is an IDENTIFIER_EMAIL or an IDENTIFIER_PHONE.
void tail_add_contact(struct tail *tail, uint64_t user, uint8_t type, struct text address);

#endif
