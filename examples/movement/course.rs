//! The obstacle course as data. Stations lie in rows; each is a lane along -Z with props, a script that
//! crosses them, and the expected results.

mod edges;
mod machines;
mod prop;
mod regions;
mod steps;
mod terrain;

use bevy::prelude::*;

use crate::{expectation::Expectation, script::Act, tuning::Tuning};

pub use prop::{BaseMotion, Kind, Prop, Role, Shape};
pub use terrain::{HILLS, hills, quilt};

/// Distance between the starts of two rows, in metres.
const ROW_PITCH: f32 = 16.0;
/// Z coordinate of the first row's start, in metres.
const FIRST_ROW: f32 = 24.0;
/// Half extents of the ground, in metres.
pub const GROUND: Vec3 = Vec3::new(36.0, 0.5, 41.0);
/// Centre of the ground's box.
pub const GROUND_AT: Vec3 = Vec3::new(0.0, -0.5, -6.0);

/// A test case of the course. All positions are relative to [`origin`](Self::origin), in metres.
#[derive(Clone, Default, Debug)]
pub struct Station {
    /// Text of its label. Bevy's built-in font covers ASCII only.
    pub name: &'static str,
    /// Position in the world.
    pub origin: Vec3,
    /// Start position of the pawn, which faces -Z.
    pub start: Vec3,
    /// Position of its label.
    pub label: Vec3,
    /// Tuning that it tests.
    pub tuning: Tuning,
    /// Props of the station.
    pub props: Vec<Prop>,
    /// Positions of pawns without any input.
    pub dummies: Vec<Vec3>,
    /// Script that crosses it.
    pub script: Vec<Act>,
    /// Expected results.
    pub expectations: Vec<Expectation>,
    width: f32,
}

impl Station {
    fn new(name: &'static str, width: f32) -> Self {
        Self { name, label: Vec3::new(0.0, 1.6, -2.5), width, ..default() }
    }

    /// Sets the height of the start above the ground.
    fn start(mut self, y: f32) -> Self {
        self.start = Vec3::Y * y;
        self
    }

    /// Sets the height and the z of the label.
    fn label(mut self, y: f32, z: f32) -> Self {
        self.label = Vec3::new(0.0, y, z);
        self
    }

    fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    fn dummy(mut self, at: Vec3) -> Self {
        self.dummies.push(at);
        self
    }

    fn props(mut self, props: impl IntoIterator<Item = Prop>) -> Self {
        self.props.extend(props);
        self
    }

    fn script(mut self, script: impl IntoIterator<Item = Act>) -> Self {
        self.script.extend(script);
        self
    }

    fn expectations(mut self, expectations: impl IntoIterator<Item = Expectation>) -> Self {
        self.expectations.extend(expectations);
        self
    }

    /// Returns the world position of a local position.
    pub fn place(&self, local: Vec3) -> Vec3 {
        self.origin + local
    }
}

/// All stations, in the order of the tour.
#[derive(Resource, Clone, Debug)]
pub struct Course(pub Vec<Station>);

impl Course {
    /// Creates all stations and lays them out in rows.
    pub fn laid_out() -> Self {
        let rows = [steps::row(), edges::row(), machines::row(), regions::row()];
        let mut all = Vec::new();
        for (number, row) in rows.into_iter().enumerate() {
            let width: f32 = row.iter().map(|station| station.width).sum();
            let mut left = -width / 2.0;
            for mut station in row {
                let middle = left + station.width / 2.0;
                station.origin = Vec3::new(middle, 0.0, FIRST_ROW - number as f32 * ROW_PITCH);
                left += station.width;
                all.push(station);
            }
        }
        Self(all)
    }
}
