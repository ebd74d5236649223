#include <zlib.h>

/* `inflateInit2` is a macro, which Swift does not see. 15 window bits, and 16 for gzip's header. */
static inline int gzip_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

/* As for `inflateInit2`: gzip's header, the best compression. */
static inline int gzip_pack_begin(z_stream *stream) {
    return deflateInit2(stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
