import Foundation
import ProfileLog
import TestSupport
import Testing

/// The stores of each release, written once by its own programs (scripts/golden.sh), with what they must say. A later
/// version may say more, and nothing else.
@Suite("The stores of every release are read as the release read them")
struct ReleaseStoreTests {
    private static let folder = Repository.file("Tests/Fixtures/releases")

    /// Each store, as `0.1.0/rest`.
    private static let stores: [String] = {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix("/data.mdb") }.map { String($0.dropLast("/data.mdb".count)) }.sorted()
    }()

    private static func lines(_ text: String) throws -> [AttributeValue] {
        try text.split(separator: "\n").map { try JSON.parse(String($0)) }
    }

    /// The places where `value` lacks what `expected` has.
    private static func differences(_ value: AttributeValue?, _ expected: AttributeValue, _ place: String) -> [String] {
        switch (value, expected) {
        case (.object(let members)?, .object(let expected)):
            return expected.flatMap { member in
                let same = members.first { $0.key == member.key }
                return differences(same?.value, member.value, "\(place).\(member.key.text)")
            }
        case (.array(let elements)?, .array(let expected)) where elements.count == expected.count:
            return zip(elements, expected).enumerated().flatMap {
                differences($1.0, $1.1, "\(place)[\($0)]")
            }
        default: return value == expected ? [] : [place]
        }
    }

    @Test("Each store is sound, and gives the events and the profiles that it gave", arguments: stores)
    func same(store: String) throws {
        let fixture = Self.folder.appending(path: store)
        let cli = try CLI(Data(contentsOf: fixture.appending(path: "data.mdb")))
        try cli.succeed("check", "--replay")
        for (arguments, file) in [
            (["export"], "events.jsonl"), (["export", "--profiles", "--format", "jsonl"], "profiles.jsonl"),
        ] {
            let expected = try Self.lines(String(contentsOf: fixture.appending(path: file), encoding: .utf8))
            let found = try Self.lines(cli.succeed(arguments).output)
            #expect(!expected.isEmpty && found.count == expected.count, "\(file)")
            for (number, (found, expected)) in zip(found, expected).enumerated() {
                #expect(Self.differences(found, expected, "\(file):\(number + 1)").isEmpty)
            }
        }
        // It takes new events.
        try cli.succeed("log", "event", "of-today", "a")
    }

    @Test("The stores of a release hold every kind of event", .enabled(if: !stores.isEmpty))
    func kinds() throws {
        let own = Self.stores.filter { $0.hasPrefix("\(ProgramVersion.number)/") }
        // Before the release is written, the stores of the one before count, which may know fewer kinds.
        if own.isEmpty { return }
        var kinds: Set<String> = []
        for store in own {
            let file = Self.folder.appending(path: "\(store)/events.jsonl")
            for line in try Self.lines(String(contentsOf: file, encoding: .utf8)) {
                if case .object(let members) = line, let kind = members.first(where: { $0.key.text == "kind" }),
                    case .string(let name) = kind.value
                {
                    kinds.insert(name)
                }
            }
        }
        let missing = EventKind.allCases.filter { $0 != .unknown }.map(\.name).filter { !kinds.contains($0) }
        #expect(missing.isEmpty)
    }
}
