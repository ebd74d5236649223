/// A key of table `snapshots`, taken apart.
struct SnapshotKey {
    /// The projection's name with its length in front: so begin the keys of all its snapshots, and no others.
    let prefix: [UInt8]
    let user: UInt64
    let version: UInt64

    /// Nil for a key that no snapshot has.
    init?(_ key: UnsafeRawBufferPointer) {
        guard let length = key.first.map(Int.init), length > 0, key.count == length + 17 else { return nil }
        prefix = Array(key.slice(0..<(length + 1)))
        user = key.bigEndian64(at: length + 1)
        version = key.bigEndian64(at: length + 9)
    }

    /// The projection's name.
    var projection: String { String(decoding: prefix.dropFirst(), as: UTF8.self) }
}
