#include <lmdb.h>
#include <sys/vfs.h>  // statfs: which file system the store is on
