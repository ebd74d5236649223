internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// The report about scenarios, for people, for programs and for CI.
enum ScenarioReport {
    private static let mostDifferences = 20

    // MARK: - Terminal

    /// One line for a scenario that is as expected, and one for each warning; else what differs, side by side.
    static func lines(_ result: ScenarioResult) -> [String] {
        let mark = result.failure == nil ? Style.green("✓") : Style.red("✗")
        let time = DurationText.compact(result.elapsed)
        let room = Terminal.outputWidth.map { max(20, $0 - time.count - 5) } ?? Table.widestCell
        let head = "\(mark) \(DisplayWidth.cut(result.scenario.name.oneLine, to: room)) (\(time))"
        var lines = [head] + result.warnings.map { Style.yellow("  \(warning($0, result).oneLine)") }
        guard let failure = result.failure else { return lines }
        lines.append("  \(place(result, failure)): \(failure.message.oneLine)")
        if !failure.remedy.isEmpty { lines.append("  \(failure.remedy.oneLine)") }
        guard !failure.differences.isEmpty else { return lines }
        let shown = Array(failure.differences.prefix(mostDifferences))
        let table = Table("#LINE", "WHERE!", "EXPECTED", "ACTUAL", of: shown) { difference in
            ["\(difference.line)", difference.place, difference.expected, difference.actual]
        }
        lines += table.lines(width: Terminal.outputWidth.map { max(20, $0 - 2) }).map { "  \($0)" }
        let more = failure.differences.count - mostDifferences
        if more > 0 { lines.append("  and \(Number.counted(UInt64(more), "more difference")).") }
        return lines
    }

    private static func place(_ result: ScenarioResult, _ failure: StepError) -> String {
        "\(result.scenario.file.oneLine):\(failure.line)"
    }

    private static func warning(_ warning: StepWarning, _ result: ScenarioResult) -> String {
        "\(result.scenario.file):\(warning.line): \(warning.message)"
    }

    /// `3 scenarios: 2 passed, 1 failed (35 ms)`.
    static func summary(_ results: [ScenarioResult]) -> String {
        let failed = results.count { $0.failure != nil }
        let elapsed = results.reduce(.zero) { $0 + $1.elapsed }
        return "\(Number.counted(UInt64(results.count), "scenario")): \(results.count - failed) passed, "
            + "\(failed) failed (\(DurationText.compact(elapsed)))."
    }

    // MARK: - JSON

    /// A scenario as one object on one line.
    static func json(_ result: ScenarioResult) -> String {
        JSONWriter.object { json in
            json.member("file", result.scenario.file)
            json.member("name", result.scenario.name)
            json.member("passed", result.failure == nil)
            json.member("steps", result.scenario.steps.count)
            json.member("played", result.played)
            json.member("seconds", result.elapsed.inSeconds)
            if !result.warnings.isEmpty {
                json.objects("warnings", result.warnings) { json, warning in
                    json.member("line", warning.line)
                    json.member("message", warning.message)
                }
            }
            guard let failure = result.failure else { return }
            json.member("line", failure.line)
            json.member("step", failure.step)
            json.member("message", failure.message)
            json.member("remedy", failure.remedy.isEmpty ? nil : failure.remedy)
            json.objects("differences", failure.differences) { json, difference in
                json.member("line", difference.line)
                json.member("where", difference.place)
                json.member("expected", difference.expected)
                json.member("actual", difference.actual)
            }
        }
    }

    // MARK: - JUnit

    /// The report that CI reads: one test case for each scenario.
    static func junit(_ results: [ScenarioResult]) -> String {
        let failed = results.count { $0.failure != nil }
        let time = seconds(results.reduce(.zero) { $0 + $1.elapsed })
        let counts = "tests=\"\(results.count)\" failures=\"\(failed)\" errors=\"0\" time=\"\(time)\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"profilecli scenario\" \(counts)>",
            "  <testsuite name=\"scenarios\" \(counts)>",
        ]
        for result in results {
            let (name, file) = (xml(result.scenario.name), xml(result.scenario.file))
            let time = seconds(result.elapsed)
            let head = "    <testcase name=\"\(name)\" classname=\"\(file)\" file=\"\(file)\" time=\"\(time)\""
            let warnings = result.warnings.map { warning($0, result) }.joined(separator: "\n")
            let output = warnings.isEmpty ? [] : ["      <system-out>\(xml(warnings))</system-out>"]
            guard let failure = result.failure else {
                lines += output.isEmpty ? [head + "/>"] : [head + ">"] + output + ["    </testcase>"]
                continue
            }
            var text = ["\(place(result, failure)): \(failure.message)"]
            if !failure.remedy.isEmpty { text.append(failure.remedy) }
            text += failure.differences.map {
                "line \($0.line), \($0.place): expected \($0.expected), actual \($0.actual)"
            }
            lines += [
                head + ">",
                "      <failure type=\"\(failure.step)\" message=\"\(xml(failure.message))\">"
                    + xml(text.joined(separator: "\n")) + "</failure>",
            ]
            lines += output + ["    </testcase>"]
        }
        return (lines + ["  </testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    private static func seconds(_ duration: Duration) -> String { String(format: "%.3f", duration.inSeconds) }

    /// `text` as XML has it; characters that no XML may have become U+FFFD.
    private static func xml(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n": escaped += "&#10;"
            case "\t": escaped += "&#9;"
            case "\r": escaped += "&#13;"
            case "\0"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default:
                escaped += scalar.isUnprintable ? "&#x\(String(scalar.value, radix: 16));" : String(scalar)
            }
        }
        return escaped
    }
}
