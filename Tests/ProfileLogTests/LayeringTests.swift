import Foundation
import TestSupport
import Testing

/// Each room is a target, and depends on lower rooms only.
@Suite("Rooms")
struct LayeringTests {
    private static let sources = Repository.file("Sources")

    /// The rooms of the library from the lowest to the highest, with those that each depends on.
    private static let rooms: [(name: String, below: Set<String>)] = [
        ("Facts", []), ("Records", ["Facts"]), ("Folds", ["Records"]), ("Machines", ["Folds"]), ("Store", ["Facts"]),
        ("Log", ["Machines", "Store"]), ("Replay", ["Log"]), ("Snippets", ["Replay"]), ("ProfileLog", ["Snippets"]),
        ("Documents", ["Snippets"]), ("Messaging", ["Folds"]), ("Requests", ["Documents"]), ("NativeAPI", ["Requests"]),
        ("BrazeAPI", ["Messaging", "Requests"]), ("Backup", ["Replay"]),
        ("Replication", ["Log"]), ("NATS", ["Replication"]), ("Testing", ["ProfileLog"]),
    ]

    private static func target(_ room: String) -> String { room == "ProfileLog" ? room : "ProfileLog" + room }

    /// The room of the target with this name after `ProfileLog`.
    private static func room(_ rest: Substring) -> String { rest.isEmpty ? "ProfileLog" : String(rest) }

    @Test("A room depends on lower rooms only")
    func directions() throws {
        let manifest = try Repository.text("Package.swift")
        var lower: Set<String> = []
        for room in Self.rooms {
            let target = Self.target(room.name)
            #expect(room.below.isSubset(of: lower), "\(target)")
            lower.insert(room.name)
            let declarations = manifest.components(separatedBy: "arget(").dropFirst()
            let rest = try #require(declarations.first { $0.contains("name: \"\(target)\"") })
            let dependencies = rest.matches(of: /"ProfileLog(\w*)"/).map { Self.room($0.1) }.dropFirst()
            #expect(Set(dependencies) == room.below, "\(target)")
            #expect(rest.contains("path: \"Sources/ProfileLog/\(room.name)\""), "\(target)")
        }
    }

    @Test("A room imports what its target depends on")
    func imports() throws {
        var reach: [String: Set<String>] = [:]
        for room in Self.rooms {
            let reached = room.below.reduce(room.below) { $0.union(reach[$1] ?? []) }
            reach[room.name] = reached
            for file in try files("ProfileLog/" + room.name) {
                for match in file.text.matches(of: /import ProfileLog(\w*)/) {
                    #expect(reached.contains(Self.room(match.1)), "\(file.name) has \(match.0)")
                }
            }
        }
    }

    private func files(_ folder: String) throws -> [(name: String, text: String)] {
        let root = Self.sources.appendingPathComponent(folder)
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }.map { path in
            (folder + "/" + path, try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8))
        }
    }

    @Test("An embedder sees at most 320 declarations, and their tests 30 more")
    func surface() throws {
        let library = Self.rooms.prefix(while: { $0.name != "Documents" }).map { $0.name }
        #expect(try publicDeclarations(in: library) <= 320)
        #expect(try publicDeclarations(in: ["Testing"]) <= 30)
    }

    @Test("A public type has something that an embedder can read or give")
    func members() throws {
        for room in Self.rooms.map(\.name) {
            for file in try files("ProfileLog/" + room) {
                let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
                // A search for a text is some fifty times as fast as a pattern, in a debug build.
                for (index, line) in lines.enumerated() where line.contains("public ") {
                    guard let type = line.firstMatch(of: /^( *)public (?:final )?(?:struct|class|enum) (\w+)/) else {
                        continue
                    }
                    let body = lines[(index + 1)...].prefix { !$0.hasPrefix("\(type.1)}") }
                    let hasMember = body.contains {
                        ($0.contains("public ") || $0.contains("case "))
                            && $0.contains(/^ *(?:public |case |indirect case )/)
                    }
                    #expect(hasMember || line.contains(" case "), "\(file.name): \(type.2)")
                }
            }
        }
    }

    private func publicDeclarations(in rooms: [String]) throws -> Int {
        var count = 0
        for room in rooms {
            for file in try files("ProfileLog/" + room) {
                count += file.text.split(separator: "\n").count {
                    $0.contains("public ") && $0.contains(/^ *(@\w+ )*public (?!import )/)
                }
            }
        }
        return count
    }

    @Test("Only Store imports LMDB")
    func storage() throws {
        for file in try files("ProfileLog") where !file.name.contains("/Store/") {
            #expect(!file.text.contains("import CLMDB"), "\(file.name)")
        }
    }

    @Test(
        "The pure rooms import neither Foundation nor threads",
        arguments: ["Facts", "Records", "Folds", "Machines", "Messaging"])
    func pure(folder: String) throws {
        for file in try files("ProfileLog/" + folder) {
            // All threads share the names that a store knows; those of a replay share what they find of earlier voids.
            let isShared = ["/NameTable.swift", "/EarlierVoids.swift"].contains { file.name.hasSuffix($0) }
            let locks = isShared ? [] : ["import Synchronization"]
            for word in ["import Foundation", "import Dispatch", "pthread"] + locks {
                #expect(!file.text.contains(word), "\(file.name) has \(word)")
            }
        }
    }

    @Test(
        "No code compares a path of the API: an endpoint says what it is where it is declared",
        arguments: ["ProfileLog/Requests", "ProfileLog/NativeAPI", "ProfileLog/BrazeAPI", "profiled"])
    func paths(folder: String) throws {
        let path = #""(?:/[a-z]|v1/|save/|log/)"#
        let comparison = try Regex(#"([=!~]=|\bcase|(hasPrefix|hasSuffix|contains|with:)\(?) *"# + path)
        for file in try files(folder) {
            for line in file.text.split(separator: "\n")
            where ["\"/", "\"v1/", "\"save/", "\"log/"].contains(where: { line.contains($0) })
                && line.contains(comparison)
            {
                Issue.record("\(file.name): \(line)")
            }
        }
    }

    @Test("Only the programs know HTTP and terminals")
    func rims() throws {
        for file in try files("ProfileLog") {
            for word in ["import Hummingbird", "import ArgumentParser", "import NIO", "isatty"] {
                #expect(!file.text.contains(word), "\(file.name) has \(word)")
            }
        }
    }
}
