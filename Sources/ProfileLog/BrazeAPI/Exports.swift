@_exported public import ProfileLogMessaging
@_exported public import ProfileLogRequests
