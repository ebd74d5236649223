/// Message `LeftOut` of record.proto.
enum LeftOutCodec {
    static func write(_ item: LeftOut, to writer: inout WireWriter) {
        let begin = writer.beginMessage(RecordField.leftOut)
        writer.field(1, text: item.list)
        if item.index > 0 { writer.field(2, varint: UInt64(item.index)) }
        if let field = item.field { writer.field(3, text: field) }
        writer.field(4, text: item.reason)
        writer.endMessage(begin)
    }

    /// Nil if the bytes are not such a message.
    static func read(_ bytes: UnsafeRawBufferPointer) -> LeftOut? {
        var item = LeftOut(list: "", index: 0, reason: "")
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): item.list = reader.text()
            case (2, .varint): item.index = Int(clamping: reader.varint())
            case (3, .bytes): item.field = reader.text()
            case (4, .bytes): item.reason = reader.text()
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : item
    }
}
