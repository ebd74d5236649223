internal import CNATS

/// A message that libnats handed over; it is freed with this value.
struct NATSMessage: ~Copyable {
    let handle: OpaquePointer

    init(taking handle: OpaquePointer) { self.handle = handle }

    /// A message to be sent to `subject`. Headers are written as they are: the brokers tell upper case from lower.
    static func outgoing(
        to subject: String, _ bytes: [UInt8], headers: [(name: String, value: String)] = [], answerTo inbox: String
    ) throws(NATSError) -> NATSMessage {
        var created: OpaquePointer?
        let status = bytes.withUnsafeBytes {
            natsMsg_Create(
                &created, subject, inbox, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt($0.count))
        }
        try NATSError.check(status)
        guard let created else { throw NATSError(NATS_NO_MEMORY) }
        let message = NATSMessage(taking: created)
        for header in headers { try NATSError.check(natsMsgHeader_Set(created, header.name, header.value)) }
        return message
    }

    deinit { natsMsg_Destroy(handle) }

    var bytes: [UInt8] {
        let count = Int(natsMsg_GetDataLength(handle))
        guard count > 0, let start = natsMsg_GetData(handle) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    var subject: String { natsMsg_GetSubject(handle).map { String(cString: $0) } ?? "" }

    /// The first value of a header.
    func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(handle, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }

    /// The status that a broker sends instead of a message, as `404`; nil for a message.
    var status: String? { natsMsg_GetDataLength(handle) == 0 ? header("Status") : nil }
}
