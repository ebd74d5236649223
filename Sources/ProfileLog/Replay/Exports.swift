@_exported public import ProfileLogLog
