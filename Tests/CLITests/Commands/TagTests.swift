import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("profilecli tag")
struct TagTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    private static let docs = Repository.file("docs")

    /// The container that docs/tag-manager.md shows.
    private static func container() throws -> String {
        let text = try String(contentsOf: docs.appending(path: "tag-manager.md"), encoding: .utf8)
        return text.components(separatedBy: "```yaml\n").dropFirst().first?.components(separatedBy: "\n```")[0] ?? ""
    }

    @Test("The example of docs/tag-manager.md does what the document says")
    func example() throws {
        let file = try cli.write(try Self.container(), as: "container.yaml")
        let output = try cli.succeed("tag", file, "played song", "-p", "genre=pop", "-p", "plays=42").output
        for words in [
            "sets plays = 42.0", "the same", "settings-removed (swift, objective-c): ", "boxed-numbers (swift): ",
            "Stored 3 events on phone, the last at position 3.", "Next: profilecli profile device:phone",
        ] {
            #expect(output.contains(words), "\(output)")
        }
        let profile = try cli.succeed("profile", "device:phone", "--format", "json").output
        #expect(profile.contains("\"plays\":42}"), "\(profile)")
    }

    @Test("A language or quirks are stored in its place; a dry run stores nothing")
    func languages() throws {
        let file = try cli.write(try Self.container(), as: "container.yaml")
        #expect(try cli.succeed("tag", file, "played song", "--dry-run").output.hasSuffix("nothing was stored.\n"))
        #expect(!FileManager.default.fileExists(atPath: cli.store))
        for options in [["--language", "swift"], ["--quirk", "boxed-numbers"]] {
            #expect(try cli.run(["tag", file, "played song", "-p", "plays=1"] + options).status == 0)
            #expect(try cli.succeed("profile", "device:phone", "--format", "json").output.contains("\"plays\":1.0}"))
        }
        let outcome = try cli.succeed(
            "tag", file, "played song", "-p", "plays=1", "--encoding", "plays=c", "--dry-run")
        #expect(outcome.output.contains("number-encodings (objective-c): "), "\(outcome.output)")
        #expect(outcome.output.contains("A dry run: nothing was stored."))
        #expect(outcome.output.contains("Warning: Firebase ignores the event `played song`: its name "))
    }

    @Test("A container that the web interface exported plays; what cannot be played is named")
    func export() throws {
        let file = Self.docs.deletingLastPathComponent().appending(path: "Tests/Fixtures/tag-manager/ios.json").path
        let output = try cli.succeed("tag", file, "song_played", "-p", "seconds=42", "-p", "genre=pop").output
        for words in [
            "Log the song", "sets favourite_genre = \"popular\"",
            "Blocked: Heartbeat, by the exception Song or session",
            "Not played: containerVersion.tag[2] (Universal Analytics) has the type `ua`: "
                + "it calls no class of the app.",
            "--variable \"FC - plan=…\"", "Stored 3 events on phone",
        ] {
            #expect(output.contains(words), "\(output)")
        }
        let given = try cli.succeed(
            "tag", file, "song_played", "-p", "seconds=42", "--variable", "FC - plan=gold", "--dry-run")
        #expect(given.output.contains("sets plan = \"gold\""), "\(given.output)")
        let short = try cli.succeed("tag", file, "level_up", "--provider", "Other").output
        #expect(short.contains("calls another class"), "\(short)")
        let android = file.replacing("ios.json", with: "android.json")
        let bought = try cli.succeed(
            "tag", android, "in_app_purchase", "-p", "value=5", "--dry-run", "--language", "kotlin"
        ).output
        #expect(bought.contains("KOTLIN DOES") && !bought.contains("SWIFT DOES"), "\(bought)")
        let web = try cli.write(#"{"containerVersion":{"container":{"usageContext":["WEB"]}}}"#, as: "web.json")
        let refused = try cli.run("tag", web, "a")
        #expect(refused.status == 64 && refused.errors.contains("web.json:1:"), "\(refused.errors)")
        #expect(refused.errors.contains("this is no container of an app"))
    }

    @Test("Every quirk is in docs/tag-manager.md")
    func documented() throws {
        let text = try String(contentsOf: Self.docs.appending(path: "tag-manager.md"), encoding: .utf8)
        for quirk in TagQuirk.allCases { #expect(text.contains("| `\(quirk.rawValue)` |"), "\(quirk)") }
    }

    @Test("A wrong container or option is an error with its place, and makes no store")
    func wrong() throws {
        let file = try cli.write("tags:\n  - {name: a, class: P, triggers: song}\n", as: "container.yaml")
        let outcome = try cli.run("tag", "container.yaml", "played song")
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(
            outcome.errors.contains(
                "container.yaml:2:35: `tags[0].triggers` refers to no trigger of the container.\n"),
            "\(outcome.errors)")
        let right = try cli.write(try Self.container(), as: "right.yaml")
        for arguments in [
            [file + "x", "a"], [right, " "], [right, "a", "--language", "swift", "--quirk", "boxed-numbers"],
            [right, "a", "--language", "pascal"], [right, "a", "--quirk", "boxed"],
            [right, "a", "--encoding", "x=int"],
        ] {
            #expect(try cli.run(["tag"] + arguments).status == 64, "\(arguments)")
        }
        #expect(!FileManager.default.fileExists(atPath: cli.store))
    }
}
