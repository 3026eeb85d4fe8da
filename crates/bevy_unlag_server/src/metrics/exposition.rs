//! Prometheus' text format, version 0.0.4.

use core::fmt::{Display, Write};

use super::histogram::Histogram;

/// Text of metrics. Names, help and labels are this crate's own, so nothing needs to be escaped.
#[derive(Default)]
pub(super) struct Exposition(String);

// Writing to a string cannot fail.
impl Exposition {
    /// Writes a gauge.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.sample(name, "gauge", help, value);
    }

    /// Writes a gauge with one label.
    pub fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.samples(name, "gauge", help, label, values);
    }

    /// Writes a counter.
    pub fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.sample(name, "counter", help, value);
    }

    /// Writes a counter with one label.
    pub fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.samples(name, "counter", help, label, values);
    }

    /// Writes a histogram.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, "histogram", help);
        self.buckets(name, "", histogram);
    }

    /// Writes a histogram with one label.
    pub fn histograms<'l, 'h>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'l str, &'h Histogram)>,
    ) {
        self.family(name, "histogram", help);
        for (value, histogram) in values {
            self.buckets(name, &format!("{label}=\"{value}\""), histogram);
        }
    }

    /// Returns the text.
    pub fn finish(self) -> String {
        self.0
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn samples<'a>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.family(name, kind, help);
        for (of, value) in values {
            let _ = writeln!(self.0, "{name}{{{label}=\"{of}\"}} {value}");
        }
    }

    /// Writes the samples of one histogram. `label` is empty, or a label with its value.
    fn buckets(&mut self, name: &str, label: &str, histogram: &Histogram) {
        let (comma, all) = if label.is_empty() { ("", String::new()) } else { (",", format!("{{{label}}}")) };
        for (bound, count) in histogram.cumulative() {
            let _ = writeln!(self.0, "{name}_bucket{{{label}{comma}le=\"{bound}\"}} {count}");
        }
        let (count, sum) = (histogram.count(), histogram.sum());
        let _ = writeln!(self.0, "{name}_bucket{{{label}{comma}le=\"+Inf\"}} {count}");
        let _ = writeln!(self.0, "{name}_sum{all} {sum}\n{name}_count{all} {count}");
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn each_kind_of_metric_has_the_form_of_version_0_0_4() {
        let mut text = Exposition::default();
        text.gauge("players", "Players inside.", 3);
        text.counters("kicks_total", "Kicks.", "reason", [("Flood", 1), ("Game", 0)]);
        let mut histogram = Histogram::new(&[0.00005, 0.0078125, 1.0]);
        histogram.observe(Duration::from_millis(1));
        histogram.observe(Duration::from_secs(2));
        text.histogram("tick_seconds", "Ticks.", &histogram);
        text.histograms("set_seconds", "Sets.", "set", [("Last", &Histogram::new(&[1.0]))]);
        let lines = "\
# HELP players Players inside.
# TYPE players gauge
players 3
# HELP kicks_total Kicks.
# TYPE kicks_total counter
kicks_total{reason=\"Flood\"} 1
kicks_total{reason=\"Game\"} 0
# HELP tick_seconds Ticks.
# TYPE tick_seconds histogram
tick_seconds_bucket{le=\"0.00005\"} 0
tick_seconds_bucket{le=\"0.0078125\"} 1
tick_seconds_bucket{le=\"1\"} 1
tick_seconds_bucket{le=\"+Inf\"} 2
tick_seconds_sum 2.001
tick_seconds_count 2
# HELP set_seconds Sets.
# TYPE set_seconds histogram
set_seconds_bucket{set=\"Last\",le=\"1\"} 0
set_seconds_bucket{set=\"Last\",le=\"+Inf\"} 0
set_seconds_sum{set=\"Last\"} 0
set_seconds_count{set=\"Last\"} 0
";
        assert_eq!(text.finish(), lines);
    }
}
