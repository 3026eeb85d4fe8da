//! Named figures and their output as table and JSON.

use serde::{Serialize, Serializer};

/// A named measurement.
pub struct Figure {
    /// JSON key, the same in every run.
    pub key: String,
    /// Measured value, always finite.
    pub value: f64,
    /// Sample sizes and related numbers for the table; the key names quantity and unit.
    pub note: String,
    /// Number of events behind the value, in JSON under its own key; `None` where only the note has it.
    pub events: Option<u64>,
}

/// Ordered figures of one topic, in JSON one flat object of numbers.
#[derive(Default)]
pub struct Figures(pub Vec<Figure>);

impl Figures {
    /// Adds a figure with its JSON key and its value.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn add(&mut self, key: impl Into<String>, value: f64) -> Result<(), String> {
        self.add_noted(key, value, String::new())
    }

    /// Adds a figure with sample sizes or related numbers for the table.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn add_noted(&mut self, key: impl Into<String>, value: f64, note: String) -> Result<(), String> {
        self.push(key.into(), value, note, None)
    }

    /// Adds a figure with the number of events behind it, which JSON has as `KEY_events`. The note says what they are.
    ///
    /// # Errors
    /// Returns a message if the value is not finite or there were no events, that is, if nothing was measured.
    pub fn add_counted(
        &mut self,
        key: impl Into<String>,
        value: f64,
        events: u64,
        note: impl AsRef<str>,
    ) -> Result<(), String> {
        let value = if events == 0 { f64::NAN } else { value };
        self.push(key.into(), value, format!("{events} {}", note.as_ref()), Some(events))
    }

    fn push(&mut self, key: String, value: f64, note: String, events: Option<u64>) -> Result<(), String> {
        if !value.is_finite() {
            return Err(format!("nothing was measured for {key}; measure longer"));
        }
        self.0.push(Figure { key, value, note, events });
        Ok(())
    }

    /// Returns a text table with one line per figure, or with `json` one flat JSON object with one line per figure.
    ///
    /// # Errors
    /// Returns a message if the figures cannot be written as JSON.
    pub fn output(&self, json: bool) -> Result<String, String> {
        if json {
            let text = serde_json::to_string_pretty(self).map(|text| text + "\n");
            return text.map_err(|e| format!("cannot write the figures: {e}"));
        }
        let width = self.0.iter().map(|f| f.key.len()).max().unwrap_or(0);
        Ok(self.0.iter().map(|f| format!("{:<width$}  {:>12.4}  {}\n", f.key, f.value, f.note)).collect())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.0.iter().flat_map(|Figure { key, value, events, .. }| {
            let events = events.map(|events| (format!("{key}_events"), events as f64));
            core::iter::once((key.clone(), *value)).chain(events)
        });
        serializer.collect_map(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_events_of_a_counted_figure_behind_it() {
        let mut figures = Figures::default();
        figures.add("plain", 1.5).expect("a value");
        figures.add_counted("lost_players", 0.0, 8, "players").expect("events");
        let json = figures.output(true).expect("JSON");
        let lines: Vec<_> = json.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            ["{", "\"plain\": 1.5,", "\"lost_players\": 0.0,", "\"lost_players_events\": 8.0", "}"]
        );
        let table = figures.output(false).expect("a table");
        assert!(table.lines().count() == 2 && table.ends_with("0.0000  8 players\n"), "{table}");
    }

    #[test]
    fn figure_without_events_is_an_error() {
        let error = Figures::default().add_counted("lost_players", 0.0, 0, "players").expect_err("no events");
        assert!(error.contains("lost_players"), "{error}");
    }
}
