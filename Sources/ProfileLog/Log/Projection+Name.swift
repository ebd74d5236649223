extension Projection {
    /// Refuses a name that does not fit into a key, or under which the caches keep something of their own.
    static func checkName() throws(AppendError) {
        let bytes = Array(name.utf8)
        if !(1...64).contains(bytes.count) {
            throw .invalid(place: "The projection's name \(name)", reason: "must be 1 to 64 bytes, not \(bytes.count)")
        }
        if bytes == IndexCheckpoint.key || bytes == FlushProgress.key {
            throw .invalid(place: "The projection's name \(name)", reason: "is one of the log's own; take another one")
        }
    }
}
