import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogStore

/// A folder whose files the system may drop from memory, unlike those of other tests.
private final class DiskFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "profilelog-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("Reading a store into memory")
struct PreloadTests {
    private let folder = DiskFolder()
    private let clock = TestClock()
    private var file: String { folder.path + "/data.mdb" }

    private static let users = 600

    /// A store of some megabytes, of which no page is in memory.
    private func coldStore() throws -> EventLog {
        do {
            let log = try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 4_096))
            let note = String(repeating: "a note ", count: 20)
            for _ in 0..<20 {
                var builder = log.prepare(capacity: Self.users)
                for user in 0..<Self.users {
                    let event = CustomEvent(name: "walked", properties: [.init("note", .string(note))])
                    try builder.add(.customEventLogged(event), .test, to: .externalID("user \(user)"))
                }
                _ = try log.commit(builder.finish())
            }
            try log.writeIndex()
        }
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        return try EventLog(path: folder.path, options: .small(clock, indexLag: 4_096))
    }

    /// Returns the part of the file that is in memory.
    private func share() throws -> Double {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        var status = stat()
        try #require(fstat(descriptor, &status) == 0)
        let length = Int(status.st_size)
        let map = try #require(mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0))
        defer { munmap(map, length) }
        var pages = [UInt8](repeating: 0, count: (length + Int(getpagesize()) - 1) / Int(getpagesize()))
        try #require(mincore(map, length, &pages) == 0)
        return Double(pages.count { $0 & 1 != 0 }) / Double(pages.count)
    }

    /// Waits until the whole file is in memory. A file system that reads it slowly only makes this longer.
    private func isWhole() throws -> Bool {
        for _ in 0..<3_000 {
            if try share() == 1 { return true }
            usleep(10_000)
        }
        return false
    }

    private func read(_ users: Range<Int>, _ log: EventLog) throws {
        for user in users {
            let number = try #require(try log.find(.externalID("user \(user)"))).number
            #expect(try log.history(of: number).count == 21)
        }
    }

    @Test("`preload` reads the file")
    func preload() throws {
        let log = try coldStore()
        let before = try share()
        // Some file systems keep all of their files in memory.
        if before == 1 { return }
        #expect(before < 0.2)
        log.preload()
        #expect(try isWhole())
        try read(0..<3, log)
    }

    @Test("One history reads a few pages, and those of many users in a row the whole file")
    func many() throws {
        let log = try coldStore()
        if try share() == 1 { return }
        try read(0..<1, log)
        #expect(try share() < 0.3)
        try read(1..<Self.users, log)
        #expect(try isWhole())
    }

    @Test("A walk over all profiles reads the whole file")
    func profiles() throws {
        let log = try coldStore()
        if try share() == 1 { return }
        var count = 0
        _ = try log.reader.users.forEachProfile(withUsage: false) { _, _, _, _ in count += 1 }
        #expect(count == Self.users)
        #expect(try isWhole())
    }

    @Test(
        "Reading a store into memory begins once, after look-ups that cost more than the whole file",
        arguments: [1_000, 2_048_000])
    func threshold(count: UInt64) {
        let begun = Mutex(0)
        let readAhead = ReadAhead { begun.withLock { $0 += 1 } }
        let enough = max(256, count / 2_048)
        for _ in 0..<enough { readAhead.noteLookUp(of: count) }
        #expect(begun.withLock { $0 } == 0)
        for _ in 0..<1_000 { readAhead.noteLookUp(of: count) }
        #expect(begun.withLock { $0 } == 1)
    }
}
