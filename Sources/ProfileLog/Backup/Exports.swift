@_exported public import ProfileLogReplay
