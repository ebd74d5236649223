/// A request that is answered by an error before it does anything.
public struct APIRefusal: Error {
    /// What to answer.
    public let answer: APIAnswer
}
