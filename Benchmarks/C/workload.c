#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// Lines parsed at once.
#define WINDOW_EVENTS ((size_t)1000000)
/// Longer identifiers are stored under a hash, which no workload needs.
#define EXTERNAL_ID_BYTES_MAX 255
#define ENTRIES_MAX 1024

struct parser {
    struct workload *workload;
    const char *next;
    const char *end;
};

static _Noreturn void malformed(const struct parser *parser, const char *what) {
    fail("%s, line %llu: %s", parser->workload->path, (unsigned long long)parser->workload->line, what);
}

static void skip_space(struct parser *parser) {
    while (parser->next < parser->end && (*parser->next == ' ' || *parser->next == '\t' || *parser->next == '\r'))
        parser->next++;
}

static bool accept(struct parser *parser, char wanted) {
    skip_space(parser);
    if (parser->next >= parser->end || *parser->next != wanted) return false;
    parser->next++;
    return true;
}

static void expect(struct parser *parser, char wanted) {
    char message[] = "expected '?' here or before";
    message[10] = wanted;
    if (!accept(parser, wanted)) malformed(parser, message);
}

static bool accept_word(struct parser *parser, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->next) < length || memcmp(parser->next, word, length) != 0) return false;
    parser->next += length;
    return true;
}

static uint32_t parse_hex4(struct parser *parser) {
    uint32_t code = 0;
    if (parser->end - parser->next < 4) malformed(parser, "a \\u escape is cut off");
    for (int i = 0; i < 4; i++) {
        char c = *parser->next++;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) malformed(parser, "a \\u escape has a character that is no hexadecimal digit");
        code = code << 4 | digit;
    }
    return code;
}

static char *put_utf8(char *at, uint32_t code) {
    if (code < 0x80) {
        *at++ = (char)code;
    } else if (code < 0x800) {
        *at++ = (char)(0xc0 | code >> 6);
        *at++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *at++ = (char)(0xe0 | code >> 12);
        *at++ = (char)(0x80 | (code >> 6 & 0x3f));
        *at++ = (char)(0x80 | (code & 0x3f));
    } else {
        *at++ = (char)(0xf0 | code >> 18);
        *at++ = (char)(0x80 | (code >> 12 & 0x3f));
        *at++ = (char)(0x80 | (code >> 6 & 0x3f));
        *at++ = (char)(0x80 | (code & 0x3f));
    }
    return at;
}

static char *parse_escape(struct parser *parser, char *at) {
    if (parser->next >= parser->end) malformed(parser, "the line ends within a string");
    char c = *parser->next++;
    switch (c) {
    case '"': case '\\': case '/': *at++ = c; return at;
    case 'b': *at++ = '\b'; return at;
    case 'f': *at++ = '\f'; return at;
    case 'n': *at++ = '\n'; return at;
    case 'r': *at++ = '\r'; return at;
    case 't': *at++ = '\t'; return at;
    case 'u': break;
    default: malformed(parser, "a string has an unknown escape");
    }
    uint32_t code = parse_hex4(parser);
    if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = accept_word(parser, "\\u") ? parse_hex4(parser) : 0;
        if (low < 0xdc00 || low >= 0xe000) malformed(parser, "a string has half a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        malformed(parser, "a string has half a surrogate pair");
    }
    return put_utf8(at, code);
}

static struct text parse_string(struct parser *parser) {
    expect(parser, '"');
    const char *start = parser->next;
    while (parser->next < parser->end && *parser->next != '"' && *parser->next != '\\') {
        if ((unsigned char)*parser->next < 0x20) malformed(parser, "a string has a control character");
        parser->next++;
    }
    if (parser->next >= parser->end) malformed(parser, "the line ends within a string");
    if (*parser->next == '"') return (struct text){start, (uint32_t)(parser->next++ - start)};

    // With escapes it becomes shorter, never longer.
    char *copy = arena_allocate(&parser->workload->arena, (size_t)(parser->end - start));
    char *at = (char *)put_bytes((uint8_t *)copy, start, (size_t)(parser->next - start));
    while (parser->next < parser->end && *parser->next != '"') {
        char c = *parser->next++;
        if ((unsigned char)c < 0x20) malformed(parser, "a string has a control character");
        if (c == '\\') at = parse_escape(parser, at);
        else *at++ = c;
    }
    expect(parser, '"');
    return (struct text){copy, (uint32_t)(at - copy)};
}

static struct value parse_number(struct parser *parser) {
    char digits[64];
    size_t length = 0;
    bool is_double = false;
    while (parser->next < parser->end && strchr("+-.0123456789eE", *parser->next) && *parser->next) {
        if (length == sizeof digits - 1) malformed(parser, "a number has too many digits");
        if (strchr(".eE", *parser->next)) is_double = true;
        digits[length++] = *parser->next++;
    }
    digits[length] = 0;
    char *behind;
    struct value value;
    errno = 0;
    if (is_double) value = (struct value){.field = VALUE_DOUBLE, .number = strtod(digits, &behind)};
    else value = (struct value){.field = VALUE_INT, .integer = strtoll(digits, &behind, 10)};
    if (length == 0 || *behind) malformed(parser, "a value is no string, number, true or false");
    if (errno == ERANGE) malformed(parser, "a number is out of range");
    return value;
}

static struct value parse_value(struct parser *parser) {
    skip_space(parser);
    if (parser->next < parser->end && *parser->next == '"')
        return (struct value){.field = VALUE_STRING, .string = parse_string(parser)};
    if (accept_word(parser, "true")) return (struct value){.field = VALUE_BOOL, .boolean = true};
    if (accept_word(parser, "false")) return (struct value){.field = VALUE_BOOL, .boolean = false};
    return parse_number(parser);
}

static bool text_equals(struct text text, struct text other) {
    return text.length == other.length && memcmp(text.bytes, other.bytes, text.length) == 0;
}

static bool text_is(struct text text, const char *literal) {
    return text_equals(text, (struct text){literal, (uint32_t)strlen(literal)});
}

static int compare_names(const void *left, const void *right) {
    struct text a = ((const struct entry *)left)->name, b = ((const struct entry *)right)->name;
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/// An object of names and values.
static void parse_entries(struct parser *parser, struct event *event) {
    static struct entry found[ENTRIES_MAX];
    uint32_t count = 0;
    expect(parser, '{');
    if (!accept(parser, '}')) {
        do {
            if (count == ENTRIES_MAX) malformed(parser, "an object has over 1,024 members");
            struct text name = parse_string(parser);
            expect(parser, ':');
            for (uint32_t i = 0; i < count; i++)
                if (text_equals(found[i].name, name)) malformed(parser, "an object has a key twice");
            found[count++] = (struct entry){name, parse_value(parser)};
        } while (accept(parser, ','));
        expect(parser, '}');
    }
    // The order in which new names get their numbers, the same in both programs: that of the bytes.
    qsort(found, count, sizeof *found, compare_names);
    event->entries = arena_allocate(&parser->workload->arena, count * sizeof *found);
    memcpy(event->entries, found, count * sizeof *found);
    event->entry_count = count;
}

/// `count` digits of a time.
static int64_t parse_digits(struct parser *parser, const char **at, const char *end, int count) {
    int64_t value = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (*at >= end || **at < '0' || **at > '9') malformed(parser, "a time is not YYYY-MM-DDTHH:MM:SS[.ffffff]Z");
        value = value * 10 + (**at - '0');
    }
    return value;
}

static int64_t parse_time(struct parser *parser) {
    struct text text = parse_string(parser);
    const char *at = text.bytes, *end = text.bytes + text.length;
    static const char separators[] = "--T::";
    static const int widths[] = {4, 2, 2, 2, 2, 2};
    int64_t part[6];
    for (int i = 0; i < 6; i++) {
        part[i] = parse_digits(parser, &at, end, widths[i]);
        if (i < 5 && (at >= end || *at++ != separators[i]))
            malformed(parser, "a time is not YYYY-MM-DDTHH:MM:SS[.ffffff]Z");
    }
    int64_t microseconds = 0;
    if (at < end && *at == '.') {
        int64_t scale = 100000;
        for (at++; at < end && *at != 'Z'; scale /= 10) microseconds += parse_digits(parser, &at, end, 1) * scale;
    }
    if (end - at != 1 || *at != 'Z') malformed(parser, "a time does not end in Z");
    if (part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > 31 || part[3] > 23 || part[4] > 59 || part[5] > 60)
        malformed(parser, "a time is out of range");

    // Days since 1970 of a Gregorian date, with the year beginning in March (H. Hinnant, days_from_civil).
    int64_t year = part[0] - (part[1] <= 2), era = year / 400, year_of_era = year % 400;
    int64_t day_of_year = (153 * (part[1] + (part[1] > 2 ? -3 : 9)) + 2) / 5 + part[2] - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    int64_t days = era * 146097 + day_of_era - 719468;
    return (((days * 24 + part[3]) * 60 + part[4]) * 60 + part[5]) * 1000000 + microseconds;
}

/// Numbers of the standard attributes, in their order from 1.
static uint32_t standard_attribute(struct text name) {
    static const char *const names[] = {"email",    "first_name", "last_name", "phone", "country",
                                        "language", "home_city",  "gender",    "dob",   "time_zone"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(name, names[i])) return i + 1;
    return 0;
}

static size_t record_bound(const struct event *event) {
    size_t bytes = RECORD_BYTES_MAX(event->entry_count) + event->user.length;
    for (uint32_t i = 0; i < event->entry_count; i++)
        if (event->entries[i].value.field == VALUE_STRING) bytes += event->entries[i].value.string.length;
    return bytes;
}

static void parse_line(struct parser *parser, struct event *event) {
    *event = (struct event){0};
    bool has_value = false;
    expect(parser, '{');
    do {
        struct text key = parse_string(parser);
        expect(parser, ':');
        if (text_is(key, "kind")) {
            struct text kind = parse_string(parser);
            event->kind = text_is(kind, "custom_event")       ? CUSTOM_EVENT_LOGGED
                          : text_is(kind, "custom_attribute") ? CUSTOM_ATTRIBUTES_CHANGED
                          : text_is(kind, "user_attribute")   ? USER_ATTRIBUTES_CHANGED
                                                              : 0;
            if (!event->kind) malformed(parser, "unknown kind");
        } else if (text_is(key, "user")) {
            event->user = parse_string(parser);
        } else if (text_is(key, "time")) {
            event->occurred_at = parse_time(parser);
            event->has_occurred_at = true;
        } else if (text_is(key, "name")) {
            event->name = parse_string(parser);
        } else if (text_is(key, "properties")) {
            parse_entries(parser, event);
            event->has_properties = true;
        } else if (text_is(key, "attributes")) {
            parse_entries(parser, event);
        } else if (text_is(key, "attribute")) {
            event->attribute = standard_attribute(parse_string(parser));
            if (!event->attribute) malformed(parser, "unknown user attribute");
        } else if (text_is(key, "value")) {
            event->entries = arena_allocate(&parser->workload->arena, sizeof *event->entries);
            event->entries[0] = (struct entry){.value = parse_value(parser)};
            event->entry_count = 1;
            has_value = true;
        } else {
            malformed(parser, "unknown key");
        }
    } while (accept(parser, ','));
    expect(parser, '}');
    skip_space(parser);
    if (parser->next != parser->end) malformed(parser, "something stands behind the object");
    if (!event->kind) malformed(parser, "no kind");
    if (!event->user.length || event->user.length > EXTERNAL_ID_BYTES_MAX)
        malformed(parser, "the user's ID has no byte or over 255");
    if (event->kind == CUSTOM_EVENT_LOGGED && !event->name.length) malformed(parser, "a custom event without a name");
    if (event->kind == USER_ATTRIBUTES_CHANGED && (!event->attribute || !has_value))
        malformed(parser, "a user attribute without its name or value");
    event->bytes_max = record_bound(event);
}

void workload_open(struct workload *workload, const char *path) {
    *workload = (struct workload){.path = path};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail("cannot read the input %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) fail("the input %s is no file", path);
    workload->size = (size_t)status.st_size;
    if (workload->size > 0) {
        workload->map = mmap(NULL, workload->size, PROT_READ, MAP_PRIVATE, file, 0);
        if (workload->map == MAP_FAILED) fail("cannot map the input %s: %s", path, strerror(errno));
        madvise((void *)workload->map, workload->size, MADV_SEQUENTIAL);
    }
    close(file);
}

static void parse_window(struct workload *workload, size_t wanted) {
    // A window begins again when the last one is used up. If a rest is left that is smaller than a batch, its lines are
    // parsed again: simpler than moving what points into the arena.
    if (workload->next < workload->count) {
        size_t rest = workload->count - workload->next;
        for (; rest > 0; rest--, workload->line--) {
            workload->offset--;  // the newline of the line before: at the end of the file nothing is parsed again
            while (workload->offset > 0 && workload->map[workload->offset - 1] != '\n') workload->offset--;
        }
    }
    size_t room = wanted > WINDOW_EVENTS ? wanted : WINDOW_EVENTS;
    workload->events = reallocate(workload->events, room * sizeof *workload->events);
    workload->next = workload->count = 0;
    arena_reset(&workload->arena);
    while (workload->count < room && workload->offset < workload->size) {
        const char *line = workload->map + workload->offset;
        const char *newline = memchr(line, '\n', workload->size - workload->offset);
        const char *end = newline ? newline : workload->map + workload->size;
        struct parser parser = {workload, line, end};
        workload->line++;
        parse_line(&parser, &workload->events[workload->count++]);
        workload->offset = (size_t)(end - workload->map) + (newline != NULL);
    }
}

void workload_prepare(struct workload *workload, size_t wanted) {
    if (workload->count - workload->next < wanted && workload->offset < workload->size) parse_window(workload, wanted);
}

size_t workload_take(struct workload *workload, size_t wanted, const struct event **events) {
    workload_prepare(workload, wanted);
    size_t left = workload->count - workload->next;
    size_t taken = wanted < left ? wanted : left;
    *events = workload->events + workload->next;
    workload->next += taken;
    return taken;
}

void workload_close(struct workload *workload) {
    if (workload->size) munmap((void *)workload->map, workload->size);
    free(workload->events);
    arena_free(&workload->arena);
}
