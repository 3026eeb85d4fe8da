//! RON format of preset files.

use core::time::Duration;

use checked_ron::{OneLine, RonError, RonFile, parse};
use serde::Deserialize;

use super::{LinkPreset, LinkPresets};
use crate::conditioner::{LinkConditions, Pulse};

/// Maximum delay, in milliseconds.
const MAX_DELAY_MS: f64 = 60_000.0;

/// A preset as written in a file.
#[derive(Deserialize)]
#[serde(rename = "preset", deny_unknown_fields)]
struct RawPreset {
    name: String,
    #[serde(default)]
    latency_ms: f64,
    #[serde(default)]
    down_latency_ms: Option<f64>,
    #[serde(default)]
    jitter_ms: f64,
    #[serde(default)]
    loss_percent: f64,
    #[serde(default = "one")]
    burst: f64,
    #[serde(default)]
    duplication_percent: f64,
    #[serde(default)]
    reorder_percent: f64,
    #[serde(default)]
    reorder_ms: f64,
    #[serde(default)]
    bytes_per_second: f64,
    #[serde(default)]
    pulse: Option<RawPulse>,
    #[serde(default)]
    up_pulse: Option<RawPulse>,
    #[serde(default)]
    down_pulse: Option<RawPulse>,
}

/// A pulse as written in a file.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename = "pulse", deny_unknown_fields)]
struct RawPulse {
    period_ms: f64,
    length_ms: f64,
    #[serde(default)]
    latency_ms: f64,
    #[serde(default)]
    loss_percent: f64,
}

fn one() -> f64 {
    1.0
}

type FieldError = (&'static str, String);

/// Returns `value` if it is within the bounds.
fn within(field: &'static str, value: f64, low: f64, high: f64) -> Result<f64, FieldError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err((field, format!("{value} is out of range; choose a number from {low} to {high}")))
}

/// Returns `value` if it is a whole number within the bounds.
fn whole(field: &'static str, value: f64, low: f64, high: f64) -> Result<u32, FieldError> {
    let value = within(field, value, low, high)?;
    if value.fract() != 0.0 {
        return Err((field, format!("{value} is not a whole number; choose a whole number")));
    }
    Ok(value as u32)
}

/// Returns a whole number of milliseconds within the bounds.
fn milliseconds(field: &'static str, value: f64, low: f64, high: f64) -> Result<Duration, FieldError> {
    whole(field, value, low, high).map(|ms| Duration::from_millis(ms.into()))
}

/// Returns a whole number of milliseconds as delay.
fn delay(field: &'static str, value: f64) -> Result<Duration, FieldError> {
    milliseconds(field, value, 0.0, MAX_DELAY_MS)
}

impl RawPreset {
    fn check(self) -> Result<LinkPreset, FieldError> {
        if self.name.trim().is_empty() {
            return Err(("name", "the name is empty; give the preset a name".to_owned()));
        }
        let share = |field, value| within(field, value, 0.0, 100.0).map(|percent| percent as f32 / 100.0);
        let latency = delay("latency_ms", self.latency_ms)?;
        let both = self.pulse.map(|pulse| pulse.check("pulse")).transpose()?;
        let one_way = |field, pulse: Option<RawPulse>| match (pulse, both) {
            (Some(_), Some(_)) => Err((field, "pulse already applies both ways; keep one".to_owned())),
            (Some(pulse), None) => pulse.check(field).map(Some),
            (None, both) => Ok(both),
        };
        let down_latency = self.down_latency_ms.map(|ms| delay("down_latency_ms", ms)).transpose()?;
        let up = LinkConditions {
            latency,
            jitter: delay("jitter_ms", self.jitter_ms)?,
            loss: share("loss_percent", self.loss_percent)?,
            burst: within("burst", self.burst, 1.0, 10_000.0)? as f32,
            duplication: share("duplication_percent", self.duplication_percent)?,
            reorder: share("reorder_percent", self.reorder_percent)?,
            reorder_delay: delay("reorder_ms", self.reorder_ms)?,
            bytes_per_second: whole("bytes_per_second", self.bytes_per_second, 0.0, f64::from(u32::MAX))?,
            pulse: one_way("up_pulse", self.up_pulse)?,
        };
        let pulse = one_way("down_pulse", self.down_pulse)?;
        let down = LinkConditions { latency: down_latency.unwrap_or(latency), pulse, ..up };
        Ok(LinkPreset { name: self.name, up, down })
    }
}

impl RawPulse {
    fn check(self, field: &'static str) -> Result<Pulse, FieldError> {
        Ok(Pulse {
            period: milliseconds(field, self.period_ms, 1.0, 3_600_000.0)?,
            length: milliseconds(field, self.length_ms, 0.0, self.period_ms)?,
            latency: delay(field, self.latency_ms)?,
            loss: within(field, self.loss_percent, 0.0, 100.0)? as f32 / 100.0,
        })
    }
}

impl RonFile for LinkPresets {
    const CONTENT: &'static str = "link presets";
    const EXTENSIONS: &'static [&'static str] = &["links.ron"];

    /// Reads a list of presets, in the form of the library's own `presets.ron`, which documents the fields.
    /// Every value is checked.
    fn from_ron(text: &str) -> Result<Self, RonError> {
        let written: Vec<RawPreset> = parse(text)?;
        if written.len() > Self::MAX_PRESETS {
            let problem =
                format!("the file has {} presets; at most {} are allowed", written.len(), Self::MAX_PRESETS);
            return Err(RonError::whole(problem));
        }
        let mut presets = Self(Vec::with_capacity(written.len()));
        for (index, one) in written.into_iter().enumerate() {
            let name = one.name.clone();
            let preset = match presets.named(&name) {
                Some(_) => Err(("name", "an earlier preset has the same name; give each its own".to_owned())),
                None => one.check(),
            };
            presets.0.push(preset.map_err(|(field, problem)| {
                RonError::at(format!("preset {index} (\"{}\"), {field}", OneLine::name(&name)), problem)
            })?);
        }
        Ok(presets)
    }
}

#[cfg(test)]
mod tests {
    use checked_ron::broken_text::mangled;

    use super::*;

    const GOOD: &str = r#"[
    (name: "A", latency_ms: 10, loss_percent: 2.5, pulse: (period_ms: 1000, length_ms: 100)),
    (
        name: "B",
        jitter_ms: 5,
        up_pulse: (period_ms: 1000, length_ms: 100, latency_ms: 50, loss_percent: 100),
    ),
]"#;

    #[test]
    fn invalid_preset_error_names_the_place_and_the_field() {
        assert!(LinkPresets::from_ron(GOOD).is_ok());
        let assert_error_contains = |from: &str, to: &str, told: &[&str]| {
            assert!(GOOD.contains(from), "{from}");
            let error = LinkPresets::from_ron(&GOOD.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(told.iter().all(|part| error.contains(part)), "{to}: {error}");
            assert!(!error.contains('\n'), "{error}");
        };
        assert_error_contains("]", "", &["line 7", "column"]);
        assert_error_contains("jitter_ms: 5,", "jitter_ms: 5", &["line 6", "comma"]);
        assert_error_contains("jitter_ms: 5", "jitter_ms: much", &["line 5", "float"]);
        assert_error_contains("jitter_ms: 5", "jiter_ms: 5", &["line 5", "jiter_ms", "jitter_ms"]);
        assert_error_contains("name: \"B\",", "", &["line 7", "name", "preset"]);
        assert_error_contains("length_ms: 100)", "lenght_ms: 100)", &["line 2", "lenght_ms", "length_ms"]);
        assert_error_contains(
            "loss_percent: 2.5",
            "loss_percent: 140",
            &["preset 0 (\"A\")", "loss_percent", "140", "0 to 100"],
        );
        assert_error_contains("loss_percent: 2.5", "loss_percent: NaN", &["preset 0", "loss_percent", "NaN"]);
        assert_error_contains(
            "latency_ms: 10",
            "latency_ms: -1",
            &["preset 0", "latency_ms", "-1", "0 to 60000"],
        );
        assert_error_contains("latency_ms: 10", "latency_ms: 1e9", &["preset 0", "latency_ms"]);
        assert_error_contains(
            "latency_ms: 10",
            "latency_ms: 1.5",
            &["preset 0", "latency_ms", "1.5", "whole"],
        );
        assert_error_contains(
            "jitter_ms: 5",
            "burst: 0.5",
            &["preset 1 (\"B\")", "burst", "0.5", "1 to 10000"],
        );
        assert_error_contains(
            "jitter_ms: 5",
            "bytes_per_second: inf",
            &["preset 1", "bytes_per_second", "inf"],
        );
        assert_error_contains(
            "length_ms: 100)",
            "length_ms: 2000)",
            &["preset 0", "pulse", "2000", "0 to 1000"],
        );
        assert_error_contains(
            "period_ms: 1000, length_ms: 100)",
            "period_ms: 0, length_ms: 0)",
            &["preset 0", "pulse", "1 to"],
        );
        assert_error_contains(
            "jitter_ms: 5",
            "pulse: (period_ms: 9, length_ms: 1)",
            &["preset 1", "up_pulse", "both ways"],
        );
        assert_error_contains("\"B\"", "\" a \"", &["preset 1", "name", "its own"]);
        assert_error_contains("\"B\"", "\" \"", &["preset 1", "name", "empty"]);
    }

    #[test]
    fn name_in_an_error_is_escaped_and_cut() {
        let long = "x".repeat(100_000);
        let file = format!("[(name: \"a\\u{{1b}}[2J{long}\", burst: 0)]");
        let error = LinkPresets::from_ron(&file).expect_err("an impossible burst").to_string();
        assert!(error.starts_with("preset 0 (\"a\\u{1b}[2Jxxx"), "{error}");
        assert!(error.contains("burst") && error.len() < 300, "{error}");
    }

    #[test]
    fn preset_file_is_bounded_in_size_and_depth() {
        let of = |count: usize| -> String {
            let presets: String = (0..count).map(|index| format!("(name: \"p{index}\"),")).collect();
            format!("[{presets}]")
        };
        assert!(LinkPresets::from_ron(&of(LinkPresets::MAX_PRESETS)).is_ok());
        let error =
            LinkPresets::from_ron(&of(LinkPresets::MAX_PRESETS + 1)).expect_err("too many").to_string();
        assert!(error.contains("1001 presets"), "{error}");
        assert!(LinkPresets::from_ron(&" ".repeat(300_000)).is_err());
        assert!(
            LinkPresets::from_ron(&"[".repeat(100_000)).is_err(),
            "deep nesting does not overflow the stack"
        );
    }

    #[test]
    fn corrupted_preset_files_never_panic() {
        let read = mangled(GOOD, 10_000, 1).filter(|text| LinkPresets::from_ron(text).is_ok()).count();
        assert!(read > 100, "{read}");
    }
}
