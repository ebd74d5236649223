internal import CLMDB
internal import Glibc
internal import Synchronization

/// Ends a program that reads a broken page of a store's file.
///
/// LMDB reads pages through a memory map and trusts their content. Most broken pages give a `StorageError.brokenPage`.
/// Others end in an assertion of LMDB (`mdb_env_set_assert`), in a read of unmapped memory (SIGBUS, SIGSEGV) or in a
/// division by a page size of zero (SIGFPE), or the end of a file that was just cut. The program cannot go on then.
/// Acknowledged events are not lost: they are on the disk.
package enum BrokenPage {
    private struct Ending {
        let status: Int32
        let output: UnsafeMutableBufferPointer<UInt8>
        let text: UnsafeMutableBufferPointer<UInt8>
    }

    /// The address of an `Ending`: a signal's handler may neither lock nor allocate.
    private static let ending = Atomic<UInt>(0)

    /// Lets the process exit from now on with `status`, `output` on standard output and `text` on standard error,
    /// instead of an abort. A later call replaces an earlier one; never call it on two threads at once.
    ///
    /// It is for programs, not for libraries: signals belong to the whole process.
    package static func endProcess(withStatus status: Int32, printing output: String = "", saying text: String) {
        let pointer = UnsafeMutablePointer<Ending>.allocate(capacity: 1)
        pointer.initialize(to: Ending(status: status, output: copy(output), text: copy(text)))
        let replaced = ending.exchange(UInt(bitPattern: pointer), ordering: .acquiringAndReleasing)
        if let replaced = UnsafeMutablePointer<Ending>(bitPattern: replaced) {
            replaced.pointee.output.deallocate()
            replaced.pointee.text.deallocate()
            return replaced.deallocate()
        }
        var action = sigaction()
        action.sa_flags = SA_SIGINFO
        action.__sigaction_handler.sa_sigaction = { number, info, context in
            BrokenPage.handle(number, info, context)
        }
        for number in [SIGBUS, SIGSEGV, SIGFPE] { sigaction(number, &action, nil) }
    }

    private static func copy(_ text: String) -> UnsafeMutableBufferPointer<UInt8> {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = bytes.initialize(from: text.utf8)
        return bytes
    }

    /// A fault in the map of a store, or in LMDB's code, is a broken page. Any other fault is the program's own and
    /// ends it as without this handler.
    private static func handle(
        _ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
    ) {
        // A signal from another process has no address.
        let isFault = (info?.pointee.si_code ?? 0) > 0
        if isFault, let address = info?.pointee._sifields._sigfault.si_addr,
            isOfStore(
                UInt(bitPattern: address), in: instruction(context),
                file: Glibc.open("/proc/self/maps", O_RDONLY | O_CLOEXEC))
        {
            end()
        }
        signal(number, SIG_DFL)
        // A fault repeats as soon as this returns.
        if !isFault { raise(number) }
    }

    /// The address of the faulting instruction; nil on other architectures.
    private static func instruction(_ context: UnsafeMutableRawPointer?) -> UInt? {
        guard let machine = context?.assumingMemoryBound(to: ucontext_t.self) else { return nil }
        #if arch(x86_64)
            return UInt(bitPattern: Int(machine.pointee.uc_mcontext.gregs.16))  // REG_RIP
        #elseif arch(arm64)
            return UInt(machine.pointee.uc_mcontext.pc)
        #else
            return nil
        #endif
    }

    /// Tells whether `address` lies in a map of a store (known by its size), of its first pages or of its lock file, or
    /// `instruction` in LMDB's code. Reads the system's list of this process's maps, with lines as
    /// `7f0000000000-7f0000001000 r-xp 00000000 00:00 0 /usr/lib/liblmdb.so.0`. True where there is no list.
    ///
    /// For a signal handler: it neither locks nor allocates.
    private static func isOfStore(_ address: UInt, in instruction: UInt?, file: Int32) -> Bool {
        if file < 0 { return true }
        let (library, lockFile, dataFile): (StaticString, StaticString, StaticString) =
            ("/liblmdb", "/lock.mdb", "/data.mdb")
        // On the stack: it is small.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer in
            var (begin, number, isAfterEnd) = (UInt(0), UInt(0), false)
            // How much was met of the name that the rest of the line may have; nil if the map is another one.
            var (matched, matchedLock, matchedData): (Int?, Int?, Int?) = (nil, nil, nil)
            /// Tells whether `byte` completes `name`, of which `matched` bytes came before it.
            func completes(_ name: StaticString, _ matched: inout Int?, _ byte: UInt8) -> Bool {
                guard let count = matched else { return false }
                matched = byte == name.utf8Start[count] ? count + 1 : byte == name.utf8Start[0] ? 1 : 0
                return matched == name.utf8CodeUnitCount
            }
            while true {
                let count = read(file, buffer.baseAddress, buffer.count)
                if count <= 0 { return false }
                for index in 0..<count {
                    let byte = buffer[index]
                    switch byte {
                    case UInt8(ascii: "\n"):
                        (number, isAfterEnd) = (0, false)
                        (matched, matchedLock, matchedData) = (nil, nil, nil)
                    case _ where isAfterEnd:
                        if completes(library, &matched, byte) || completes(lockFile, &matchedLock, byte)
                            || completes(dataFile, &matchedData, byte)
                        {
                            return true
                        }
                    case UInt8(ascii: "-"): (begin, number) = (number, 0)
                    case UInt8(ascii: " "):
                        isAfterEnd = true
                        if address >= begin, address < number, number - begin == UInt(Environment.mapSizeBytes) {
                            return true
                        }
                        if address >= begin, address < number {
                            matchedLock = 0
                            // The first pages alone (`FileHeads`): a larger map is of another program.
                            if number - begin <= 1 << 16 { matchedData = 0 }
                        }
                        if let instruction, instruction >= begin, instruction < number { matched = 0 }
                    case UInt8(ascii: "a")...: number = number &<< 4 | UInt(byte - UInt8(ascii: "a") + 10)
                    default: number = number &<< 4 | UInt(byte & 0xF)
                    }
                }
            }
        }
    }

    /// Treats failed assertions of LMDB on an environment as broken pages.
    static func watch(_ environment: OpaquePointer) {
        mdb_env_set_assert(environment) { _, _ in BrokenPage.end() }
    }

    /// Ends the process if the program asked for it; otherwise LMDB prints its assertion and aborts.
    private static func end() {
        guard let pointer = UnsafePointer<Ending>(bitPattern: ending.load(ordering: .acquiring)) else { return }
        let (output, text) = (pointer.pointee.output, pointer.pointee.text)
        _ = write(STDOUT_FILENO, output.baseAddress, output.count)
        _ = write(STDERR_FILENO, text.baseAddress, text.count)
        _exit(pointer.pointee.status)
    }
}
