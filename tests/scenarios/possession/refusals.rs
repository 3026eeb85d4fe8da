//! Entities that no player can control.

use bevy_unlag::{core::Passenger, net::ReplicatedPawn, smoothing::RecordTransform};

use super::*;
use crate::captured_log::errors;

/// Asks for control of an entity. Returns the errors that the server logs, after a check that the player
/// keeps its soldier, which still obeys.
fn refused(game: &mut SteppedApps, pawn: Entity) -> Vec<String> {
    let lines = errors(|| possess(game, |_| Some(pawn)));
    game.run(Duration::from_secs(1));
    assert!(game.server.world().resource::<Pawns>().possessed.is_empty(), "a change is reported");
    let soldier = id(game, |pawns| pawns.soldier);
    assert_eq!(own(game), Some(soldier));
    let entity = game.server.world().resource::<Pawns>().soldier.expect("the soldier is spawned");
    let at = |game: &SteppedApps| {
        Soldier::position(game.server.world().get::<SoldierState>(entity).expect("a soldier"))
    };
    let from = at(game);
    game.run(Duration::from_secs(1));
    assert!(at(game).distance(from) > 3.0, "the soldier does not obey");
    lines
}

#[test]
fn thing_without_a_movement_model_is_refused_and_the_player_keeps_its_pawn() {
    let mut game = start(100, 0.0);
    let place = Transform::from_xyz(3.0, 0.5, 0.0);
    let thing = game.server.world_mut().spawn((ReplicatedPawn, RecordTransform::default(), place)).id();
    let lines = refused(&mut game, thing);
    assert!(lines.iter().any(|line| line.contains("no registered movement model")), "{lines:?}");
}

#[test]
fn passenger_is_refused_until_it_has_left_its_vehicle() {
    let mut game = start(100, 0.0);
    let kart = game.server.world().resource::<Pawns>().kart.expect("the kart is spawned");
    let seat = Passenger { vehicle: kart, seat: Vec3::Y * 0.3 };
    let place = Transform::from_xyz(6.0, 0.1, 0.0);
    let passenger = (NpcPawn::<Soldier>::default(), NetId(50), seat, place);
    let passenger = game.server.world_mut().spawn(passenger).id();
    game.run(Duration::from_millis(500));
    let lines = refused(&mut game, passenger);
    assert!(lines.iter().any(|line| line.contains("remove its Passenger component")), "{lines:?}");

    game.server.world_mut().entity_mut(passenger).remove::<Passenger>();
    possess(&mut game, |_| Some(passenger));
    game.run(Duration::from_secs(1));
    assert_eq!(own(&mut game), Some(NetId(50)));
    assert_eq!(game.server.world().resource::<Pawns>().possessed, [Some(passenger)]);
}
