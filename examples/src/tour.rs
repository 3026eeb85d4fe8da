//! Guided tour of the shooter: eight stops, each with a link, switches, one thing to do and one thing to see.

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset},
    prediction::PredictionDebug,
    prelude::*,
};
use lightyear::prelude::Client;

use crate::techniques::{Technique, Techniques};

/// A stop of the tour.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TourStop {
    /// Title.
    pub title: &'static str,
    /// Link preset of the library, by its name.
    pub preset: &'static str,
    /// The technique that the stop is about. It is off at first.
    pub technique: Technique,
    /// Further techniques that are off, because they would hide the effect.
    pub also_off: &'static [Technique],
    /// Share of acknowledgements that the server turns into corrections, 0 to 1; see
    /// [`PredictionDebug::force_corrections`].
    pub forced_corrections: f32,
    /// Task of the stop.
    pub to_do: &'static str,
    /// Effect that can be seen.
    pub to_see: &'static str,
}

/// The stops, in their order.
pub const STOPS: [TourStop; 8] = [
    TourStop {
        title: "Your moves, at once",
        preset: "Bad (UE)",
        technique: Technique::Prediction,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Walk left and right and stop. Then press T and do it again.",
        to_see: "Without prediction each step waits for the server. With it you move in the frame of the key.",
    },
    TourStop {
        title: "Corrections that nobody notices",
        preset: "Average (UE)",
        technique: Technique::Replay,
        also_off: &[Technique::Easing],
        forced_corrections: 0.1,
        to_do: "Run in a circle while the server corrects you three times a second. Press T.",
        to_see: "Without replay each correction throws you back to an old place. With it none is visible.",
    },
    TourStop {
        title: "Errors that fade",
        preset: "GNS terrible",
        technique: Technique::Easing,
        also_off: &[Technique::Redundancy],
        forced_corrections: 0.0,
        to_do: "Run and change direction often: a fifth of your moves is lost. Press T.",
        to_see: "The errors are the same, but the view glides over them instead of jerking.",
    },
    TourStop {
        title: "Lost packets, kept moves",
        preset: "GNS terrible",
        technique: Technique::Redundancy,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Run around and watch the lane 'loss' of the net graph. Press T.",
        to_see: "Red are your moves that never ran. Repeated in later packets, they survive the loss of a packet.",
    },
    TourStop {
        title: "The path between two updates",
        preset: "Good broadband",
        technique: Technique::Interpolation,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Stand still and watch a bot that strafes. T goes through raw, Hermite and linear.",
        to_see: "Raw updates stutter, lines have corners, and the cubic follows the turn.",
    },
    TourStop {
        title: "A delay against jitter",
        preset: "WiFi congested",
        technique: Technique::Playout,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Watch the bots turn and stop. Press T.",
        to_see: "Without a playout delay their next step is a guess that jumps back. With it they glide.",
    },
    TourStop {
        title: "Hits where you aimed",
        preset: "4G p50",
        technique: Technique::Rewind,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Shoot at bots that strafe, without leading them. Press T and shoot again.",
        to_see: "Without rewind most hits on your screen do not count. With it all of them do. F5 shows why.",
    },
    TourStop {
        title: "Rockets on your time",
        preset: "4G p50",
        technique: Technique::CatchUp,
        also_off: &[],
        forced_corrections: 0.0,
        to_do: "Press 3 and fire rockets at bots that are near. Press T and fire again.",
        to_see: "A rocket starts in the past of your screen. Caught up along what you saw, it hits what it met there.",
    },
];

impl TourStop {
    /// Returns the link of the stop, up and down.
    #[must_use]
    pub fn link(&self) -> (LinkConditions, LinkConditions) {
        let perfect = (LinkConditions::PERFECT, LinkConditions::PERFECT);
        LinkPreset::named(self.preset).map_or(perfect, |preset| (preset.up(), preset.down()))
    }

    /// Returns the switches at the beginning of the stop.
    #[must_use]
    pub fn techniques(&self) -> Techniques {
        let mut techniques = Techniques::default();
        self.also_off.iter().for_each(|technique| techniques.set(*technique, 1));
        let last = Techniques::states(self.technique).len() - 1;
        techniques.set(self.technique, last);
        techniques
    }
}

/// Position in the tour, and the settings before it.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Tour {
    stop: Option<usize>,
    before: Option<(Techniques, LinkConditions, LinkConditions, f32)>,
}

impl Tour {
    /// Creates a tour that begins at a stop, from 1, once the client has a link.
    #[must_use]
    pub fn beginning_at(stop: usize) -> Self {
        Self { stop: Some(stop.saturating_sub(1) % STOPS.len()), before: None }
    }

    /// Returns the current stop and its number, from 1.
    #[must_use]
    pub fn stop(&self) -> Option<(usize, &'static TourStop)> {
        self.stop.and_then(|at| Some((at + 1, STOPS.get(at)?)))
    }

    /// Begins the tour, or ends it.
    pub fn toggle(&mut self) {
        self.stop = if self.stop.is_some() { None } else { Some(0) };
    }

    /// Goes to the next stop, or to the previous one. The first and the last one are neighbours.
    pub fn go(&mut self, forward: bool) {
        let by = if forward { 1 } else { STOPS.len() - 1 };
        self.stop = self.stop.map(|at| (at + by) % STOPS.len());
    }
}

/// Applies the current stop of the [`Tour`], and restores the settings at its end.
pub fn plugin(app: &mut App) {
    app.init_resource::<Tour>().init_resource::<Techniques>().add_systems(Update, follow);
}

/// Keeps the settings of the stop that was applied last.
fn follow(
    mut tour: ResMut<Tour>,
    mut links: Query<&mut NetSim, With<Client>>,
    (mut techniques, mut debug): (ResMut<Techniques>, ResMut<PredictionDebug>),
    mut applied: Local<Option<usize>>,
) {
    if *applied == tour.stop {
        return;
    }
    let Ok(mut link) = links.single_mut() else { return };
    *applied = tour.stop;
    let before = (*techniques, link.up, link.down, debug.force_corrections);
    let (set, up, down, forced) = match tour.stop() {
        Some((_, stop)) => {
            tour.before.get_or_insert(before);
            let (up, down) = stop.link();
            (stop.techniques(), up, down, stop.forced_corrections)
        }
        None => tour.before.take().unwrap_or(before),
    };
    *techniques = set;
    (link.up, link.down) = (up, down);
    debug.force_corrections = forced;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_has_an_existing_link_a_technique_of_its_own_and_short_texts() {
        for (at, stop) in STOPS.iter().enumerate() {
            assert!(LinkPreset::named(stop.preset).is_some(), "{}: {}", stop.title, stop.preset);
            assert!(!stop.techniques().is_on(stop.technique), "{}: it is off at first", stop.title);
            assert!(STOPS[..at].iter().all(|other| other.technique != stop.technique), "{}", stop.title);
            assert!(stop.also_off.iter().all(|other| *other != stop.technique), "{}", stop.title);
            assert!(stop.to_do.len() < 100 && stop.to_see.len() < 110, "{}", stop.title);
            assert!((0.0..0.5).contains(&stop.forced_corrections), "{}", stop.title);
        }
    }
}
