// glibc's module for Swift leaves this header out.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
