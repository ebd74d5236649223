internal import Synchronization

/// The numbers of event, attribute, property, process and app-group names: table `names` in memory.
///
/// It only grows. Every process that has the store open has its own copy, and updates it at the start of a transaction.
@usableFromInline
package final class NameTable: Sendable {
    private let map = Mutex(NameMap())

    package init() {}

    /// The number of known names; they are numbered from 1.
    package var count: UInt32 { map.withLock { $0.count } }

    /// The first row that was damaged or missing. Without it events cannot be decoded, and new names get no number.
    package var damage: StorageError? { map.withLock { $0.damage } }

    /// Adds a row of the store. One that is damaged or missing leaves a placeholder, so that `check` can go on.
    package func add(_ row: UnsafeRawBufferPointer, number: UInt32) {
        map.withLock { map in
            if number > map.count + 1 { map.note("row \(map.count + 1) of table names is missing") }
            // A damaged number may be far off: that would be too many placeholders.
            while map.count + 1 < number, number - map.count < 1 << 16 { map.addPlaceholder() }
            // Two transactions may bring the same row.
            guard number == map.count + 1 else { return }
            map.add(row: row)
        }
    }

    /// Replaces what was known before an erasure of names. Another thread may have read newer names since then: a table
    /// that has seen as many erasures has all names of `names`, and newer ones.
    package func replace(with names: NameMap) {
        map.withLock { known in
            if names.erasures > known.erasures { known = names }
        }
    }

    /// The number of erasures of names that the map has seen. Each may have removed names of older numbers.
    package var erasures: UInt32 { map.withLock { $0.erasures } }

    /// The name with this number, or nil.
    package func name(_ number: UInt32) -> Name? { map.withLock { $0.name(number) } }

    /// The number of `name`, or nil.
    package func number(_ name: Name) -> UInt32? { map.withLock { $0.number(name) } }

    /// All names as they are now, for many look-ups without the lock.
    package var current: NameMap { map.withLock { copy $0 } }
}

/// Names by number and numbers by name. Every append takes a copy.
package struct NameMap: Sendable {
    private struct Content: Sendable {
        var table = ByteStringTable()
        var names: [Name] = []
        var damage: StorageError?
        var erasures: UInt32 = 0
    }

    /// One element: an array is copied on write, and a copy costs one retain.
    private var shared = [Content()]
    private var content: Content {
        @inline(__always) _read { yield shared[0] }
        @inline(__always) _modify { yield &shared[0] }
    }

    package init() {}

    package var count: UInt32 { UInt32(content.names.count) }

    /// The first row that was damaged or missing.
    var damage: StorageError? { content.damage }

    /// The number of erasures of names that the map has seen.
    package var erasures: UInt32 {
        get { content.erasures }
        set { content.erasures = newValue }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) { add(bytes, Name(String(decoding: bytes, as: UTF8.self))) }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, _ name: Name) {
        content.table.add(bytes)
        content.names.append(name)
    }

    /// Adds the next name. A row without text belongs to an erased name.
    package mutating func add(_ name: Name) {
        if name.text.isEmpty { addErased() } else { name.text.withRawUTF8 { add($0, name) } }
    }

    /// Adds the next row of table `names`.
    package mutating func add(row: UnsafeRawBufferPointer) {
        if !RecordHeader.hasRightChecksum(row) {
            note("row \(count + 1) of table names fails its checksum")
            addPlaceholder()
        } else if row.count == 4 {
            addErased()
        } else {
            add(row.slice(0..<(row.count - 4)))
        }
    }

    /// A number whose name was erased: its bytes are not text, so no look-up finds it.
    private mutating func addErased() {
        var bytes: [UInt8] = [0xFF]
        bytes.appendBigEndian(count + 1)
        bytes.withUnsafeBytes { add($0, "") }
    }

    /// Leaves a placeholder for the next number, whose row is missing.
    package mutating func noteMissing() {
        note("row \(count + 1) of table names is missing")
        addPlaceholder()
    }

    mutating func addPlaceholder() { Array("?\(count + 1)".utf8).withUnsafeBytes { add($0) } }

    /// Keeps a damaged place, if it is the first.
    mutating func note(_ place: String) { if damage == nil { content.damage = .damaged(place: place) } }

    /// All names, in the order of their numbers; erased ones are empty.
    package var names: [Name] { content.names }

    package func name(_ number: UInt32) -> Name? {
        number > 0 && number <= content.names.count ? content.names[Int(number) - 1] : nil
    }

    @inline(__always)
    package func number(_ name: borrowing Name) -> UInt32? {
        content.table.find(name.text).map { UInt32($0) + 1 }
    }
}

/// Gives numbers to names while events are encoded.
package protocol NameNumbering {
    /// The number of `name`, or nil if it has none (yet).
    mutating func number(_ name: borrowing Name) -> UInt32?
}

extension NameMap: NameNumbering {}

/// Numbers for an unfinished commit: those of the table, then new ones.
package struct NewNames: NameNumbering {
    private let table: NameTable
    private let known: UInt32
    private var numbers: [Name: UInt32] = [:]
    /// The names that the commit adds, in the order of their numbers from `firstNumber`.
    package private(set) var added: [Name] = []

    package init(_ table: NameTable) {
        self.table = table
        known = table.count
    }

    package var firstNumber: UInt32 { known + 1 }

    package mutating func number(_ name: borrowing Name) -> UInt32? {
        if let number = table.number(copy name), number <= known { return number }
        let name = copy name
        if let number = numbers[name] { return number }
        added.append(name)
        let number = known + UInt32(added.count)
        numbers[name] = number
        return number
    }

    /// All names, those of the table and the added ones.
    package var map: NameMap {
        var map = table.current
        for name in added.suffix(added.count - Int(min(UInt32(added.count), map.count - known))) {
            name.text.withRawUTF8 { map.add($0) }
        }
        return map
    }

    /// The name with this number, in the table or added; nil if there is none.
    func name(_ number: UInt32) -> Name? {
        if number <= known { return table.name(number) }
        return number - known <= added.count ? added[Int(number - known) - 1] : nil
    }

    /// Forgets the names beyond the first `count` added ones: an append that was refused leaves nothing.
    package mutating func truncate(to count: Int) {
        while added.count > count { numbers[added.removeLast()] = nil }
    }
}
