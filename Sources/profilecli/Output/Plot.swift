internal import ProfileLog

/// A series as bars in the terminal, one line for each point: `2026-01-31  1,204  ██████▌`.
struct Plot {
    let points: [(label: String, value: Double)]

    /// Eighths of a cell, as blocks.
    private static let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let standardWidth = 80
    private static let narrowestBar = 4

    /// Lines of at most `width` columns; the longest bar takes what is left.
    func lines(width: Int? = Terminal.outputWidth) -> [String] {
        let numbers = points.map { Self.number($0.value) }
        let labels = points.map { DisplayWidth.of($0.label) }.max() ?? 0
        let digits = numbers.map(\.count).max() ?? 0
        let width = width ?? Self.standardWidth
        let room = width - labels - digits - 4
        let most = points.map(\.value).max() ?? 0
        return zip(points, numbers).map { point, number in
            var line = DisplayWidth.pad(point.label, to: labels) + "  "
            line += DisplayWidth.pad(number, to: digits, atEnd: false)
            if room >= Self.narrowestBar, most > 0, point.value > 0 {
                let eighths = Int((point.value / most * Double(room * 8)).rounded())
                line += "  " + String(repeating: "█", count: eighths / 8) + Self.parts[eighths % 8]
            }
            return DisplayWidth.cut(line, to: width)
        }
    }

    private static func number(_ value: Double) -> String {
        if let whole = Int(exactly: value) { return Number.grouped(whole) }
        let cents = (value.magnitude * 100).rounded()
        guard cents < 1e15 else { return "\(value)" }
        let (units, rest) = Int(cents).quotientAndRemainder(dividingBy: 100)
        return (value < 0 ? "-" : "") + Number.grouped(units) + (rest < 10 ? ".0\(rest)" : ".\(rest)")
    }
}
