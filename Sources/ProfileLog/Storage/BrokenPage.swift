internal import CLMDB
internal import Glibc
internal import Synchronization

/// What becomes of a program that meets a broken page of a store's file.
///
/// LMDB reads pages through a memory map and believes what they say. Most broken ones are a `StorageError.brokenPage`; others end in an
/// assertion of LMDB (`mdb_env_set_assert`) or in a read of memory that is not there (SIGBUS, SIGSEGV), from which no program can go on.
/// Nothing that was acknowledged is lost by that end: what is stored is on the disk.
public enum BrokenPage {
    private struct Ending {
        let status: Int32
        let text: UnsafeMutableBufferPointer<UInt8>
    }

    /// The address of an `Ending`, which stays for ever: a signal's handler may neither lock nor allocate.
    private static let ending = Atomic<UInt>(0)

    /// From now on such an end is one of exit status `status`, with `text` on standard error, in place of an abort.
    ///
    /// It is for programs, once, at their start: signals belong to the whole process.
    public static func endProcess(withStatus status: Int32, saying text: String) {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = bytes.initialize(from: text.utf8)
        let pointer = UnsafeMutablePointer<Ending>.allocate(capacity: 1)
        pointer.initialize(to: Ending(status: status, text: bytes))
        ending.store(UInt(bitPattern: pointer), ordering: .releasing)
        for number in [SIGBUS, SIGSEGV] { signal(number) { _ in BrokenPage.end() } }
    }

    /// Takes LMDB's assertions on an environment as what they are.
    static func watch(_ environment: OpaquePointer) {
        mdb_env_set_assert(environment) { _, _ in BrokenPage.end() }
    }

    /// Ends the process if that was asked for; otherwise LMDB prints its assertion and aborts.
    private static func end() {
        guard let pointer = UnsafePointer<Ending>(bitPattern: ending.load(ordering: .acquiring)) else { return }
        _ = write(STDERR_FILENO, pointer.pointee.text.baseAddress, pointer.pointee.text.count)
        _exit(pointer.pointee.status)
    }
}
