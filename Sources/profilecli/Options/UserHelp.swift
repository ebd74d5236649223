internal import ArgumentParser

extension ArgumentHelp {
    /// The forms of a USER, which `profilecli --help` explains.
    static let user: ArgumentHelp =
        "USER: an external ID, id:EXTERNAL_ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID."
}
