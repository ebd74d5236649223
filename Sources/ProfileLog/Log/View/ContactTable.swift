/// Pairs of an address and a user who was given it, in the order of their arrival. Each pair occurs once.
struct ContactTable {
    /// The pairs, as keys of table `contacts`.
    private(set) var keys = ByteStringTable()
    /// The position at which each pair was first met.
    private(set) var positions: [UInt64] = []
    /// The pair before it with the same address: its number + 1; 0 for none.
    private var previous: [UInt32] = []
    /// The last pair of each address, in the same way.
    private var heads: [[UInt8]: UInt32] = [:]

    /// The number of pairs.
    var count: Int { positions.count }

    mutating func add(_ contact: [UInt8], user: UInt64, _ position: UInt64) {
        let isNew = ContactKey.key(contact, user: user).withUnsafeBytes { key in
            if keys.find(key) != nil { return false }
            keys.add(key)
            return true
        }
        guard isNew else { return }
        positions.append(position)
        previous.append(heads.updateValue(UInt32(positions.count), forKey: contact) ?? 0)
    }

    /// The users who were given the address, as far as `last` is visible. If they are more than `most`, one more than
    /// that.
    func users(_ contact: [UInt8], visibleTo last: UInt64, beyond most: Int = .max) -> [UInt64] {
        var users: [UInt64] = []
        var number = heads[contact] ?? 0
        while number > 0, users.count <= most {
            let index = Int(number) - 1
            if positions[index] <= last { users.append(keys.withBytes(of: index) { $0.bigEndian64(at: $0.count - 8) }) }
            number = previous[index]
        }
        return users
    }

    /// Returns the position at which the pair with this key of table `contacts` was first met; nil if it was not.
    func position(_ key: UnsafeRawBufferPointer) -> UInt64? { keys.find(key).map { positions[$0] } }
}
