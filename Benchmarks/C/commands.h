#ifndef CBENCH_COMMANDS_H
#define CBENCH_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct append_options {
    const char *command;  // for the printed line
    const char *store;
    const char *input;
    uint64_t batch;
    uint64_t count;     // input events at most; 0: all
    const char *sizes;  // file of batch sizes, one a line, instead of `batch`; or NULL
    int64_t recorded_at_start;
    uint8_t uuid[16];
    bool keep;
};

int append_command(const struct append_options *options);
int dump_command(const char *store);
int fold_command(const char *store, unsigned threads);
int history_command(const char *store, uint64_t users, uint64_t seed);
int sqlite_command(const char *path, uint64_t reads, uint64_t seed);

#endif
