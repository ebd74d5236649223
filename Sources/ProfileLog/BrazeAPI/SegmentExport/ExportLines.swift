internal import Foundation
internal import ProfileLogRequests

/// The lines of an export with their users, in a file of their own: the archive is packed from them, without those who
/// were erased since.
struct ExportLines {
    private let file: FileHandle
    /// Bytes that are not in the file yet.
    private var buffer: [UInt8] = []
    private static let headBytes = 12

    /// Makes the file. It has no name, and ends with this value.
    init(in folder: String) throws {
        let path = "\(folder)/\(UUID().uuidString).lines"
        file = try ExportFiles.create(path)
        try FileManager.default.removeItem(atPath: path)
    }

    mutating func append(_ line: [UInt8], of user: UserNumber) throws {
        buffer.append(little: user.rawValue)
        buffer.append(little: UInt32(line.count))
        buffer += line
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Calls `body` with all lines, in the order in which they came.
    mutating func forEach(_ body: (UserNumber, [UInt8]) throws -> Void) throws {
        try flush()
        try file.seek(toOffset: 0)
        while let head = try file.read(upToCount: Self.headBytes).map({ [UInt8]($0) }), head.count == Self.headBytes {
            let user = head[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            let count = head[8...].reversed().reduce(0) { $0 << 8 | Int($1) }
            try body(UserNumber(rawValue: user), [UInt8](try file.read(upToCount: count) ?? Data()))
        }
    }

    private mutating func flush() throws {
        try file.seekToEnd()
        try file.write(contentsOf: buffer)
        buffer = []
    }
}
