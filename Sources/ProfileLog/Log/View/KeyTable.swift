/// The positions of appends by the hashes of their idempotency keys, in the order of their arrival.
struct KeyTable {
    private(set) var hashes = ByteStringTable()
    private(set) var positions: [UInt64] = []

    /// The number of keys.
    var count: Int { positions.count }

    mutating func set(_ hash: [UInt8], _ position: UInt64) {
        hash.withUnsafeBytes { hash in
            if let index = hashes.find(hash) {
                positions[index] = position
            } else {
                hashes.add(hash)
                positions.append(position)
            }
        }
    }

    /// The position of the append under the key with this hash; nil if there is none.
    func position(_ hash: UnsafeRawBufferPointer) -> UInt64? { hashes.find(hash).map { positions[$0] } }
}
