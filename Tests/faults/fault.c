/* Makes one system call on a store's data file fail, or ends the process there. The crash tests load it by LD_PRELOAD.
 *
 *   FAULT=count       count the calls
 *   FAULT=kill:N      end the process before the Nth call
 *   FAULT=after:N     end it after the Nth call
 *   FAULT=torn:N      write half of what the Nth call was to write, then end the process
 *   FAULT=eio:N       the Nth call fails with EIO; eio-from:N: so do all that follow
 *   FAULT=enospc:N    the Nth call fails with ENOSPC; enospc-from:N: so do all that follow
 *   FAULT=short:N     the Nth call writes half and says so
 *   FAULT=cut:BYTES   the first pwrite writes so many bytes and says so
 *
 * Counted are pwrite, writev, fdatasync and fsync on files named data.mdb, from 1. FAULT_COUNT names a file that holds
 * one line for each call that was counted: its number and its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { NONE, COUNT, KILL, AFTER, TORN, FAIL, FAIL_FROM, SHORT, CUT };

static enum mode mode = NONE;
static int code;
static long target;
static long calls;
static int report = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
    static const struct { const char *name; enum mode mode; int code; } known[] = {
        {"count", COUNT, 0},          {"kill:", KILL, 0},          {"after:", AFTER, 0},
        {"torn:", TORN, 0},           {"short:", SHORT, 0},        {"cut:", CUT, 0}, {"eio:", FAIL, EIO},
        {"eio-from:", FAIL_FROM, EIO}, {"enospc:", FAIL, ENOSPC},  {"enospc-from:", FAIL_FROM, ENOSPC},
    };
    const char *fault = getenv("FAULT");
    if (!fault) return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        if (strncmp(fault, known[i].name, length) != 0) continue;
        mode = known[i].mode;
        code = known[i].code;
        target = mode == COUNT ? 0 : atol(fault + length);
    }
    const char *path = getenv("FAULT_COUNT");
    if (path) report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_data_file(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    static const char name[] = "/data.mdb";
    ssize_t tail = sizeof name - 1;
    return length >= tail && memcmp(path + length - tail, name, (size_t)tail) == 0;
}

static void end_process(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* What is to happen to this call. LMDB writes under its own lock: there is no race for the counter. */
static enum mode next_call(int fd, const char *name) {
    if (mode == NONE || !is_data_file(fd)) return NONE;
    calls++;
    if (mode == CUT) return calls == 1 ? CUT : NONE;
    if (report >= 0) dprintf(report, "%ld %s\n", calls, name);
    if (calls == target || (mode == FAIL_FROM && calls > target)) return mode;
    return NONE;
}

static int sync_call(int fd, const char *name, int (*real)(int)) {
    switch (next_call(fd, name)) {
    case KILL: case TORN: end_process(); return -1;
    case AFTER: real(fd); end_process(); return -1;
    case FAIL: case FAIL_FROM: errno = code; return -1;
    default: return real(fd);
    }
}

int fdatasync(int fd) { return sync_call(fd, "fdatasync", REAL(fdatasync)); }
int fsync(int fd) { return sync_call(fd, "fsync", REAL(fsync)); }

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t offset) {
    ssize_t (*real)(int, const void *, size_t, off_t) = REAL(pwrite);
    switch (next_call(fd, "pwrite")) {
    case KILL: end_process(); return -1;
    case AFTER: real(fd, bytes, count, offset); end_process(); return -1;
    case TORN: real(fd, bytes, count / 2, offset); end_process(); return -1;
    case SHORT: return real(fd, bytes, count / 2, offset);
    case CUT: return real(fd, bytes, (size_t)target < count ? (size_t)target : count, offset);
    case FAIL: case FAIL_FROM: errno = code; return -1;
    default: return real(fd, bytes, count, offset);
    }
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return write_at(fd, bytes, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    ssize_t (*real)(int, const struct iovec *, int) = REAL(writev);
    switch (next_call(fd, "writev")) {
    case KILL: end_process(); return -1;
    case AFTER: real(fd, parts, count); end_process(); return -1;
    case TORN: real(fd, parts, count / 2); end_process(); return -1;
    case SHORT: return count > 1 ? real(fd, parts, count / 2) : 0;
    case FAIL: case FAIL_FROM: errno = code; return -1;
    default: return real(fd, parts, count);
    }
}
