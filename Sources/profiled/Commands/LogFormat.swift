internal import ArgumentParser

/// In which form messages are written.
enum LogFormat: String, ExpressibleByArgument, Sendable {
    case text, json
}
