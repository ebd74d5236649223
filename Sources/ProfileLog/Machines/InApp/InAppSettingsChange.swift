/// A change of some of a device's settings of in-app messages; nil keeps a setting.
package struct InAppSettingsChange: Hashable, Sendable {
    package var minimumInterval: UInt32?
    package var isDisplayAutomatic: Bool?
    package var guardsUser: Bool?
    package var orientation: InAppSettings.Orientation?
    package var theme: InAppSettings.Theme?
    package var requestTime: UInt32?
    package var decision: InAppSettings.Decision?
    /// All answers about single messages.
    package var decisions: [Name: InAppSettings.Decision]?
    /// All messages whose assets cannot be downloaded.
    package var failingAssets: Set<Name>?

    /// Changes nothing yet.
    package init() {}

    package func applied(to settings: InAppSettings) -> InAppSettings {
        var settings = settings
        if let minimumInterval { settings.minimumInterval = minimumInterval }
        if let isDisplayAutomatic { settings.isDisplayAutomatic = isDisplayAutomatic }
        if let guardsUser { settings.guardsUser = guardsUser }
        if let orientation { settings.orientation = orientation }
        if let theme { settings.theme = theme }
        if let requestTime { settings.requestTime = requestTime }
        if let decision { settings.decision = decision }
        if let decisions { settings.decisions = decisions }
        if let failingAssets { settings.failingAssets = failingAssets }
        return settings
    }
}
