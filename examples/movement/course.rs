//! The obstacle course as data: stations in rows, each a lane along -Z with things to walk into, a
//! script that walks into them, and what must have come of it.

mod edges;
mod machines;
mod prop;
mod regions;
mod steps;
mod terrain;

use bevy::prelude::*;

use crate::{check::Want, script::Act, tuning::Tuning};

pub use prop::{Kind, Prop, Role, Shape, Way};
pub use terrain::{HILLS, hills, quilt};

/// Metres from the start of one row to that of the next.
const ROW_PITCH: f32 = 16.0;
/// Where the first row starts, in metres along Z.
const FIRST_ROW: f32 = 24.0;
/// Half the size of the ground, in metres.
pub const GROUND: Vec3 = Vec3::new(36.0, 0.5, 41.0);
/// The middle of the ground's box.
pub const GROUND_AT: Vec3 = Vec3::new(0.0, -0.5, -6.0);

/// One case: what to cross, how, and what must come of it. All places are relative to
/// [`origin`](Self::origin), in metres.
#[derive(Clone, Debug)]
pub struct Station {
    /// What its label says. Bevy's built-in font knows ASCII only.
    pub name: &'static str,
    /// Where it lies in the world.
    pub origin: Vec3,
    /// Where the pawn begins, looking along -Z.
    pub start: Vec3,
    /// Where its label hangs.
    pub label: Vec3,
    /// The tuning that it is about.
    pub tuning: Tuning,
    /// What stands there.
    pub props: Vec<Prop>,
    /// Where pawns stand that nobody steers.
    pub dummies: Vec<Vec3>,
    /// How it is crossed.
    pub script: Vec<Act>,
    /// What must come of it.
    pub wants: Vec<Want>,
    width: f32,
}

impl Station {
    fn new(name: &'static str, width: f32) -> Self {
        Self {
            name,
            origin: Vec3::ZERO,
            start: Vec3::ZERO,
            label: Vec3::new(0.0, 1.6, -2.5),
            tuning: Tuning::default(),
            props: Vec::new(),
            dummies: Vec::new(),
            script: Vec::new(),
            wants: Vec::new(),
            width,
        }
    }

    /// Starts so high above the ground.
    fn start(mut self, y: f32) -> Self {
        self.start = Vec3::Y * y;
        self
    }

    /// Hangs the label so high and so far ahead.
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

    fn wants(mut self, wants: impl IntoIterator<Item = Want>) -> Self {
        self.wants.extend(wants);
        self
    }

    /// A place of the station in the world.
    pub fn place(&self, local: Vec3) -> Vec3 {
        self.origin + local
    }
}

/// All stations, in the order of the tour.
#[derive(Resource, Clone, Debug)]
pub struct Course(pub Vec<Station>);

impl Course {
    /// The stations, laid out.
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
