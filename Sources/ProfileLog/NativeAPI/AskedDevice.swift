internal import ProfileLogRequests

/// The device that the path of a read names, now or at the moment that `as_of` and `order` name.
struct AskedDevice {
    let id: String
    let state: DeviceState
    let asked: AskedPast
    /// The history of which the state is; nil for the present.
    let past: PastHistory?

    /// Reads all parameters of the request. A past state is folded from the log's start, by the events of the device.
    /// Throws 404 if nothing is known of the device, or was known of it then.
    init(_ request: APIRequest, _ log: LogReader) throws {
        var query = Query(request)
        asked = try query.past(now: log.options.now())
        try query.end()
        past = try asked.history(log)
        guard let past else {
            (id, state) = try DeviceEndpoints.knownDevice(request, log)
            return
        }
        id = try Identifiers.device(request.parameters["device"] ?? DeviceStorage.defaultDevice)
        guard let state = try log.deviceState(of: Name(id), in: past), state.status != DeviceStatus() else {
            throw try log.devices.find(id) == nil ? APIError.unknownDevice : Self.unknownThen
        }
        self.state = state
    }

    private static var unknownThen: APIError {
        var apiError = APIError.unknownDevice
        apiError.error = "Nothing had happened on this device by then."
        apiError.remedy = "Ask for a later moment."
        return apiError
    }

    /// The time from which ages count.
    func time(_ log: LogReader) throws -> Timestamp {
        try past.map { try asked.time(at: $0.position, log) } ?? log.options.now()
    }
}
