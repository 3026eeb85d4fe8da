//! Named link conditions, read from `presets.ron` and from files of the same form.

mod ron_format;

use core::{fmt, ops::Deref};
use std::sync::LazyLock;

use checked_ron::{OneLine, RonFile};

use crate::conditioner::LinkConditions;

/// Named link conditions: one-way conditions of the uplink and of the downlink. With a preset applied to both, the
/// round trip is the sum of both latencies.
///
/// `NetSim::apply` of `bevy_unlag_lightyear` sets both directions of a link.
#[doc(alias = "NetworkSimulatorPreset")]
#[doc(alias = "PktEmulationProfile")]
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPreset {
    /// Display name, and key for [`named`](Self::named).
    pub name: String,
    /// Conditions from the client to the server.
    pub up: LinkConditions,
    /// Conditions from the server to the client. They differ in latency or pulse, if at all.
    pub down: LinkConditions,
}

/// The built-in presets, mildest first within each family: `presets.ron` of this crate, which also names
/// their sources.
pub static PRESETS: LazyLock<LinkPresets> = LazyLock::new(|| {
    LinkPresets::from_ron(include_str!("../presets.ron")).unwrap_or_else(|error| {
        // A test reads them; a broken build of them is a library without presets, not a panic.
        eprintln!("the built-in link presets are invalid: {error}");
        LinkPresets(Vec::new())
    })
});

/// A list of presets. Default: [`PRESETS`].
///
/// ```
/// # use link_conditioner::{LinkPresets, RonFile};
/// let mut presets = LinkPresets::default();
/// presets.extend(LinkPresets::from_ron(r#"[
///     (name: "Our office", latency_ms: 12, jitter_ms: 3, loss_percent: 0.2),
///     (name: "LAN", latency_ms: 2, bytes_per_second: 12500000),
/// ]"#)?);
/// assert_eq!(presets.named("our office").map(|preset| preset.up.latency.as_millis()), Some(12));
/// assert_eq!(presets.named("lan").map(|preset| preset.up.latency.as_millis()), Some(2));
/// # Ok::<(), link_conditioner::RonError>(())
/// ```
#[doc(alias = "NetEmulation profiles")]
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPresets(Vec<LinkPreset>);

impl Default for LinkPresets {
    fn default() -> Self {
        PRESETS.clone()
    }
}

impl Deref for LinkPresets {
    type Target = [LinkPreset];

    fn deref(&self) -> &[LinkPreset] {
        &self.0
    }
}

impl LinkPresets {
    /// Maximum number of presets in a list.
    pub const MAX_PRESETS: usize = 1_000;

    /// Adds the presets of another list; a preset with a known name replaces the existing one.
    pub fn extend(&mut self, others: Self) {
        for other in others.0 {
            match self.0.iter_mut().find(|preset| preset.is_called(&other.name)) {
                Some(same) => *same = other,
                None => self.0.push(other),
            }
        }
    }

    /// Returns the preset with this name; case and surrounding spaces are ignored.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&LinkPreset> {
        self.0.iter().find(|preset| preset.is_called(name))
    }

    /// Returns the preset with this name, or an error that lists the known names.
    ///
    /// # Errors
    ///
    /// [`UnknownPreset`] if there is no such preset.
    pub fn find(&self, name: &str) -> Result<&LinkPreset, UnknownPreset> {
        self.named(name).ok_or_else(|| UnknownPreset {
            name: name.to_owned(),
            known: self.0.iter().map(|preset| preset.name.clone()).collect(),
        })
    }
}

impl LinkPreset {
    fn is_called(&self, name: &str) -> bool {
        self.name.trim().eq_ignore_ascii_case(name.trim())
    }

    /// Returns the preset with this name in [`PRESETS`]; case and surrounding spaces are ignored.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.named(name)
    }

    /// Returns the preset with this name in [`PRESETS`], or an error that lists the known names.
    ///
    /// # Errors
    ///
    /// [`UnknownPreset`] if there is no such preset.
    pub fn find(name: &str) -> Result<&'static Self, UnknownPreset> {
        PRESETS.find(name)
    }

    /// The upstream conditions, the same as [`up`](method@Self::up). Some presets differ
    /// [`down`](method@Self::down)stream.
    #[must_use]
    pub fn conditions(&self) -> LinkConditions {
        self.up()
    }

    /// Returns the conditions of the uplink, from the client to the server.
    #[must_use]
    pub fn up(&self) -> LinkConditions {
        self.up.sanitised()
    }

    /// Returns the conditions of the downlink, from the server to the client.
    #[must_use]
    pub fn down(&self) -> LinkConditions {
        self.down.sanitised()
    }
}

/// Names that the text of [`UnknownPreset`] lists.
const LISTED: usize = 100;

/// Error of a lookup by name. `Display` lists the known presets, up to 100 of them, in one line: control characters of
/// the names are escaped, and long names are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPreset {
    /// The requested name.
    pub name: String,
    /// The known names.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no link preset is called \"{}\"; known presets: ", OneLine::name(&self.name))?;
        for (index, name) in self.known.iter().take(LISTED).enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, OneLine::name(name))?;
        }
        match self.known.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl core::error::Error for UnknownPreset {}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn built_in_presets_are_loaded() {
        assert_eq!(PRESETS.len(), 31);
        assert_eq!(PRESETS[3].name, "Good broadband");
    }

    #[test]
    fn presets_are_found_by_name_in_any_case() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let found = LinkPreset::named(&format!(" {} ", preset.name.to_uppercase()));
            assert_eq!(found, PRESETS.get(index), "{}", preset.name);
        }
    }

    #[test]
    fn preset_values_are_converted_to_conditions() {
        let perfect = LinkPreset::find("perfect").map(LinkPreset::conditions);
        assert_eq!(perfect, Ok(LinkConditions::PERFECT));
        let bad = LinkPreset::find("gns bad").map(LinkPreset::conditions);
        let expected = LinkConditions {
            latency: Duration::from_millis(50),
            loss: 0.1,
            reorder: 0.02,
            reorder_delay: Duration::from_millis(50),
            ..LinkConditions::PERFECT
        };
        assert_eq!(bad, Ok(expected));
    }

    #[test]
    fn preset_directions_differ_only_where_the_preset_says_so() {
        let unlike: Vec<&str> = PRESETS
            .iter()
            .filter(|preset| preset.up() != preset.down())
            .map(|preset| preset.name.as_str())
            .collect();
        assert_eq!(unlike, ["Apple LTE", "Apple Edge", "Lag switch"]);

        let named = |name| LinkPreset::named(name).expect("a preset of ours");
        let lte = named("Apple LTE");
        assert_eq!([lte.up().latency, lte.down().latency], [65, 50].map(Duration::from_millis));
        let lag_switch = named("Lag switch");
        assert_eq!(
            (lag_switch.up().pulse.map(|pulse| pulse.loss), lag_switch.down().pulse),
            (Some(1.0), None)
        );
        let starlink = named("Starlink");
        let spell = starlink.up().pulse.map(|pulse| (pulse.period.as_secs(), pulse.length, pulse.loss));
        assert_eq!(spell, Some((15, Duration::from_millis(140), 0.3)));
        assert!(starlink.up() == starlink.down());
    }

    #[test]
    fn no_two_presets_have_the_same_conditions() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let same = |other: &LinkPreset| (other.up(), other.down()) == (preset.up(), preset.down());
            assert_eq!(PRESETS.iter().position(same), Some(index), "{}", preset.name);
        }
    }

    #[test]
    fn unknown_preset_error_lists_the_known_names() {
        let message = LinkPreset::find("dial-up").map_err(|error| error.to_string());
        assert!(
            message.is_err_and(|text| text.contains("\"dial-up\"") && text.contains("LAN, Esports fibre"))
        );
    }

    #[test]
    fn unknown_preset_error_escapes_and_cuts_names() {
        let own: String = (0..200).map(|index| format!("(name: \"own {index}\"),")).collect();
        let long = "x".repeat(100_000);
        let own = format!("[(name: \"a\\u{{1b}}[2J\\u{{7}}b\"), (name: \"{long}\"), {own}]");
        let presets = LinkPresets::from_ron(&own).expect("any name is allowed");
        assert_eq!(presets[0].name, "a\u{1b}[2J\u{7}b");
        let text = presets.find(&format!("\u{1b}{long}")).expect_err("no such preset").to_string();
        assert!(text.contains("called \"\\u{1b}xxx") && text.contains("a\\u{1b}[2J\\u{7}b, xxx"), "{text}");
        assert!(!text.contains(char::is_control) && text.len() < 2_000, "{text}");
        assert!(text.ends_with("own 97, and 102 more"), "{text}");
    }

    #[test]
    fn extended_presets_are_appended_or_replace_those_of_the_same_name() {
        let mut presets = LinkPresets::default();
        let own =
            r#"[(name: "Dial-up", latency_ms: 200, bytes_per_second: 5600), (name: "lan ", jitter_ms: 9)]"#;
        presets.extend(LinkPresets::from_ron(own).expect("a good one"));
        assert_eq!(presets.len(), PRESETS.len() + 1);
        assert_eq!((presets[1].up.latency, presets[1].up.jitter), (Duration::ZERO, Duration::from_millis(9)));
        let dial_up = presets.find("dial-up").expect("it is there").down();
        assert_eq!((dial_up.latency, dial_up.bytes_per_second), (Duration::from_millis(200), 5_600));
        assert!(PRESETS.named("dial-up").is_none());
    }
}
