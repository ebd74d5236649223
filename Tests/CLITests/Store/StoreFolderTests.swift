import Foundation
import TestSupport
import Testing

@Suite("What a folder holds before the first write")
struct StoreFolderTests {
    private let cli: CLI
    private let log = ["log", "event", "jane", "a", "--store"]

    init() throws { cli = try CLI(.damaged) }

    /// A folder with these files.
    private func folder(_ name: String, _ files: [String: Data] = [:]) throws {
        let folder = cli.folder.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (file, data) in files { try data.write(to: folder.appending(path: file)) }
    }

    private func names(_ folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: cli.folder.appending(path: folder).path))
    }

    /// `data.mdb` of a store with one event.
    private func data() throws -> Data {
        #expect(try cli.run(log + ["full"]).status == 0)
        return try Data(contentsOf: cli.folder.appending(path: "full/data.mdb"))
    }

    @Test("The write that makes a store says so, and no other does")
    func new() throws {
        let first = try cli.run("log", "event", "jane", "a", environment: ["PROFILELOG_STORE": ""])
        #expect(first.errors == "New store at ./profilelog.\n")
        #expect(try cli.run("log", "event", "jane", "a", environment: ["PROFILELOG_STORE": ""]).errors.isEmpty)
        try folder("empty")
        #expect(try cli.run(log + ["empty"]).errors == "New store at ./empty.\n")
        #expect(try cli.run("stats", "--store", "empty").errors.isEmpty)
    }

    @Test("A folder of other files is refused and left as it was")
    func foreign() throws {
        try folder("notes", ["notes.txt": Data("mine".utf8)])
        try folder("both", ["notes.txt": Data("mine".utf8), "lock.mdb": Data()])
        try folder("garbage", ["data.mdb": Data(repeating: 7, count: 40_000)])
        let files: [String: Set<String>] = [
            "notes": ["notes.txt"], "both": ["notes.txt", "lock.mdb"], "garbage": ["data.mdb"],
        ]
        for (name, files) in files {
            for command in [log + [name], ["import", "/dev/null", "--store", name], ["launch", "--store", name]] {
                let outcome = try cli.run(command)
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("The files in \(name) are not a ProfileLog store."))
                #expect(outcome.errors.contains("nothing was changed"))
            }
            #expect(try names(name) == files)
        }
        #expect(try cli.run(log + ["full"]).status == 0)
        #expect(try cli.run("replay", "--into", "notes", "--store", "full").status == 1)
        #expect(try names("notes") == ["notes.txt"])
    }

    private static let mdbLoad = URL(filePath: "/usr/bin/mdb_load")

    @Test("LMDB's file of another program is refused and gets no lock file")
    func foreignLMDB() throws {
        try folder("other")
        let row = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n key\n value\nDATA=END\n"
        let loaded = try cli.run(["-s", "table", "other"], input: row, command: Self.mdbLoad)
        #expect(loaded.status == 0, "\(loaded.errors)")
        try FileManager.default.removeItem(at: cli.folder.appending(path: "other/lock.mdb"))
        let outcome = try cli.run(log + ["other"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("are not a ProfileLog store"), "\(outcome.errors)")
        #expect(try names("other") == ["data.mdb"])
    }

    @Test("A store restored without its lock file is a store")
    func restored() throws {
        try folder("restored", ["data.mdb": data()])
        let outcome = try cli.run(log + ["restored"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.isEmpty)
        #expect(try cli.run("check", "--store", "restored").output.contains("holds 3 events"))
    }

    @Test("A very first write that was stopped is finished by the next", arguments: ["data.mdb", "lock.mdb"])
    func unfinished(file: String) throws {
        try folder("unfinished", [file: Data()])
        let read = try cli.run("stats", "--store", "unfinished")
        #expect(read.status == 1)
        #expect(read.errors.contains("holds no event: its first write was stopped"))
        #expect(try names("unfinished") == [file])
        let write = try cli.run(log + ["unfinished"])
        #expect(write.status == 0, "\(write.errors)")
        #expect(write.errors.contains("New store at"))
        #expect(try cli.run("check", "--store", "unfinished").output.contains("holds 2 events"))
    }

    @Test("A store that was cut within its first pages is named, and never written", arguments: [100, 4_096, 8_191])
    func torn(bytes: Int) throws {
        try folder("torn", ["data.mdb": data().prefix(bytes)])
        for command in [log + ["torn"], ["stats", "--store", "torn"]] {
            let outcome = try cli.run(command)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("its end is missing"))
            #expect(outcome.errors.contains("Restore the file from a backup"))
        }
        #expect(try names("torn") == ["data.mdb"])
    }

    /// `data.mdb` of a store whose rows of table meta ask for format 99: name, then number.
    private func newer(_ rows: String...) throws -> Data {
        var data = try data()
        for row in rows {
            let begin = Data(row.utf8) + [0, 0, 0]
            var rest = data.startIndex..<data.endIndex
            while let range = data.range(of: begin, in: rest) {
                data[range.upperBound] = 99
                rest = range.upperBound..<data.endIndex
            }
            #expect(data.range(of: begin + [99]) != nil)
        }
        return data
    }

    @Test("A store that only writers of a newer format may change is read")
    func newerWriter() throws {
        try folder("newer", ["data.mdb": newer("writer")])
        for command in [["stats"], ["check"], ["replay"], ["export"], ["history", "jane"]] {
            let outcome = try cli.run(command + ["--store", "newer"])
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let outcome = try cli.run(log + ["newer"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("The store is of format 99"))
    }

    @Test("A store of a newer format is refused by every command")
    func newer() throws {
        try folder("newer", ["data.mdb": newer("reader", "writer")])
        for command in [["stats"], ["log", "event", "jane", "a"], ["check"], ["replay"], ["export"]] {
            let outcome = try cli.run(command + ["--store", "newer"])
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("The store is of format 99; this program knows formats up to "))
            #expect(outcome.errors.contains("Install the ProfileLog that wrote it"))
        }
    }
}
