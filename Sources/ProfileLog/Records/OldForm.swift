/// A stored form that is read for ever and no longer written: an old record becomes today's event here.
///
/// Stored bytes never change. When the codec begins to write a fact in another form, the old form gets a case, a
/// function that the codec calls where it reads the field, and a record in `Tests/Fixtures/old-forms`, under the name
/// of the case (docs/adding-an-event.md).
package enum OldForm: String, CaseIterable {
    /// The members of an object in the order in which they were given. Today they are ascending by the bytes of their
    /// keys (`ascending`).
    case unorderedMembers = "unordered-members"
    /// A text in the form of a UUID in the field `string`. Today it is in `uuid`; both fields are texts.
    case textOfUUID = "text-of-uuid"
    /// A time of whole milliseconds in `occurred_at`. Today it is in `occurred_at_ms`; a time has one of both fields.
    case millisecondsInMicroseconds = "milliseconds-in-microseconds"

    /// The members of an object as read, in today's order.
    static func ascending(_ members: [AttributeValue.Member]) -> [AttributeValue.Member] { members.ascending }
}
