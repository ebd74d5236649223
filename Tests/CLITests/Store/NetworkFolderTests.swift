import Foundation
import TestSupport
import Testing

@Suite("A store on a network file system")
struct NetworkFolderTests {
    /// Says of every folder that it is on the file system of type `FILE_SYSTEM`.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <sys/vfs.h>

        int statfs(const char *path, struct statfs *status) {
            int (*real)(const char *, struct statfs *) = dlsym(RTLD_NEXT, "statfs");
            int code = real(path, status);
            const char *type = getenv("FILE_SYSTEM");
            if (code == 0 && type) status->f_type = strtol(type, 0, 16);
            return code;
        }
        """

    @Test(
        "A store on a network file system is refused, new or not, and nothing is left there",
        arguments: ["6969", "ff534d42", "fe534d42", "01021997"])
    func refused(type: String) throws {
        let cli = try CLI()
        let network = try Shim(Self.source).environment(["FILE_SYSTEM": type])
        let new = try cli.run("log", "event", "jane", "a", environment: network)
        #expect(new.status == 1)
        #expect(new.errors.contains("is on a network file system, where a store would break"), "\(new.errors)")
        #expect(new.errors.contains("Keep the store on a local disk."))
        #expect(!FileManager.default.fileExists(atPath: cli.store + "/data.mdb"))
        try cli.succeed("log", "event", "jane", "a")
        for command in [["history", "jane"], ["log", "event", "jane", "b"], ["check"]] {
            let outcome = try cli.run(command, environment: network)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("network file system"))
        }
        let local = network.merging(["FILE_SYSTEM": "ef53"]) { $1 }
        #expect(try cli.run("history", "jane", environment: local).status == 0)
    }
}
