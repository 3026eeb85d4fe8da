//! What the server showed of a pawn, and what a watcher's screen did.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{Soldier, core::PublishedState, prelude::*};

/// Which of the owner's moves the server showed at which of its own ticks.
#[derive(Resource, Default)]
pub struct Stage(HashMap<Tick, Tick>);

impl Stage {
    /// Notes down what a server shows of a pawn from now on.
    pub fn watch(server: &mut App, id: NetId) {
        let note = move |pawns: Query<(&NetId, &PublishedState<Soldier>)>, mut stage: ResMut<Stage>| {
            if let Some((_, shown)) = pawns.iter().find(|(pawn, _)| **pawn == id) {
                // What was once shown of a tick stays.
                stage.0.entry(shown.tick).or_insert(shown.move_tick);
            }
        };
        server.init_resource::<Self>().add_systems(FixedLast, note);
    }

    /// The moment of the owner's time line that a picture shows, in ticks since the end of `began`.
    pub fn moment(&self, stamp: ViewStamp, began: Tick) -> Option<f64> {
        let ticks = |tick: &Tick| self.0.get(tick).map(|moved| f64::from(moved.since(began)));
        match stamp {
            ViewStamp::Interpolated { from, to, time } => {
                let part = f64::from(time.ticks_since(from)) / f64::from(to.since(from).max(1));
                let (a, b) = (ticks(&from)?, ticks(&to)?);
                Some(a + (b - a) * part)
            }
            ViewStamp::Extrapolated { from, time } => Some(ticks(&from)? + f64::from(time.ticks_since(from))),
            ViewStamp::Present => None,
        }
    }
}

/// One picture of a pawn.
#[derive(Clone, Copy)]
pub struct Picture {
    /// When, in seconds on the watcher's clock.
    pub now: f64,
    /// How its pose came about.
    pub stamp: ViewStamp,
    /// Where it was seen.
    pub place: Vec3,
}

/// A watcher's screen, frame by frame.
#[derive(Resource, Default)]
pub struct Screen(pub Vec<Picture>);

impl Screen {
    /// Notes down what a client shows of a pawn from now on.
    pub fn watch(client: &mut App, id: NetId) {
        let note = move |time: Res<Time<Real>>,
                         proxies: Query<(&NetId, &DrawnPose, &VisualOffset), Without<LocalControl>>,
                         mut screen: ResMut<Screen>| {
            if let Some((_, drawn, offset)) = proxies.iter().find(|(proxy, ..)| **proxy == id) {
                let place = drawn.pose.position + offset.offset;
                screen.0.push(Picture { now: time.elapsed_secs_f64(), stamp: drawn.stamp, place });
            }
        };
        client.init_resource::<Self>().add_systems(Last, note);
    }
}
