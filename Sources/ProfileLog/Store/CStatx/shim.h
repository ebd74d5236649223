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
