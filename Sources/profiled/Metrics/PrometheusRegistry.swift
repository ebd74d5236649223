internal import CoreMetrics
internal import Synchronization

/// Keeps what is counted and measured through swift-metrics, and writes it in the text format of Prometheus.
final class PrometheusRegistry: MetricsFactory {
    /// What tells two series of one name apart.
    private struct Labels: Hashable, Comparable {
        let text: String

        init(_ dimensions: [(String, String)]) {
            text = dimensions.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        }

        static func < (left: Labels, right: Labels) -> Bool { left.text < right.text }

        private static func escaped(_ value: String) -> String {
            var escaped = ""
            for character in value {
                switch character {
                case "\\": escaped += "\\\\"
                case "\"": escaped += "\\\""
                case "\n": escaped += "\\n"
                default: escaped.append(character)
                }
            }
            return escaped
        }
    }

    private struct Family: Sendable {
        var kind: String
        var series: [Labels: any Series] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// Everything that has been recorded, by name and labels.
    var text: String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(name, labels.text, to: &text)
            }
        }
        return text
    }

    /// The series of this name and these dimensions, made by `make` if there is none. One of another kind under the name is a mistake
    /// in the code.
    private func series<Made: Series>(
        _ label: String, _ kind: String, _ dimensions: [(String, String)], _ make: () -> Made
    ) -> Made {
        let labels = Labels(dimensions)
        return families.withLock { families in
            if let known = families[label]?.series[labels] as? Made { return known }
            precondition((families[label]?.kind ?? kind) == kind, "\(label) is a \(families[label]?.kind ?? "")")
            let made = make()
            families[label, default: Family(kind: kind)].series[labels] = made
            return made
        }
    }

    // MARK: - MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, "counter", dimensions) { CounterSeries() }
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, "counter", dimensions) { NumberSeries() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, "gauge", dimensions) { NumberSeries() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if !aggregate { return series(label, "gauge", dimensions) { NumberSeries() } }
        return series(label, "histogram", dimensions) { HistogramSeries(bounds: HistogramSeries.counts) }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, "histogram", dimensions) { HistogramSeries(bounds: HistogramSeries.seconds) }
    }

    // A series lives as long as the process: its labels are few.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
