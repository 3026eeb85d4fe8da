//! Named link conditions.

use std::fmt;
use std::time::Duration;

use super::conditioner::{LinkConditions, Pulse};
use super::plugin::NetSim;

/// Link conditions with a name, in the units people quote them in.
///
/// All values are for *one direction*: with both directions on the same preset the round trip
/// takes twice the latency. Both are alike but for the fields that speak of one; [`apply`](Self::apply)
/// sets both on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPreset {
    /// The name, as shown and as looked up by [`named`](Self::named).
    pub name: &'static str,
    /// One-way delay in milliseconds, upstream.
    pub latency_ms: u32,
    /// One-way delay in milliseconds, downstream.
    pub down_latency_ms: u32,
    /// Jitter in ± milliseconds around the delay.
    pub jitter_ms: u32,
    /// Mean loss in percent of packets.
    pub loss_percent: f32,
    /// Mean length of a run of losses in packets; 1 is independent loss.
    pub burst: f32,
    /// Packets that arrive twice, in percent.
    pub duplication_percent: f32,
    /// Packets held back so that others overtake them, in percent.
    pub reorder_percent: f32,
    /// How long such packets are held back, in milliseconds.
    pub reorder_ms: u32,
    /// What comes on top every now and then, upstream.
    pub pulse: Option<Pulse>,
    /// What comes on top every now and then, downstream.
    pub down_pulse: Option<Pulse>,
}

/// Every preset, mildest first within each family.
///
/// The values follow Unity's and Unreal's network emulation profiles, Apple's Network Link
/// Conditioner, Valve's `GameNetworkingSockets` tests and yojimbo's soak tests. Apple's and Valve's
/// also limit the rate; rates are not simulated and are left out.
///
/// * `Starlink` gets worse for a moment every 15 s, when the satellite changes.
/// * `Outage pulse` and `Lag switch` are `Good broadband` with blackouts: both ways, and upstream only.
/// * `Corrupt (MitM)` loses 3 %. The original loses 2 % and flips bits in another 1 %, but behind
///   netcode's authentication a flipped packet is a lost one.
/// * `Corrupt (MitM)` and `Unplayable` jitter by more than their delay: what would arrive before it
///   was sent arrives at once, and as jitter never reorders, most packets queue behind a late one.
pub const PRESETS: &[LinkPreset] = &[
    LinkPreset::new("Perfect", 0, 0, 0.0),
    LinkPreset::new("LAN", 1, 1, 0.0),
    LinkPreset::new("Esports fibre", 9, 1, 0.1),
    LinkPreset::new("Good broadband", 16, 6, 1.0),
    LinkPreset::new("Average (UE)", 45, 15, 1.0),
    LinkPreset::new("Average (Unity p50)", 66, 11, 3.0),
    LinkPreset::new("Bad (UE)", 150, 50, 5.0),
    LinkPreset::new("Poor (Unity p95)", 151, 11, 4.0),
    LinkPreset::new("International p50", 121, 11, 3.0),
    LinkPreset::new("International p95", 201, 16, 6.0),
    LinkPreset::new("4G p50", 100, 15, 5.0),
    LinkPreset::new("3.5G p50", 130, 20, 7.0),
    LinkPreset::new("Apple LTE", 65, 10, 0.0).down_latency(50),
    LinkPreset::new("Apple 3G", 100, 10, 0.0),
    LinkPreset::new("Apple 3G lossy", 100, 10, 1.0),
    LinkPreset::new("Apple Edge", 440, 40, 0.0).down_latency(400),
    LinkPreset::new("Apple Very Bad", 500, 50, 10.0),
    LinkPreset::new("WiFi congested", 10, 8, 1.0).burst(4.0).reorder(10.0, 90),
    LinkPreset::new("Starlink", 25, 8, 1.0).pulse(pulse(15_000, 140, 100, 0.3)),
    LinkPreset::new("Bursty", 30, 10, 3.0).burst(8.0),
    LinkPreset::new("Outage pulse", 16, 6, 1.0).pulse(pulse(5_000, 250, 0, 1.0)),
    LinkPreset::new("Lag switch", 16, 6, 1.0).up_pulse(pulse(3_000, 1_000, 0, 1.0)),
    LinkPreset::new("GNS wifi", 5, 0, 2.0).reorder(2.0, 1),
    LinkPreset::new("GNS bad", 50, 0, 10.0).reorder(2.0, 50),
    LinkPreset::new("GNS terrible", 100, 0, 20.0).reorder(4.0, 50),
    LinkPreset::new("GNS reorder", 50, 0, 0.0).reorder(30.0, 40),
    LinkPreset::new("Torture A", 250, 100, 25.0).duplication(25.0),
    LinkPreset::new("Torture B", 1000, 100, 25.0).duplication(25.0),
    LinkPreset::new("Corrupt (MitM)", 200, 400, 3.0),
    LinkPreset::new("Unplayable", 300, 400, 30.0),
    LinkPreset::new("No internet", 0, 0, 100.0),
];

/// Every `period_ms` a spell of `length_ms` that adds `latency_ms` and loses the fraction `loss`.
const fn pulse(period_ms: u64, length_ms: u64, latency_ms: u64, loss: f32) -> Pulse {
    Pulse {
        period: Duration::from_millis(period_ms),
        length: Duration::from_millis(length_ms),
        latency: Duration::from_millis(latency_ms),
        loss,
    }
}

impl LinkPreset {
    const fn new(name: &'static str, latency_ms: u32, jitter_ms: u32, loss_percent: f32) -> Self {
        Self {
            name,
            latency_ms,
            down_latency_ms: latency_ms,
            jitter_ms,
            loss_percent,
            burst: 1.0,
            duplication_percent: 0.0,
            reorder_percent: 0.0,
            reorder_ms: 0,
            pulse: None,
            down_pulse: None,
        }
    }

    const fn down_latency(mut self, ms: u32) -> Self {
        self.down_latency_ms = ms;
        self
    }

    const fn burst(mut self, packets: f32) -> Self {
        self.burst = packets;
        self
    }

    const fn duplication(mut self, percent: f32) -> Self {
        self.duplication_percent = percent;
        self
    }

    const fn reorder(mut self, percent: f32, ms: u32) -> Self {
        self.reorder_percent = percent;
        self.reorder_ms = ms;
        self
    }

    const fn pulse(mut self, pulse: Pulse) -> Self {
        self.down_pulse = Some(pulse);
        self.up_pulse(pulse)
    }

    const fn up_pulse(mut self, pulse: Pulse) -> Self {
        self.pulse = Some(pulse);
        self
    }

    /// The preset of this name in [`PRESETS`]; case and surrounding spaces do not matter.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.trim();
        PRESETS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
    }

    /// The preset of this name, or an error that lists the names there are.
    ///
    /// # Errors
    ///
    /// [`UnknownPreset`] if [`named`](Self::named) finds none.
    pub fn find(name: &str) -> Result<&'static Self, UnknownPreset> {
        Self::named(name).ok_or_else(|| UnknownPreset { name: name.to_owned() })
    }

    /// Sets both directions of `sim` to this preset.
    pub fn apply(&self, sim: &mut NetSim) {
        sim.up = self.up();
        sim.down = self.down();
    }

    /// The upstream conditions, the same as [`up`](Self::up). Some presets differ downstream: to set
    /// both directions use [`apply`](Self::apply).
    #[must_use]
    pub fn conditions(&self) -> LinkConditions {
        self.up()
    }

    /// The conditions from the client to the server.
    #[must_use]
    pub fn up(&self) -> LinkConditions {
        self.one_way(self.latency_ms, self.pulse)
    }

    /// The conditions from the server to the client.
    #[must_use]
    pub fn down(&self) -> LinkConditions {
        self.one_way(self.down_latency_ms, self.down_pulse)
    }

    fn one_way(&self, latency_ms: u32, pulse: Option<Pulse>) -> LinkConditions {
        LinkConditions {
            latency: Duration::from_millis(u64::from(latency_ms)),
            jitter: Duration::from_millis(u64::from(self.jitter_ms)),
            loss: self.loss_percent / 100.0,
            burst: self.burst,
            duplication: self.duplication_percent / 100.0,
            reorder: self.reorder_percent / 100.0,
            reorder_delay: Duration::from_millis(u64::from(self.reorder_ms)),
            pulse,
        }
        .sanitised()
    }
}

/// There is no preset of this name. Its message lists those there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPreset {
    /// The name that was asked for.
    pub name: String,
}

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no link preset is called {:?}; there are: ", self.name)?;
        for (index, preset) in PRESETS.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", preset.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPreset {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_in_any_case() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let found = LinkPreset::named(&format!(" {} ", preset.name.to_uppercase()));
            assert_eq!(found, PRESETS.get(index), "{}", preset.name);
        }
    }

    #[test]
    fn conditions_are_in_range() {
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
    fn directions_differ_where_they_should() {
        let unlike: Vec<&str> =
            PRESETS.iter().filter(|preset| preset.up() != preset.down()).map(|preset| preset.name).collect();
        assert_eq!(unlike, ["Apple LTE", "Apple Edge", "Lag switch"]);

        let mut sim = NetSim::new(1);
        LinkPreset::named("Apple LTE").expect("a preset of ours").apply(&mut sim);
        assert_eq!([sim.up.latency, sim.down.latency], [65, 50].map(Duration::from_millis));
        LinkPreset::named("Lag switch").expect("a preset of ours").apply(&mut sim);
        assert_eq!((sim.up.pulse.map(|pulse| pulse.loss), sim.down.pulse), (Some(1.0), None));
        LinkPreset::named("Starlink").expect("a preset of ours").apply(&mut sim);
        assert!(sim.up.pulse.is_some() && sim.up == sim.down);
    }

    #[test]
    fn conditions_tell_presets_apart() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let same = |other: &LinkPreset| (other.up(), other.down()) == (preset.up(), preset.down());
            assert_eq!(PRESETS.iter().position(same), Some(index), "{}", preset.name);
        }
    }

    #[test]
    fn the_error_lists_the_names() {
        let message = LinkPreset::find("dial-up").map_err(|error| error.to_string());
        assert!(
            message.is_err_and(|text| text.contains("\"dial-up\"") && text.contains("LAN, Esports fibre"))
        );
    }
}
