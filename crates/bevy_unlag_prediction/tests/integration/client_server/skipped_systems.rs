//! Systems that are skipped where no pawn needs them.

use bevy::prelude::*;
use bevy_unlag_core::PawnSystems;
use bevy_unlag_prediction::{AuthorityPawn, PredictionPlugin};

use super::common::{Barge, LinkProfile, Pair, Side, TestModel, Walker};

/// Ticks in which systems ran: of walkers, of barges, of the pawn that the player controls.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Runs([u32; 3]);

fn count(side: &mut Side) {
    let app = &mut side.app;
    app.add_plugins(PredictionPlugin::<Barge>::default()).init_resource::<Runs>();
    Barge::install(app);
    let sets = [PawnSystems::of::<Walker>(), PawnSystems::of::<Barge>(), PawnSystems::Own];
    for (index, set) in sets.into_iter().enumerate() {
        app.add_systems(FixedUpdate, (move |mut runs: ResMut<Runs>| runs.0[index] += 1).in_set(set));
    }
}

/// Returns whether each of the systems runs in the ticks of a second.
fn run_in_a_second(pair: &mut Pair) -> [[bool; 3]; 2] {
    let runs = |pair: &Pair| [&pair.client, &pair.server].map(|side| side.res::<Runs>().0);
    let before = runs(pair);
    pair.run(1.0);
    let after = runs(pair);
    [0, 1].map(|side| [0, 1, 2].map(|system| after[side][system] > before[side][system]))
}

#[test]
fn systems_are_skipped_without_pawns_of_their_model_or_of_the_player() {
    let mut pair = Pair::new(7, LinkProfile::AVERAGE);
    count(&mut pair.client);
    count(&mut pair.server);
    pair.run(1.0);
    assert_eq!(run_in_a_second(&mut pair), [[true, false, true], [true, false, false]]);
    let barge = pair.server.app.world_mut().spawn((AuthorityPawn::<Barge>::default(), Barge::start())).id();
    assert_eq!(run_in_a_second(&mut pair), [[true, false, true], [true, true, false]]);
    pair.server.app.world_mut().despawn(barge);
    assert_eq!(run_in_a_second(&mut pair), [[true, false, true], [true, false, false]]);
}
