internal import Foundation

/// Lets this thread sleep.
enum Pause {
    static func milliseconds(_ count: Int) { Thread.sleep(forTimeInterval: Double(count) / 1_000) }
}
