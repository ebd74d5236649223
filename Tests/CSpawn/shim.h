#include <spawn.h>
#include <stddef.h>

// glibc's headers have these for programs with _GNU_SOURCE alone, which Swift's are not.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
void *memmem(const void *whole, size_t wholeBytes, const void *part, size_t partBytes);
