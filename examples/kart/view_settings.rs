//! View settings: which karts are drawn, and from where.

use bevy::prelude::*;
use unlag_examples::kart::copies::MODES;

/// Colour of the own kart.
pub const OWN: Color = Color::srgb(0.95, 0.80, 0.20);
/// Colours of the copies of the remote kart, in the order of [`MODES`].
pub const COLOURS: [Color; MODES.len()] = [
    Color::srgb(0.90, 0.25, 0.22),
    Color::srgb(0.95, 0.55, 0.15),
    Color::srgb(0.25, 0.75, 0.35),
    Color::srgb(0.25, 0.50, 0.95),
    Color::srgb(0.70, 0.40, 0.90),
];

/// Target of the camera.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum View {
    /// The own kart.
    #[default]
    Own,
    /// The remote kart, with all its copies.
    Other,
    /// The whole track, from above.
    Above,
}

/// State that the ghost shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ghost {
    /// The kart on the server at the view time of the drawn frame: a distance to it is an error.
    #[default]
    AtViewTime,
    /// The kart on the server now: a distance to it is the playout delay.
    Now,
    /// Nothing.
    Off,
}

/// View settings.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct ViewSettings {
    /// Visibility of each copy of the remote kart.
    pub shown: [bool; MODES.len()],
    /// Whether the copies are drawn side by side, or all at their true position.
    pub side_by_side: bool,
    /// State that the ghost shows.
    pub ghost: Ghost,
    /// Target of the camera.
    pub view: View,
}

impl Default for ViewSettings {
    fn default() -> Self {
        Self {
            shown: [true, true, true, false, false],
            side_by_side: true,
            ghost: Ghost::default(),
            view: View::default(),
        }
    }
}

impl ViewSettings {
    /// Returns the sideways offset of a copy to the right of its true position, in metres.
    pub fn lane(&self, mode: usize) -> f32 {
        if !self.side_by_side {
            return 0.0;
        }
        let place = self.shown[..mode].iter().filter(|shown| **shown).count();
        let all = self.shown.iter().filter(|shown| **shown).count();
        (place as f32 - (all.max(1) - 1) as f32 * 0.5) * LANE
    }
}

/// Distance between neighbouring lanes, in metres.
const LANE: f32 = 3.6;
