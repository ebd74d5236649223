/// The words that a program was started with, as far as it can see them.
///
/// Swift reads them from `/proc/self/cmdline`. In a root without `/proc` it sees none: `profiled --version` served a
/// new store in `/profilelog`.
package enum ProgramArguments {
    /// The fact, for a program that ends.
    package static let hiddenFact = "There is no /proc here, so the program cannot see its arguments."
    /// The next step.
    package static let hiddenRemedy =
        "Mount it (`mount -t proc proc ROOT/proc` for a chroot) and run the same command again."

    /// Tells whether the program sees fewer arguments than the `count` that the system gave it, or others. A negative
    /// count is not known.
    package static func areHidden(count: Int32) -> Bool { count >= 0 && Int(count) != CommandLine.arguments.count }
}
