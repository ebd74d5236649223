import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("Pages and readers")
struct PageUseTests {
    private func append(_ log: EventLog, _ count: Int) throws {
        for number in 0..<count {
            _ = try log.append(
                [.customEventLogged(CustomEvent(name: "played"))], to: .externalID("user\(number % 7)"))
        }
    }

    @Test("A read that stays is seen with its process, and with the commits since its state; its end frees it")
    func reader() throws {
        let folder = TemporaryFolder(prefix: "pages")
        let log = try folder.open()
        try append(log, 3)
        #expect(try log.environment.pageUse().oldestReaderCommits == 0)
        try log.environment.withReadTransaction { _ in
            // On a thread of its own: this one is in a transaction.
            let done = DispatchSemaphore(value: 0)
            let found = Mutex<Result<PageUse, any Error>?>(nil)
            Thread.detachNewThread {
                let use = Result { () throws -> PageUse in
                    try append(log, 5)
                    return try log.environment.pageUse()
                }
                found.withLock { $0 = use }
                done.signal()
            }
            done.wait()
            let use = try #require(found.withLock { $0 }).get()
            #expect(use.oldestReaderCommits == 5, "\(use)")
            #expect(use.readers.first?.process == getpid())
        }
        try append(log, 1)
        #expect(try log.environment.pageUse().readers.isEmpty)
    }

    @Test("Free pages are counted, and are no more than the pages of the file")
    func free() throws {
        let folder = TemporaryFolder(prefix: "pages")
        let log = try folder.open()
        try append(log, 200)
        let use = try log.environment.pageUse()
        #expect(use.pageBytes >= 4_096 && use.pages > 10)
        // Each commit copies the pages that it changes, and frees the old ones.
        #expect(use.freePages > 0 && use.freePages < use.pages)
        #expect(!use.hasMoreFreePages && use.freeBytes == use.freePages * UInt64(use.pageBytes))
        #expect(UInt64(use.pageBytes) * use.pages == log.environment.usedBytes)
    }
}
