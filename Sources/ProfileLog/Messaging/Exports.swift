@_exported public import ProfileLogFolds
