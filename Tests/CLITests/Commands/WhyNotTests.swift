import Foundation
import ProfileLog
import TestSupport
import Testing

/// `messages explain` answers each "why not" of docs/scenarios.md.
@Suite("Why nothing was sent or shown")
struct WhyNotTests {
    private static let docs = Repository.file("docs")

    /// The reasons that docs/scenarios.md lists, but for those of no event.
    private static func documented() throws -> [String] {
        let text = try String(contentsOf: docs.appending(path: "scenarios.md"), encoding: .utf8)
        let section = text.components(separatedBy: "### Why nothing was sent or shown\n").dropFirst().first ?? ""
        let list = section.components(separatedBy: "\n##")[0].components(separatedBy: "\n* ").dropFirst()
        return list.filter { !$0.hasPrefix("no event") }.flatMap { item in
            // After the kinds of events and the colon.
            let reasons = item.components(separatedBy: "`:").dropFirst().joined(separator: "`:")
            return reasons.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
                .map { $0.element.replacing("\n  ", with: " ") }
        }
    }

    /// The scenarios that tell the reasons: those that are shipped, and some for rare ones.
    private static var scenarios: [String] {
        let folder = docs.appending(path: "scenarios")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".yaml") && ($0.hasPrefix("push") || $0.hasPrefix("iam")) }.sorted()
            .map { folder.appending(path: $0).path }
    }

    @Test("Each documented reason is a step that messages explain shows")
    func explained() throws {
        let cli = try CLI()
        var missing = Set(try Self.documented())
        #expect(missing.count > 60)
        var files = Self.scenarios
        for (index, text) in Self.rare.enumerated() { files.append(try cli.write(text, as: "rare-\(index).yaml")) }
        for (number, file) in files.enumerated() {
            let store = cli.folder.appending(path: "why-\(number)").path
            let played = try cli.run("scenario", "run", file, "--store", store)
            #expect(played.status == 0, "\(file): \(played.output) \(played.errors)")
            let log = try EventLog(path: store)
            for event in try log.events(from: .start, limit: .max).events where event.user != .system {
                guard case .message(let step) = event.event, let reason = step.reason else { continue }
                let parts = reason.components(separatedBy: "; ")
                let new = missing.filter { pattern in parts.contains { Self.matches($0, pattern) } }
                if new.isEmpty { continue }
                missing.subtract(new)
                let user = "braze:\(log.brazeID(of: event.user))"
                let position = ["--position", "\(event.position.rawValue)"]
                let explained = try cli.run(
                    ["messages", "explain", user] + (step.message.text.isEmpty ? position : [step.message.text])
                        + ["--store", store])
                for part in parts {
                    #expect(explained.output.filter { !$0.isNewline }.contains(part), "\(explained.output)")
                }
            }
        }
        #expect(missing.isEmpty, "no scenario tells of these: \(missing.sorted())")
    }

    /// Tells whether `reason` is `pattern`, in which `…` is anything.
    private static func matches(_ reason: String, _ pattern: String) -> Bool {
        var rest = reason[...]
        let parts = pattern.components(separatedBy: "…")
        guard rest.hasPrefix(parts[0]) else { return false }
        rest = rest.dropFirst(parts[0].count)
        for part in parts.dropFirst() where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return parts.count > 1 ? (parts.last ?? "").isEmpty || rest.isEmpty : rest.isEmpty
    }
}
