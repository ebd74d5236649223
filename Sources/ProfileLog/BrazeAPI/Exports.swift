@_exported public import ProfileLogRequests
