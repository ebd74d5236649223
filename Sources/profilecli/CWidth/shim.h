#include <wchar.h>

/* Declared only with _XOPEN_SOURCE, which a Swift module does not set. */
extern int wcwidth(wchar_t character);
