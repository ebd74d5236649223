#ifndef FOLDING_H
#define FOLDING_H

/// Notes what this thread does in a fold, until `folding_end`. If a trap or another fatal signal ends the process
/// before, a handler first writes the note to standard error; then happens what would have happened without it.
///
/// A note of more than 255 bytes is cut. The first call installs the handlers for the whole process.
void folding_begin(const char *note);

/// Ends the note of this thread.
void folding_end(void);

#endif
