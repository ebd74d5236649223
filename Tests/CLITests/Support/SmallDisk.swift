import Foundation
import TestSupport

/// A file system of 2 MB, mounted in a name space that ends with the program that looks at it.
enum SmallDisk {
    static let unshare = URL(filePath: "/usr/bin/unshare")

    /// Tells whether one may be mounted here.
    static let canMount: Bool = {
        let arguments = ["-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
        return (try? ChildProcess(unshare, arguments, errors: .nothing))?.waitForEnd() == 0
    }()
}
