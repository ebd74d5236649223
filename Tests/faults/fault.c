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
 * Counted are pwrite, writev, fdatasync and fsync on files named data.mdb, from 1. With FAULT_PREFIX, counted are the
 * calls that change a file or a folder whose absolute path begins so: these and write, ftruncate, rename (of the new
 * name), unlink, mkdir, rmdir and an open that may create. FAULT_COUNT names a file that holds one line for each call
 * that was counted: its number and its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { NONE, COUNT, KILL, AFTER, TORN, FAIL, FAIL_FROM, SHORT, CUT };

static enum mode mode = NONE;
static int code;
static long target;
static long calls;
static int report = -1;
static const char *prefix;

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
    prefix = getenv("FAULT_PREFIX");
    const char *path = getenv("FAULT_COUNT");
    if (path) report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_data_file(const char *path, ssize_t length) {
    static const char name[] = "/data.mdb";
    ssize_t tail = sizeof name - 1;
    return length >= tail && memcmp(path + length - tail, name, (size_t)tail) == 0;
}

static int is_counted_file(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return prefix ? strncmp(path, prefix, strlen(prefix)) == 0 : is_data_file(path, length);
}

static int is_counted_path(const char *path) {
    char whole[8192], folder[4096];
    if (!prefix) return 0;
    if (path[0] == '/') return strncmp(path, prefix, strlen(prefix)) == 0;
    if (!getcwd(folder, sizeof folder)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    return strncmp(whole, prefix, strlen(prefix)) == 0;
}

static void end_process(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* What is to happen to this call. The programs write one file after the other: there is no race for the counter. */
static enum mode next_counted(const char *name) {
    calls++;
    if (mode == CUT) return calls == 1 ? CUT : NONE;
    if (report >= 0) dprintf(report, "%ld %s\n", calls, name);
    if (calls == target || (mode == FAIL_FROM && calls > target)) return mode;
    return NONE;
}

static enum mode next_call(int fd, const char *name) {
    return mode == NONE || !is_counted_file(fd) ? NONE : next_counted(name);
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

ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = REAL(write);
    switch (prefix ? next_call(fd, "write") : NONE) {
    case KILL: end_process(); return -1;
    case AFTER: real(fd, bytes, count); end_process(); return -1;
    case TORN: real(fd, bytes, count / 2); end_process(); return -1;
    case SHORT: return real(fd, bytes, count > 1 ? count / 2 : count);
    case FAIL: case FAIL_FROM: errno = code; return -1;
    default: return real(fd, bytes, count);
    }
}

/* A call on a path, or one that only sets the length of a file: it happens, fails, or the process ends. */
#define ON_PATH(counted, name, call)                                                                                  \
    do {                                                                                                              \
        enum mode what = mode == NONE || !(counted) ? NONE : next_counted(name);                                      \
        if (what == KILL || what == TORN) end_process();                                                              \
        if (what == FAIL || what == FAIL_FROM) {                                                                      \
            errno = code;                                                                                             \
            return -1;                                                                                                \
        }                                                                                                             \
        int answer = (call);                                                                                          \
        if (what == AFTER) end_process();                                                                             \
        return answer;                                                                                                \
    } while (0)

int ftruncate(int fd, off_t length) {
    int (*real)(int, off_t) = REAL(ftruncate);
    ON_PATH(prefix && is_counted_file(fd), "ftruncate", real(fd, length));
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = REAL(rename);
    ON_PATH(is_counted_path(to), "rename", real(from, to));
}

/* What removes needs no space. */
int unlink(const char *path) {
    int (*real)(const char *) = REAL(unlink);
    ON_PATH(code != ENOSPC && is_counted_path(path), "unlink", real(path));
}

int rmdir(const char *path) {
    int (*real)(const char *) = REAL(rmdir);
    ON_PATH(code != ENOSPC && is_counted_path(path), "rmdir", real(path));
}

int mkdir(const char *path, mode_t mode_of_folder) {
    int (*real)(const char *, mode_t) = REAL(mkdir);
    ON_PATH(is_counted_path(path), "mkdir", real(path, mode_of_folder));
}

static int open_file(const char *path, int flags, mode_t mode_of_file) {
    int (*real)(const char *, int, ...) = REAL(open);
    ON_PATH((flags & O_CREAT) && access(path, F_OK) != 0 && is_counted_path(path), "open",
            real(path, flags, mode_of_file));
}

#define MODE_OF(flags)                                                                                                \
    mode_t mode_of_file = 0;                                                                                          \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                                            \
        va_list rest;                                                                                                 \
        va_start(rest, flags);                                                                                        \
        mode_of_file = va_arg(rest, mode_t);                                                                          \
        va_end(rest);                                                                                                 \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_file(path, flags, mode_of_file);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_file(path, flags | O_LARGEFILE, mode_of_file);
}
