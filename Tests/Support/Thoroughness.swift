internal import Foundation

/// The number of seeds, rounds and steps that the random tests run: few in `make test`, all in `make test-long`.
///
/// Both forms check the same. `PROFILELOG_TESTS=long` asks for the full form; `PROFILELOG_SEED=17` runs that seed
/// only.
public enum Thoroughness {
    private static let variables = ProcessInfo.processInfo.environment

    /// Tells whether this run is the full form.
    public static let isFull = variables["PROFILELOG_TESTS"] == "long"

    /// The number of rounds or steps of this run.
    public static func count(short: Int, full: Int) -> Int { isFull ? full : short }

    /// The seeds of this run, from 0.
    public static func seeds(short: UInt64, full: UInt64) -> Range<UInt64> {
        if let seed = variables["PROFILELOG_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
        return 0..<(isFull ? full : short)
    }
}
