#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* Swift cannot call functions with any number of arguments. Each shim takes one type. */

static inline CURLcode profilecli_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode profilecli_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode profilecli_curl_set_headers(CURL *handle, struct curl_slist *value) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, value);
}

/* Copies the body of a POST. */
static inline CURLcode profilecli_curl_set_body(CURL *handle, const void *bytes, int64_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, count ? bytes : "") : code;
}

/* `write` gets each part of the body, with `data`. */
static inline CURLcode profilecli_curl_set_writer(
    CURL *handle, size_t (*write)(char *, size_t, size_t, void *), void *data) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, data) : code;
}

/* `text` gets the reason of a failure: CURL_ERROR_SIZE bytes, which live until it is set again. */
static inline CURLcode profilecli_curl_set_reason(CURL *handle, char *text) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, text);
}

static inline long profilecli_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Whether the last request had a connection. */
static inline bool profilecli_curl_is_connected(CURL *handle) {
    double seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME, &seconds);
    return seconds > 0;
}

/* The first header of the last answer with this name; NULL if there is none. Valid until the next request. */
static inline const char *profilecli_curl_header(CURL *handle, const char *name) {
    struct curl_header *header = NULL;
    return curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}
