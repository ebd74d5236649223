internal import ProfileLog
internal import ProfileLogNativeAPI

/// The damage that the answers of a command report.
struct Damaged {
    /// The first ones, in words.
    private var shown: [String] = []
    private(set) var count: UInt64 = 0

    private static let mostShown = 5

    /// Takes in the member `damaged` of an answer.
    mutating func take(_ answer: JSONObject) {
        count += answer.count("damaged_count")
        for entry in answer.objects("damaged") where shown.count < Self.mostShown {
            let error = entry["error"].cell
            shown.append(entry["user_number"] == .null ? error : "user \(entry["user_number"].cell) (\(error))")
        }
    }

    /// A sentence about the missing parts; nil if nothing is.
    var sentence: String? {
        if count == 0 { return nil }
        let more = count > UInt64(shown.count) ? " and \(Number.grouped(count - UInt64(shown.count))) more" : ""
        return "Damaged, and therefore skipped: \(shown.joined(separator: ", "))\(more)."
    }

    /// Reports damage after the rest was printed: fails if something is not in it.
    func report() throws { if let sentence { throw Self.failure(sentence) } }

    static func failure(_ sentence: String) -> CommandError {
        CommandError(sentence, remedy: StorageError.damaged(place: "").commandRemedy, status: .damaged)
    }
}
