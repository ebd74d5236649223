/// An error of the library: ``AppendError``, ``StorageError`` or ``MomentError``; `LawBroken` of its tests too.
///
/// Both texts name users, versions and positions, and never a value of a profile.
///
/// ```swift
/// do { try log.append(events, to: user) } catch let error as any LogError { print(error.description, error.remedy) }
/// ```
public protocol LogError: Error, CustomStringConvertible {
    /// The facts in one line.
    var description: String { get }
    /// The next step for the caller.
    var remedy: String { get }
}
