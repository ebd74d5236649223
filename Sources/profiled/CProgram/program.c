#include "program.h"

// Defines __GLIBC__.
#include <stdlib.h>

// Package.swift sets it.
#ifndef PROFILELOG_COMMIT
#define PROFILELOG_COMMIT ""
#endif

const char *profilelog_commit(void) { return PROFILELOG_COMMIT; }

static int argument_count = -1;

// glibc hands `main`'s arguments to the functions that run before it. Swift reads its own from /proc/self/cmdline.
#ifdef __GLIBC__
__attribute__((constructor)) static void note_arguments(int count, char **arguments) {
    (void)arguments;
    argument_count = count;
}
#endif

int profilelog_argument_count(void) { return argument_count; }
