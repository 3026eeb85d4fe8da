//! What the picture shows, by choice.

use bevy::prelude::*;
use unlag_examples::kart::copies::MODES;

/// The colour of the own kart.
pub const OWN: Color = Color::srgb(0.95, 0.80, 0.20);
/// The colours of the ways in which the other one is drawn, in their order.
pub const COLOURS: [Color; MODES.len()] = [
    Color::srgb(0.90, 0.25, 0.22),
    Color::srgb(0.95, 0.55, 0.15),
    Color::srgb(0.25, 0.75, 0.35),
    Color::srgb(0.25, 0.50, 0.95),
    Color::srgb(0.70, 0.40, 0.90),
];

/// Whom the camera follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum View {
    /// The own kart.
    #[default]
    Own,
    /// The other one, in all its pictures.
    Other,
    /// Everybody.
    Above,
}

/// What the ghost shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ghost {
    /// Where the kart was on the server at the moment that is drawn: what is beside it is wrong.
    #[default]
    Then,
    /// Where it is on the server now: what is behind it is late.
    Now,
    /// Nothing.
    Off,
}

/// What is shown.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Picture {
    /// Which ways of drawing the other kart are seen.
    pub shown: [bool; MODES.len()],
    /// Whether they stand side by side, or all in their place.
    pub side_by_side: bool,
    /// The ghost.
    pub ghost: Ghost,
    /// The camera.
    pub view: View,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            shown: [true, true, true, false, false],
            side_by_side: true,
            ghost: Ghost::default(),
            view: View::default(),
        }
    }
}

impl Picture {
    /// Metres to the right of its place at which a way of drawing is seen.
    pub fn lane(&self, mode: usize) -> f32 {
        if !self.side_by_side {
            return 0.0;
        }
        let place = self.shown[..mode].iter().filter(|shown| **shown).count();
        let all = self.shown.iter().filter(|shown| **shown).count();
        (place as f32 - (all.max(1) - 1) as f32 * 0.5) * LANE
    }
}

/// Metres from one kart to the next beside it.
const LANE: f32 = 3.6;
