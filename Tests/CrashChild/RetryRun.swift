import ProfileLog

/// Makes the same append each time that it reads a line.
enum RetryRun {
    static func run(store: String, recipe: Recipe) throws {
        let log = try EventLog(path: store, create: true)
        Report.line("open \(try log.lastPosition().rawValue)")
        while readLine() != nil { Report.answered(recipe, log.commit([try recipe.prepare(for: log)])[0]) }
    }
}
