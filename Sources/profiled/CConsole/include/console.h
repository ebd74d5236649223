#ifndef PROFILED_CONSOLE_H
#define PROFILED_CONSOLE_H

#include <stddef.h>

/// A file of the console that was compiled in.
typedef struct {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t length;
} profiled_console_entry;

/// The file with this number, from 0 on; NULL after the last one.
const profiled_console_entry *_Nullable profiled_console_file(size_t index);

#endif
