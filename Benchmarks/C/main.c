// cbench: what ProfileLog does, in C, to compare with. It writes the same tables and does the same work; it is no
// program to keep data with.

#include "commands.h"
#include "support.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: cbench append         --store DIR --input FILE.jsonl [--batch N] [--count N]\n"
    "       cbench append-one     --store DIR --input FILE.jsonl [--count N]\n"
    "       cbench append-batches --store DIR --input FILE.jsonl --sizes FILE [--count N]\n"
    "       cbench dump           --store DIR\n"
    "       cbench fold           --store DIR [--threads 1|2]\n"
    "       cbench history        --store DIR --users N [--seed S]\n"
    "       cbench sqlite         --store DIR --users N [--seed S]\n"
    "\n"
    "append writes a new store, one durable commit for each N input events (1000 unless given), and prints one\n"
    "line of JSON. append-one commits each event (10000 of them unless given). append-batches takes the size of\n"
    "each batch from a line of FILE. All three take\n"
    "  --count N                  stop after N input events\n"
    "  --recorded-at-start MICROS recorded_at of the first batch, one more for each further batch\n"
    "                             (default 1800000000000000)\n"
    "  --uuid HEX                 the store's UUID, 32 hexadecimal digits (default: zeros)\n"
    "  --keep                     keep the store; without it, it is deleted after the run\n"
    "dump prints rows and digest of each table, fold replays the log into profiles, history decodes all events of\n"
    "random users. sqlite copies the records into a table of SQLite and reads those of random users.\n";

enum option_id { STORE = 1, INPUT, BATCH, COUNT, SIZES, RECORDED_AT_START, UUID, KEEP, THREADS, USERS, SEED, HELP };

static const struct option known_options[] = {
    {"store", required_argument, NULL, STORE},   {"input", required_argument, NULL, INPUT},
    {"batch", required_argument, NULL, BATCH},   {"count", required_argument, NULL, COUNT},
    {"sizes", required_argument, NULL, SIZES},   {"recorded-at-start", required_argument, NULL, RECORDED_AT_START},
    {"uuid", required_argument, NULL, UUID},     {"keep", no_argument, NULL, KEEP},
    {"threads", required_argument, NULL, THREADS}, {"users", required_argument, NULL, USERS},
    {"seed", required_argument, NULL, SEED},     {"help", no_argument, NULL, HELP},
    {0},
};

#define OPTION(id) (1u << (id))
#define APPEND_OPTIONS \
    (OPTION(STORE) | OPTION(INPUT) | OPTION(COUNT) | OPTION(RECORDED_AT_START) | OPTION(UUID) | OPTION(KEEP))

struct command {
    const char *name;
    unsigned allowed;
    unsigned required;
};

static const struct command commands[] = {
    {"append", APPEND_OPTIONS | OPTION(BATCH), OPTION(STORE) | OPTION(INPUT)},
    {"append-one", APPEND_OPTIONS, OPTION(STORE) | OPTION(INPUT)},
    {"append-batches", APPEND_OPTIONS | OPTION(SIZES), OPTION(STORE) | OPTION(INPUT) | OPTION(SIZES)},
    {"dump", OPTION(STORE), OPTION(STORE)},
    {"fold", OPTION(STORE) | OPTION(THREADS), OPTION(STORE)},
    {"history", OPTION(STORE) | OPTION(USERS) | OPTION(SEED), OPTION(STORE) | OPTION(USERS)},
    {"sqlite", OPTION(STORE) | OPTION(USERS) | OPTION(SEED), OPTION(STORE) | OPTION(USERS)},
};

static uint64_t parse_number(const char *option, const char *text, uint64_t least, uint64_t greatest) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || number < least || number > greatest)
        fail_usage("--%s takes a number from %llu to %llu, not \"%s\"", option, (unsigned long long)least,
                   (unsigned long long)greatest, text);
    return number;
}

static void parse_uuid(const char *text, uint8_t uuid[16]) {
    if (strlen(text) != 32 || strspn(text, "0123456789abcdefABCDEF") != 32)
        fail_usage("--uuid takes 32 hexadecimal digits, not \"%s\"", text);
    for (int i = 0; i < 16; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) fail_usage("a command is missing");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    const struct command *command = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) command = &commands[i];
    if (!command) fail_usage("there is no command \"%s\"", argv[1]);

    struct append_options append = {.command = command->name, .recorded_at_start = 1800000000000000};
    uint64_t users = 0, seed = 1;
    unsigned threads = 1, given = 0;
    bool one = strcmp(command->name, "append-one") == 0;
    append.batch = one ? 1 : 1000;
    append.count = one ? 10000 : 0;
    opterr = 0;
    optind = 2;
    for (int index = 0, id; (id = getopt_long(argc, argv, ":", known_options, &index)) != -1;) {
        if (id == ':') fail_usage("%s needs a value", argv[optind - 1]);
        if (id == '?') fail_usage("unknown option %s", argv[optind - 1]);
        const char *name = known_options[index].name;
        if (id != HELP && !(command->allowed & OPTION(id))) fail_usage("%s has no option --%s", command->name, name);
        given |= OPTION(id);
        switch (id) {
        case STORE: append.store = optarg; break;
        case INPUT: append.input = optarg; break;
        case BATCH: append.batch = parse_number(name, optarg, 1, 10000000); break;
        case COUNT: append.count = parse_number(name, optarg, 1, UINT64_MAX); break;
        case SIZES: append.sizes = optarg; break;
        case RECORDED_AT_START: append.recorded_at_start = (int64_t)parse_number(name, optarg, 1, INT64_MAX); break;
        case UUID: parse_uuid(optarg, append.uuid); break;
        case KEEP: append.keep = true; break;
        case THREADS: threads = (unsigned)parse_number(name, optarg, 1, 2); break;
        case USERS: users = parse_number(name, optarg, 1, UINT64_MAX); break;
        case SEED: seed = parse_number(name, optarg, 0, UINT64_MAX); break;
        default: fputs(help, stdout); return 0;
        }
    }
    if (optind < argc) fail_usage("unexpected argument \"%s\"", argv[optind]);
    for (const struct option *option = known_options; option->name; option++)
        if (command->required & ~given & OPTION(option->val)) fail_usage("%s needs --%s", command->name, option->name);

    if (append.input) return append_command(&append);
    if (strcmp(command->name, "dump") == 0) return dump_command(append.store);
    if (strcmp(command->name, "fold") == 0) return fold_command(append.store, threads);
    if (strcmp(command->name, "sqlite") == 0) return sqlite_command(append.store, users, seed);
    return history_command(append.store, users, seed);
}
