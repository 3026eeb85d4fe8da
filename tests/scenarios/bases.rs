//! Moving bases (lifts and turntables) that carry the owner's pawn without corrections.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    link_conditioner::LinkPreset,
    movement::{BaseId, BaseTrack, MovementBase, Shuttle, Turntable},
    prelude::*,
};
use unlag_examples::stepped_match::{Match, MatchOptions};

use crate::{hold_still, own_id, seconds, start, state, stats};

/// Spawns a lift and a turntable in free corners of the arena.
fn spawn_bases(app: &mut App) {
    let lift = Shuttle {
        from: Vec3::new(-14.0, 0.5, 14.0),
        to: Vec3::new(-14.0, 5.5, 14.0),
        rotation: Quat::IDENTITY,
        travel_seconds: 2.0,
        pause_seconds: 0.5,
        phase_seconds: 0.0,
    };
    let table = Turntable { pivot: Vec3::new(14.0, 0.5, -14.0), seconds_per_turn: 4.0, ..default() };
    for (id, track) in [(1, BaseTrack::Shuttle(lift)), (2, BaseTrack::Turntable(table))] {
        app.world_mut().spawn((MovementBase { id: BaseId(id), track }, Collider::cuboid(2.0, 0.1, 2.0)));
    }
}

/// Starts a match with one pawn on the lift and one on the turntable.
fn start_with_riders() -> (Match, [NetId; 2]) {
    let conditions = LinkPreset::named("Average (UE)").expect("a built-in preset").conditions();
    let mut game = start(MatchOptions { players: 2, conditions, ..MatchOptions::default() });
    spawn_bases(&mut game.server);
    for client in &mut game.clients {
        hold_still(client);
        spawn_bases(client);
    }
    game.run(seconds(1.0));
    let places = [Vec3::new(-14.0, 6.0, 14.0), Vec3::new(15.0, 0.8, -14.0)];
    let ids = [0, 1].map(|i| own_id(&mut game.clients[i]));
    for (id, place) in ids.into_iter().zip(places) {
        let world = game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &mut SoldierState)>();
        for (_, mut state) in pawns.iter_mut(world).filter(|(other, _)| **other == id) {
            state.body.teleport_to(place);
        }
    }
    game.run(seconds(2.0));
    (game, ids)
}

#[test]
fn rider_displaced_by_the_server_is_corrected_once_and_stays_on_its_lift() {
    let (mut game, ids) = start_with_riders();
    let before = stats(&mut game.clients[0]).server_changes();
    // Displaces the pawn on the server, on its lift.
    let aside = Vec3::new(0.3, 0.0, -0.2);
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, &mut SoldierState)>();
    for (_, mut state) in pawns.iter_mut(world).filter(|(other, _)| **other == ids[0]) {
        state.body.position += aside;
        state.body.base_position += aside;
    }
    game.run(seconds(0.12 + 0.25));
    let changes = stats(&mut game.clients[0]).server_changes() - before;
    assert_eq!(
        changes,
        1,
        "one displacement on a moving lift must cause one change: {:?}",
        stats(&mut game.clients[0])
    );
    game.run(seconds(3.0));
    let (mine, theirs) = (state(&mut game.clients[0], ids[0]).body, state(&mut game.server, ids[0]).body);
    assert_eq!((mine.base, theirs.base), (BaseId(1), BaseId(1)));
    // The lift's position differs by a round trip; the pawn's position on the lift does not.
    let apart = mine.base_position.distance(theirs.base_position);
    assert!(apart < 0.01, "{apart} m apart on the lift");
    assert_eq!(stats(&mut game.clients[0]).server_changes(), before + 1);
}

#[test]
fn riding_a_lift_or_turntable_causes_no_corrections() {
    let (mut game, ids) = start_with_riders();
    let before = [0, 1].map(|i| stats(&mut game.clients[i]).corrections);
    let mut heights = (f32::MAX, f32::MIN);
    for tick in 0..1_200u32 {
        for (i, client) in game.clients.iter_mut().enumerate() {
            let world = client.world_mut();
            for mut gather in world.query::<&mut InputAccumulator>().iter_mut(world) {
                // A pawn that jumps on a turntable is thrown off, as intended.
                gather.jump(i == 0 && tick % 80 < 4);
                gather.axes(if i == 0 && tick % 160 < 20 { Vec2::Y * 0.5 } else { Vec2::ZERO });
                gather.look(0.05, 0.0);
            }
        }
        game.run(seconds(1.0 / 64.0));
        let height = state(&mut game.clients[0], ids[0]).body.position.y;
        heights = (heights.0.min(height), heights.1.max(height));
    }
    assert!(heights.1 - heights.0 > 4.0, "the pawn did not ride the lift: {heights:?}");
    for (i, id) in ids.into_iter().enumerate() {
        let base = state(&mut game.clients[i], id).body.base;
        assert_eq!(base, BaseId(i as u16 + 1), "client {i} fell off");
        let stats = stats(&mut game.clients[i]);
        assert_eq!(stats.corrections, before[i], "client {i}: {stats:?}");
        let (client, server) = (&game.clients[i], &game.server);
        let [client, server] = [client, server].map(|app| app.world().resource::<CurrentTick>().0);
        let behind = server.since(client);
        assert!((0..40).contains(&behind), "client {i}'s bases are {behind} ticks behind");
    }
}
