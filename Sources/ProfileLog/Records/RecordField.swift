/// The field numbers of record.proto. Never reused.
package enum RecordField {
    static let append: UInt32 = 5
    package static let occurredAtMilliseconds: UInt32 = 6
    package static let occurredAt: UInt32 = 7
    package static let source: UInt32 = 8
    package static let name: UInt32 = 9
    package static let entries: UInt32 = 10
    static let utcOffset: UInt32 = 11
    static let process: UInt32 = 12
    package static let device: UInt32 = 13
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
    package static let quantity: UInt32 = 30
    static let item: UInt32 = 31
    package static let app: UInt32 = 32
    static let chunk: UInt32 = 33
    static let queued: UInt32 = 34
    package static let settings: UInt32 = 35
    static let replaces: UInt32 = 36
    static let skippedLists: UInt32 = 37
    static let released: UInt32 = 38
    static let leftOut: UInt32 = 39

    package enum Value {
        package static let name: UInt32 = 1
        package static let bool: UInt32 = 2
        package static let int: UInt32 = 3
        package static let double: UInt32 = 4
        package static let string: UInt32 = 5
        package static let date: UInt32 = 6
        package static let array: UInt32 = 7
        package static let object: UInt32 = 8
        package static let null: UInt32 = 9
        package static let operation: UInt32 = 10
        static let key: UInt32 = 11
        package static let uuid: UInt32 = 12

        /// Whether the field is one of those that hold the value itself.
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
