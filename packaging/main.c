// The one program of the package: profilecli if it is run under that name, else profiled. Both have the Swift runtime
// and Foundation in common, with ICU: docs/decisions/0018-package.md. SwiftPM names the `main` of a product after it.
#include <string.h>

int profilecli_main(int count, char **arguments);
int profiled_main(int count, char **arguments);

int main(int count, char **arguments) {
    const char *name = count > 0 ? arguments[0] : "";
    const char *slash = strrchr(name, '/');
    if (slash) name = slash + 1;
    return strcmp(name, "profilecli") == 0 ? profilecli_main(count, arguments) : profiled_main(count, arguments);
}
