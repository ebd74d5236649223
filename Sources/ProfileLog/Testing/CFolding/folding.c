#define _GNU_SOURCE

#include "folding.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int fatal[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
enum { fatal_count = sizeof fatal / sizeof fatal[0] };

// What was to happen at each of these signals before.
static struct sigaction earlier[fatal_count];

static _Thread_local char note[256];
static _Thread_local volatile sig_atomic_t note_length;

static void put(const char *text, size_t length) {
    // There is nobody to tell that it could not be written.
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written;
}

// Calls only what a handler of signals may call.
static void tell(int number, siginfo_t *info, void *context) {
    (void)context;
    if (note_length > 0) {
        put("ProfileLog: ", 12);
        put(note, (size_t)note_length);
        put("\n", 1);
        note_length = 0;
    }
    for (int index = 0; index < fatal_count; index++)
        if (fatal[index] == number) sigaction(number, &earlier[index], NULL);
    // An instruction that failed is tried again when the handler returns, and fails again. A breakpoint was passed, and
    // a signal that was sent does not come again.
    if (number == SIGTRAP || info->si_code <= 0) raise(number);
}

static void install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = tell;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < fatal_count; index++) sigaction(fatal[index], &action, &earlier[index]);
}

void folding_begin(const char *text) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    size_t length = strnlen(text, sizeof note - 1);
    memcpy(note, text, length);
    note_length = (sig_atomic_t)length;
}

void folding_end(void) { note_length = 0; }
