// libcurl for the program of the package, loaded by the first request. It brings thirty other libraries, which every
// start of profiled and profilecli would load too: docs/decisions/0018-package.md.
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *function(const char *name) {
    static void *library;
    if (!library) library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    if (found) return found;
    fprintf(stderr, "profilecli: libcurl cannot be used: %s\nInstall the package libcurl4.\n", dlerror());
    exit(1);
}

// The next function of this name, which is looked up once.
#define REAL(name)                                     \
    static __typeof__(&name) real;                     \
    if (!real) real = (__typeof__(&name))function(#name)

CURLcode curl_global_init(long flags) {
    REAL(curl_global_init);
    return real(flags);
}

CURL *curl_easy_init(void) {
    REAL(curl_easy_init);
    return real();
}

void curl_easy_reset(CURL *handle) {
    REAL(curl_easy_reset);
    real(handle);
}

void curl_easy_cleanup(CURL *handle) {
    REAL(curl_easy_cleanup);
    real(handle);
}

CURLcode curl_easy_perform(CURL *handle) {
    REAL(curl_easy_perform);
    return real(handle);
}

const char *curl_easy_strerror(CURLcode code) {
    REAL(curl_easy_strerror);
    return real(code);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text) {
    REAL(curl_slist_append);
    return real(list, text);
}

void curl_slist_free_all(struct curl_slist *list) {
    REAL(curl_slist_free_all);
    real(list);
}

CURLHcode curl_easy_header(
    CURL *handle, const char *name, size_t index, unsigned int origin, int request, struct curl_header **header) {
    REAL(curl_easy_header);
    return real(handle, name, index, origin, request, header);
}

// The one value is a number or an address: each fills one register of a 64-bit processor.
_Static_assert(sizeof(void *) == sizeof(curl_off_t) && sizeof(void *) == sizeof(long), "one register for each value");

#undef curl_easy_setopt
CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...) {
    REAL(curl_easy_setopt);
    va_list values;
    va_start(values, option);
    void *value = va_arg(values, void *);
    va_end(values);
    return real(handle, option, value);
}

#undef curl_easy_getinfo
CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...) {
    REAL(curl_easy_getinfo);
    va_list values;
    va_start(values, info);
    void *value = va_arg(values, void *);
    va_end(values);
    return real(handle, info, value);
}
