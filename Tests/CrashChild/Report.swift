import Glibc
import ProfileLog

/// A report of the child, a line at a time, by one system call each: a kill leaves nothing in a buffer.
enum Report {
    static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress?.advanced(by: sent), bytes.count - sent) }
            if count <= 0 { exit(4) }
            sent += count
        }
    }

    /// `ack ROUND.APPEND new|again FIRST USER:VERSION,… FINGERPRINT`
    static func acknowledged(_ recipe: Recipe, _ receipt: AppendReceipt) {
        let kind = receipt.isRepetition ? "again" : "new"
        line("ack \(recipe.tag) \(kind) \(receipt.first.rawValue) \(places(receipt)) \(recipe.fingerprint)")
    }

    /// `refused|unknown ROUND.APPEND REASON`
    static func answered(_ recipe: Recipe, _ answer: Result<AppendReceipt, AppendError>) {
        switch answer {
        case .success(let receipt): acknowledged(recipe, receipt)
        case .failure(let error): line("\(verb(error)) \(recipe.tag) \(reason(error))")
        }
    }

    /// `did NAME FIRST USER:VERSION,…`: an append without tagged events.
    static func did(_ name: String, _ receipt: AppendReceipt) {
        line("did \(name) \(receipt.first.rawValue) \(places(receipt))")
    }

    /// `launched DEVICE POSITION FINISHED FLUSHED`
    static func launched(_ device: String, _ report: LaunchReport) {
        line("launched \(device) \(report.position.rawValue) \(list(report.finished)) \(list(report.flushed))")
    }

    /// `refused|unknown NAME REASON`
    static func failed(_ name: String, _ error: AppendError) { line("\(verb(error)) \(name) \(reason(error))") }

    /// Runs `body`, then says `mark NAME` for each coverage mark that it hit.
    static func marks(_ body: () throws -> Void) rethrows {
        #if DEBUG
            let listener = CoverageMark.Listener()
            try CoverageMark.$listener.withValue(listener, operation: body)
            for mark in listener.hits { line("mark \(mark.rawValue)") }
        #else
            try body()
        #endif
    }

    private static func verb(_ error: AppendError) -> String {
        if case .outcomeUnknown = error { "unknown" } else { "refused" }
    }

    private static func reason(_ error: AppendError) -> String {
        switch error {
        case .refused(.closedAfterFailure): "closedAfterFailure"
        case .refused(.diskFull): "diskFull"
        case .refused(.filesChanged): "filesChanged"
        case .versionConflict: "versionConflict"
        case .outcomeUnknown(let code): "\(code)"
        default: "\(error)"
        }
    }

    private static func places(_ receipt: AppendReceipt) -> String {
        if receipt.places.isEmpty { return "-" }
        return receipt.places.map { "\($0.user.rawValue):\($0.version.rawValue)" }.joined(separator: ",")
    }

    private static func list(_ positions: [Position]) -> String {
        positions.isEmpty ? "-" : positions.map { "\($0.rawValue)" }.joined(separator: ",")
    }
}
