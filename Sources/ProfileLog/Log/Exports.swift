@_exported public import ProfileLogFolds
@_exported public import ProfileLogStore
