import Foundation
import TestSupport

/// A file system of 2 MB, mounted in a name space that ends with the program that looks at it.
enum SmallDisk {
    static let unshare = URL(filePath: "/usr/bin/unshare")

    /// Whether one may be mounted here.
    static let canMount: Bool = {
        let process = Process()
        process.executableURL = unshare
        process.arguments = ["-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        return process.waitForEnd() == 0
    }()
}
