/// The field numbers of record.proto. Never reused.
@usableFromInline
package enum RecordField {
    static let append: UInt32 = 5
    @inlinable package static var occurredAtMilliseconds: UInt32 { 6 }
    @inlinable package static var occurredAt: UInt32 { 7 }
    @inlinable package static var source: UInt32 { 8 }
    @inlinable package static var name: UInt32 { 9 }
    @inlinable package static var entries: UInt32 { 10 }
    static let utcOffset: UInt32 = 11
    static let process: UInt32 = 12
    @inlinable package static var device: UInt32 { 13 }
    static let storage: UInt32 = 14
    static let launch: UInt32 = 15
    static let emptyProperties: UInt32 = 16
    static let launchKind: UInt32 = 17
    static let flushed: UInt32 = 18
    static let rejected: UInt32 = 19
    static let discarded: UInt32 = 20
    static let reason: UInt32 = 21
    static let actor: UInt32 = 22
    static let identities: UInt32 = 23
    static let otherUser: UInt32 = 24
    static let otherVersion: UInt32 = 25
    static let targetVersion: UInt32 = 26
    static let erased: UInt32 = 27
    static let currency: UInt32 = 28
    static let price: UInt32 = 29
    @inlinable package static var quantity: UInt32 { 30 }
    static let item: UInt32 = 31
    @inlinable package static var app: UInt32 { 32 }
    static let chunk: UInt32 = 33
    static let queued: UInt32 = 34
    @inlinable package static var settings: UInt32 { 35 }
    static let replaces: UInt32 = 36
    static let skippedLists: UInt32 = 37
    static let released: UInt32 = 38
    static let leftOut: UInt32 = 39

    @usableFromInline
    package enum Value {
        @inlinable package static var name: UInt32 { 1 }
        @inlinable package static var bool: UInt32 { 2 }
        @inlinable package static var int: UInt32 { 3 }
        @inlinable package static var double: UInt32 { 4 }
        @inlinable package static var string: UInt32 { 5 }
        @inlinable package static var date: UInt32 { 6 }
        @inlinable package static var array: UInt32 { 7 }
        @inlinable package static var object: UInt32 { 8 }
        @inlinable package static var null: UInt32 { 9 }
        @inlinable package static var operation: UInt32 { 10 }
        static let key: UInt32 = 11
        @inlinable package static var uuid: UInt32 { 12 }

        /// Whether the field is one of those that hold the value itself.
        @inlinable
        @inline(__always)
        package static func isPayload(_ field: UInt32) -> Bool { field >= bool && field <= null || field == uuid }
    }

    package enum Operation: UInt64 {
        case set = 0
        case unset = 1
        case increment = 2
        case arrayAdd = 3
        case arrayRemove = 4
        case objectMerge = 5
        case objectsAdd = 6
        case objectsUpdate = 7
        case objectsUpdateMerging = 8
        case objectsRemove = 9
    }
}
