#include <zlib.h>

/* `inflateInit2` is a macro, which Swift does not see. 15 window bits, and 16 for gzip's header. */
static inline int gzip_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

/* As for `gzip_begin`, with zlib's header: `deflate` of HTTP. */
static inline int zlib_begin(z_stream *stream) { return inflateInit2(stream, 15); }

/* As for `inflateInit2`: gzip's header, and a level from 1, the fastest, to 9, the smallest. */
static inline int gzip_pack_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
