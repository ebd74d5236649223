internal import ProfileLogRequests

extension EventJSON {
    /// What a launch, a sending, a change of settings or of the user says in addition to the header.
    static func writeDeviceContent(_ event: ProfileEvent, to json: inout JSONWriter) {
        switch event {
        case .pendingFlushed(let flush): write(flush, to: &json)
        case .pendingDiscarded(let discard):
            json.key("discarded")
            json.array(discard.positions) { $0.value($1.rawValue) }
            json.key("actor")
            json.value(discard.actor)
            json.key("reason")
            json.value(discard.reason)
        case .dataSent(let positions):
            json.key("sent")
            json.array(positions) { $0.value($1.rawValue) }
        case .deviceChanged(let settings):
            json.key("settings")
            write(settings, to: &json)
        case .sessionEnded(let started):
            json.key("started")
            json.value(started.rawValue)
        case .usersMerged(let merge):
            json.key("merged_user_number")
            json.value(merge.source.rawValue)
            json.key("merged_version")
            json.value(merge.version.rawValue)
            if !merge.identities.isEmpty {
                json.key("ids")
                json.array(merge.identities) { $0.value($1.description) }
            }
            if !merge.released.isEmpty {
                json.key("released_ids")
                json.array(merge.released) { $0.value($1.description) }
            }
        default: break
        }
    }

    private static func write(_ flush: Flush, to json: inout JSONWriter) {
        json.key("launch")
        json.value(flush.launch.rawValue)
        json.key("chunk")
        json.value(Int(flush.chunk))
        json.key("flushed")
        json.array(flush.flushed) { $0.value($1.rawValue) }
        json.key("rejected")
        json.array(flush.rejected) { json, rejection in
            json.beginObject()
            json.key("position")
            json.value(rejection.position.rawValue)
            json.key("reason")
            json.value(rejection.reason)
            json.endObject()
        }
        json.key("queued")
        json.value(flush.isQueued)
    }

    /// How a device is set up.
    static func write(_ settings: DeviceSettings, to json: inout JSONWriter) {
        json.beginObject()
        json.key("sdk_enabled")
        json.value(settings.isSDKEnabled)
        json.key("online")
        json.value(settings.isOnline)
        json.key("request_policy")
        json.value(settings.requestPolicy == .automatic ? "automatic" : "manual")
        json.key("flush_interval_s")
        json.value(Int(settings.flushInterval))
        json.key("session_timeout_s")
        json.value(Int(settings.sessionTimeout))
        json.key("missing_app_groups")
        json.array(settings.missingAppGroups) { json, missing in
            json.beginObject()
            json.key("process")
            json.value(missing.process.text)
            json.key("app_group")
            json.value(missing.group.text)
            json.endObject()
        }
        json.endObject()
    }
}
