public import ProfileLog

/// A step of the history that a fold is tested with: ``fold(_:given:)``, ``checkLaws(of:given:except:)``.
///
/// A history is about one user, who is on one device, with the IDs `user` and `device`. Each step is a second later
/// than the one before; the first is at the beginning of 2026. A number names another step of the list, from 0.
public enum Given: Sendable {
    /// The user's app logs something, which takes effect at once; after `offline` it waits until `online`.
    case logged(EventContent)
    /// A push extension on the device saves something, which waits for the next `launch`. A purchase cannot be saved.
    case saved(EventContent)
    /// The app starts, and what was saved takes effect.
    case launch
    /// Makes void what that step logged or saved.
    case void(Int)
    /// Lets what that step logged or saved, and another made void, count again.
    case unvoid(Int)
    /// Discards what that step saved, before a launch.
    case discard(Int)
    /// Another user comes to the device: the steps that follow are theirs, until `merge`.
    case otherUser
    /// The other user is merged into the first, whose steps follow. Without an `otherUser` before, that is one with no
    /// steps.
    case merge
    /// The user of the steps is erased. What follows is of a new user with the same ID.
    case erase
    /// The device has no network from here on.
    case offline
    /// The device has a network again, and sends what waits for one.
    case online
    /// The next step is at this time.
    case at(Timestamp)
}

extension Given {
    /// The user's app logs `event`, which takes effect at once.
    public static func logged(_ event: CustomEvent) -> Given { .logged(.customEvent(event)) }

    /// A push extension on the device saves `event`, which waits for the next launch.
    public static func saved(_ event: CustomEvent) -> Given { .saved(.customEvent(event)) }

    /// The step in a message: its kind, without contents.
    var words: String {
        switch self {
        case .logged: "logged"
        case .saved: "saved"
        case .launch: "launch"
        case .void(let step): "void(\(step))"
        case .unvoid(let step): "unvoid(\(step))"
        case .discard(let step): "discard(\(step))"
        case .otherUser: "otherUser"
        case .merge: "merge"
        case .erase: "erase"
        case .offline: "offline"
        case .online: "online"
        case .at: "at"
        }
    }

    /// The events that it appends.
    var events: [ProfileEvent] {
        get throws(AppendError) {
            switch self {
            case .logged(.customEvent(let event)): return [.customEventLogged(event)]
            case .logged(.customAttributes(let changes)): return [.customAttributesChanged(changes)]
            case .logged(.userAttributes(let changes)): return [.userAttributesChanged(changes)]
            case .logged(.purchase(let purchase)): return [.purchaseLogged(purchase)]
            case .saved(.customEvent(let event)): return [.customEventSaved(event)]
            case .saved(.customAttributes(let changes)): return [.customAttributesSaved(changes)]
            case .saved(.userAttributes(let changes)): return changes.map { .userAttributeSaved($0) }
            case .saved(.purchase):
                throw .invalid(
                    place: "A purchase", reason: "cannot be saved",
                    remedy: "Give it as logged: an extension saves custom events and attributes only.")
            case .launch, .void, .unvoid, .discard, .otherUser, .merge, .erase, .offline, .online, .at: return []
            }
        }
    }

    /// The step that it names.
    var named: Int? {
        switch self {
        case .void(let step), .unvoid(let step), .discard(let step): step
        case .logged, .saved, .launch, .otherUser, .merge, .erase, .offline, .online, .at: nil
        }
    }
}
