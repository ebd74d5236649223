/// The steps that all renderings of one request may take together.
package final class RenderBudget {
    /// Steps of a request to named users, and those with which a part of a broadcast begins.
    package static let standardSteps = 500_000
    /// Steps that each user of a broadcast adds.
    package static let stepsPerUser = 1_000

    private var stepsLeft: Int

    package init(steps: Int = standardSteps) { stepsLeft = steps }

    /// Adds the steps of one more user.
    package func addUser() { stepsLeft += Self.stepsPerUser }

    /// Takes `steps`; false if there are not so many left. Then nothing else is rendered either.
    func take(_ steps: Int) -> Bool {
        stepsLeft = max(-1, stepsLeft - steps)
        return stepsLeft >= 0
    }
}
