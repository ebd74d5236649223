internal import ProfileLogGuide

/// What was asked for by a name that nothing has.
extension APIProblem {
    /// Status 404: no user is known by `id`.
    package static func unknownUser(_ id: UserID) -> APIProblem {
        var problem = APIProblem(.unknownUser(id))
        let kind =
            switch id {
            case .email: "e-mail address"
            case .phone: "phone number"
            default: ""
            }
        guard !kind.isEmpty else {
            problem.error = "No user is known as \(shown(id.description))."
            return problem
        }
        problem.error = "No user has this \(kind)."
        problem.remedy = "Name the user by external ID; `profilecli users` lists all of them."
        return problem
    }

    /// Status 400: there is no user attribute called `name`.
    package static func unknownAttribute(_ name: String) -> APIProblem {
        let nearest = NearestNames(to: name, among: StandardAttribute.allCases.map(\.name))
        let names = nearest.all.joined(separator: ", ")
        let guess = nearest.close.first.map { "Did you mean \($0)? " } ?? ""
        return APIProblem(
            status: 400, code: "invalid", error: "`\(shown(name))` is no user attribute.",
            remedy: "\(guess)Make it a custom attribute, or use one of \(names).", place: "attribute")
    }
}
