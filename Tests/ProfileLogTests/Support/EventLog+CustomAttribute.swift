import ProfileLog
import TestSupport

extension EventLog {
    /// The value of a custom attribute in `state`, which must be of this log.
    func customAttribute(_ name: Name, of state: ProfileState) -> AttributeValue? {
        named(state).customAttributes.first { $0.name == name }?.value
    }
}
