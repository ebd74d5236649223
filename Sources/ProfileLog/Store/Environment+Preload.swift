internal import Glibc

extension Environment {
    private static let bytesPerStep = 8 << 20

    /// Begins to read the file into memory, and returns at once. Without that each look-up in a store that was not used
    /// lately waits for the disk, a page at a time (`MDB_NORDAHEAD`). Does nothing with a file that takes more than
    /// half of the machine's memory.
    package func preload() {
        let file = Self.dataFile(in: path)
        startThread("log-preload") {
            let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { return }
            defer { Glibc.close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return }
            let bytes = Int(status.st_size)
            guard bytes <= sysconf(Int32(_SC_PHYS_PAGES)) / 2 * Int(getpagesize()) else { return }
            for offset in stride(from: 0, to: bytes, by: Self.bytesPerStep) {
                guard posix_fadvise(descriptor, offset, Self.bytesPerStep, POSIX_FADV_WILLNEED) == 0 else { return }
            }
        }
    }
}
