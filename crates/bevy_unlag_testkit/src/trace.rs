//! Results of every move on both sides, and where they differ.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, NetRole, Tick};
use bevy_unlag_prediction::MoveTrace;

/// Records where every move of every pawn ended: on the owner's client as first simulated, on the server as
/// run. Add it to both apps, and read the result with [`traces`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TracePlugin;

impl Plugin for TracePlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert_if_new(MoveTrace::default());
        });
    }
}

/// Returns what [`TracePlugin`] has recorded in an app, by pawn: tick and end position of every move, in the
/// order in which they were simulated.
#[must_use]
pub fn traces(app: &mut App) -> HashMap<NetId, Vec<(Tick, Vec3)>> {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &MoveTrace)>();
    pawns.iter(world).map(|(id, trace)| (*id, trace.0.clone())).collect()
}

/// The first move whose end position differs between two sides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// Tick of the move.
    pub tick: Tick,
    /// End position on the first side, in metres.
    pub first: Vec3,
    /// End position on the second side, in metres.
    pub second: Vec3,
}

/// Returns the first move, by tick, that ended further apart on two sides than `tolerance`, in metres. Moves
/// that only one side has are ignored: the server lacks those that are still under way.
#[must_use]
pub fn first_difference(
    first: &[(Tick, Vec3)],
    second: &[(Tick, Vec3)],
    tolerance: f32,
) -> Option<Difference> {
    let second: HashMap<Tick, Vec3> = second.iter().copied().collect();
    let mut earliest: Option<Difference> = None;
    for (tick, first) in first {
        let Some(second) = second.get(tick) else { continue };
        let is_earlier = earliest.is_none_or(|known| known.tick.is_newer_than(*tick));
        let distance = first.distance(*second);
        if is_earlier && (distance > tolerance || distance.is_nan()) {
            earliest = Some(Difference { tick: *tick, first: *first, second: *second });
        }
    }
    earliest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(of: impl Fn(u32) -> f32) -> Vec<(Tick, Vec3)> {
        (0..100).map(|tick| (Tick(tick).offset(-50), Vec3::X * of(tick))).collect()
    }

    #[test]
    fn first_difference_is_the_earliest_tick_beyond_the_tolerance() {
        let server = path(|tick| tick as f32);
        let mut client = path(|tick| tick as f32 + if tick >= 40 { 0.5 } else { 0.001 });
        client.reverse();
        client.remove(0);
        let found = first_difference(&server, &client, 0.01).expect("they differ from tick 40 on");
        assert_eq!((found.tick, found.first.x, found.second.x), (Tick(40).offset(-50), 40.0, 40.5));
        assert_eq!(first_difference(&server, &client, 0.6), None);
    }

    #[test]
    fn positions_that_are_no_numbers_differ() {
        let server = path(|tick| tick as f32);
        let client = path(|tick| if tick == 7 { f32::NAN } else { tick as f32 });
        assert_eq!(
            first_difference(&server, &client, 1.0).map(|found| found.tick),
            Some(Tick(7).offset(-50))
        );
    }
}
