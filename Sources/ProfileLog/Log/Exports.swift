@_exported public import ProfileLogMessages
@_exported public import ProfileLogStore
