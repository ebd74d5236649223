import Foundation
import TestSupport
import Testing

/// Files where people have files: `@FILE`, and `-` for standard input.
@Suite("Payloads, settings and attributes from files")
struct DeviceFilesTests {
    private let cli: CLI

    init() throws { cli = try CLI(after: [["log", "event", "device:phone", "first"], ["launch"]]) }

    private static func plist(_ attributes: String, point: String = "com.apple.usernotifications.content-extension")
        -> String
    {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>NSExtension</key><dict>
        <key>NSExtensionAttributes</key><dict>\(attributes)</dict>
        <key>NSExtensionPointIdentifier</key><string>\(point)</string></dict></dict></plist>
        """
    }

    private static let category = "<key>UNNotificationExtensionCategory</key>"
    private static let interaction = "<key>UNNotificationExtensionUserInteractionEnabled</key><true/>"

    @Test("An extension's Info.plist is read: one category or several, and the interaction")
    func infoPlist() throws {
        for (attributes, categories) in [
            (Self.category + "<string>course</string>" + Self.interaction, #"["course"]"#),
            (Self.category + "<array><string>a</string><string>b</string></array>" + Self.interaction, #"["a","b"]"#),
        ] {
            _ = try cli.write(Self.plist(attributes), as: "Info.plist")
            let answer = try cli.succeed(
                "device", "settings", "--content-extension", "@Info.plist", "--format", "json")
            #expect(answer.output.contains(#""categories":\#(categories)"#), "\(answer.output)")
            #expect(answer.output.contains(#""user_interaction":true"#))
        }
        let merged = try cli.succeed(
            "device", "settings", "--content-extension", #"{"info_plist":"Info.plist","input":"email"}"#, "--format",
            "json")
        #expect(merged.output.contains(#""categories":["a","b"]"#) && merged.output.contains(#""input":"email""#))
        _ = try cli.write("name: x\nsteps:\n  - settings: {content_extension: Info.plist}\n", as: "plist.yaml")
        #expect(try cli.run("scenario", "run", "plist.yaml").status == 0)
    }

    @Test("A property list of something else says what it lacks")
    func wrongPlist() throws {
        for (text, says) in [
            (Self.plist(""), "has no UNNotificationExtensionCategory"),
            (Self.plist(Self.category + "<integer>1</integer>"), "an integer"),
            (Self.plist(Self.category + "<string>a</string>", point: "com.apple.usernotifications.service"), "service"),
        ] {
            _ = try cli.write(text, as: "Info.plist")
            let outcome = try cli.run("device", "settings", "--content-extension", "@Info.plist")
            #expect(outcome.status == 64 && outcome.errors.contains(says), "\(outcome.errors)")
            _ = try cli.write("name: x\nsteps:\n  - settings: {content_extension: Info.plist}\n", as: "plist.yaml")
            let check = try cli.run("scenario", "check", "plist.yaml")
            #expect(check.status == 64 && check.errors.contains(says), "\(check.errors)")
        }
    }

    @Test("Attributes and properties come from a file or from standard input, next to pairs")
    func attributes() throws {
        // As editors on Windows write it, with a byte order mark.
        _ = try cli.write("\u{FEFF}" + #"{"level":7,"tags":["a"],"visits":{"inc":1}}"#, as: "a.json")
        try cli.succeed("log", "attribute", "jane", "@a.json", "plan=free")
        #expect(try cli.run(["log", "event", "jane", "e", "-p", "-"], input: #"{"n":1}"#).status == 0)
        let profile = try cli.succeed("profile", "jane", "--format", "json").output
        for part in [#""level":7"#, #""plan":"free""#, #""visits":1"#] { #expect(profile.contains(part), "\(profile)") }
        #expect(try cli.succeed("history", "jane", "--name", "e", "--format", "json").output.contains(#""n":1"#))
        #expect(try cli.run("log", "attribute", "jane", "@a.json", "level=8").errors.contains("given twice"))
        for bad in ["@none.json", "@Info.plist"] {
            #expect(try cli.run("log", "attribute", "jane", bad).status == 64)
        }
    }

    @Test("Messages are set up and acted on by commands")
    func messages() throws {
        _ = try cli.write(
            #"[{"id":"w","trigger_conditions":[{"type":"open"}],"buttons":["ok"],"re_eligibility":0}]"#, as: "m.json")
        try cli.succeed("messages", "declare", "m.json")
        try cli.succeed(
            "messages", "settings", "--minimum-interval", "0", "--theme", "dark", "--display-choices", "x=show")
        try cli.succeed("launch")
        #expect(try cli.succeed("messages", "show", "--format", "json").output.contains(#""screen":"w""#))
        let click = try cli.succeed("messages", "click", "--button", "ok")
        #expect(click.output.contains("the user clicked it") && click.errors.contains("no message is on the screen"))
        #expect(
            try cli.succeed("messages", "present", "--message", "w", "--format", "json").output.contains(
                #""screen":"w""#))
        try cli.succeed("messages", "close")
        #expect(try cli.run("messages", "close").status != 0)
        #expect(try cli.run("messages", "next").errors.contains("the stack is empty"))
        try cli.succeed("messages", "time-passed")
        #expect(try cli.succeed("messages", "settings", "--format", "json").output.contains(#""theme":"dark""#))
        try cli.succeed("device", "settings", "--messages", #"{"theme":"light"}"#)
        #expect(try cli.succeed("messages", "settings", "--format", "json").output.contains(#""theme":"light""#))
    }
}
