#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/// Device and inode of the file at `path`, without its times: 0, or the error's number.
static inline int profilelog_identity(const char *path, uint64_t *device, uint64_t *inode) {
    struct statx status;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO, &status) != 0) return errno;
    *device = gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor);
    *inode = status.stx_ino;
    return 0;
}

// The names need _GNU_SOURCE.
#define PROFILELOG_OFD_GETLK 36
#define PROFILELOG_OFD_SETLK 37
#define PROFILELOG_OFD_SETLKW 38

/// Sets an open-file-description lock of `kind` (`F_RDLCK`, `F_WRLCK`, `F_UNLCK`) on these bytes, without waiting: 0,
/// or the error's number.
static inline int profilelog_lock(int file, short kind, int64_t begin, int64_t bytes) {
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = begin, .l_len = bytes};
    return fcntl(file, PROFILELOG_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

/// As `profilelog_lock`, after the locks of others.
static inline int profilelog_wait_for_lock(int file, short kind, int64_t begin, int64_t bytes) {
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = begin, .l_len = bytes};
    while (fcntl(file, PROFILELOG_OFD_SETLKW, &lock) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/// Whether another open file has a lock on one of these bytes: 0 or 1, or the error's number, negative.
static inline int profilelog_is_locked(int file, int64_t begin, int64_t bytes) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = begin, .l_len = bytes};
    if (fcntl(file, PROFILELOG_OFD_GETLK, &lock) != 0) return -errno;
    return lock.l_type != F_UNLCK;
}

/// Gives the first `bytes` of a file blocks on the disk: 0, or the error's number.
static inline int profilelog_allocate(int file, int64_t bytes) {
    return syscall(SYS_fallocate, file, 0, (int64_t)0, bytes) == 0 ? 0 : errno;
}
