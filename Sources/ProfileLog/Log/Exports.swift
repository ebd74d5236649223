@_exported public import ProfileLogMachines
@_exported public import ProfileLogStore
