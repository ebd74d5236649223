#ifndef PROFILELOG_PROGRAM_H
#define PROFILELOG_PROGRAM_H

/// The commit that the program was built from, as PROFILELOG_COMMIT named it for the build; empty if it named none.
const char *_Nonnull profilelog_commit(void);

/// How many arguments the system gave this process, the program's name among them; -1 if that is not known.
int profilelog_argument_count(void);

#endif
