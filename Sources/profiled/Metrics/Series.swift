/// One line of numbers, or several, under a name and labels.
protocol Series: AnyObject, Sendable {
    /// Adds its lines to `text`.
    func write(_ name: String, _ labels: String, to text: inout String)
}

extension Series {
    static func line(_ name: String, _ labels: String, _ value: some CustomStringConvertible) -> String {
        labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }
}
