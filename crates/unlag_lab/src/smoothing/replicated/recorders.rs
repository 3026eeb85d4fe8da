//! Recorders of the server's published states and of a watcher's drawn poses.

use crate::prelude::*;

/// Owner's move that each server tick published.
#[derive(Resource, Default)]
pub struct PublishedMoves(HashMap<Tick, Tick>);

impl PublishedMoves {
    /// Records the published states of a pawn from now on.
    pub fn watch<M: MoveModel>(server: &mut App, id: NetId) {
        let note = move |pawns: Query<(&NetId, &PublishedState<M>, &CaughtUpStates<M>)>,
                         mut stage: ResMut<PublishedMoves>| {
            let Some((_, shown, caught_up)) = pawns.iter().find(|(pawn, ..)| **pawn == id) else { return };
            // The first published state of a tick is final.
            for one in caught_up.0.iter().chain([shown]) {
                stage.0.entry(one.tick).or_insert(one.move_tick);
            }
        };
        server.init_resource::<Self>().add_systems(FixedLast, note);
    }

    /// Returns the time on the owner's timeline that a drawn pose represents, in ticks since the end of
    /// `began`.
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

/// Drawn pose of a pawn.
#[derive(Clone, Copy)]
pub struct DrawnFrame {
    /// Time in seconds on the watcher's clock.
    pub now: f64,
    /// Origin of the pose.
    pub stamp: ViewStamp,
    /// Drawn position.
    pub place: Vec3,
}

/// Drawn poses of a watcher, one per frame.
#[derive(Resource, Default)]
pub struct DrawnFrames(pub Vec<DrawnFrame>);

impl DrawnFrames {
    /// Records a client's drawn poses of a pawn from now on.
    pub fn watch(client: &mut App, id: NetId) {
        let note = move |time: Res<Time<Real>>,
                         proxies: Query<(&NetId, &DrawnPose, &VisualOffset), Without<LocalControl>>,
                         mut screen: ResMut<DrawnFrames>| {
            if let Some((_, drawn, offset)) = proxies.iter().find(|(proxy, ..)| **proxy == id) {
                let place = drawn.pose.position + offset.offset;
                screen.0.push(DrawnFrame { now: time.elapsed_secs_f64(), stamp: drawn.stamp, place });
            }
        };
        client.init_resource::<Self>().add_systems(Last, note);
    }
}
