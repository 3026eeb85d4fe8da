//! Moves of pawns that a client does not own (threat T9 in `book/src/operations/link_protection.md`).

use bevy::prelude::*;
use bevy_unlag::{
    prediction::{AutonomousPawn, SavedMoves},
    prelude::*,
};
use unlag_examples::stepped_match::MatchOptions;

use crate::{hold_still, own_id, seconds, start, state};

// Threat T9.
#[test]
fn client_cannot_move_another_players_pawn() {
    let mut game = start(MatchOptions { players: 2, ..MatchOptions::default() });
    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(1.0));
    let (attacker, victim) = (own_id(&mut game.clients[0]), own_id(&mut game.clients[1]));
    let before = (state(&mut game.server, attacker), state(&mut game.server, victim));

    // The attacker's client takes the victim's proxy for its own pawn and walks.
    let world = game.clients[0].world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let of = |world: &World, pawns: &mut QueryState<(Entity, &NetId)>, id| {
        pawns.iter(world).find(|(_, other)| **other == id).map(|(entity, _)| entity)
    };
    let stolen = of(world, &mut pawns, victim).expect("the attacker has the victim's proxy");
    let own = of(world, &mut pawns, attacker).expect("the attacker has a pawn");
    world.entity_mut(own).remove::<LocalControl>();
    // With its own move history; otherwise the server would refuse the moves for another reason.
    let saved = world.entity_mut(own).take::<SavedMoves<Soldier>>().expect("the attacker has saved moves");
    world.entity_mut(stolen).insert((
        NetRole::AutonomousProxy,
        AutonomousPawn::<Soldier>::default(),
        before.1,
    ));
    world.entity_mut(stolen).insert(saved);
    world.entity_mut(stolen).insert(InputAccumulator::default());
    // In every frame of the client, and so in every tick.
    for _ in 0..1_024 {
        let mut stolen = game.clients[0].world_mut().entity_mut(stolen);
        stolen.get_mut::<InputAccumulator>().expect("inserted above").axes(Vec2::Y);
        game.run(seconds(1.0 / 512.0));
    }
    let after = (state(&mut game.server, attacker), state(&mut game.server, victim));
    let (own_way, victims_way) = (
        before.0.body.position.distance(after.0.body.position),
        before.1.body.position.distance(after.1.body.position),
    );
    assert!(victims_way < 1e-4, "the victim was moved {victims_way} m");
    assert!(own_way > 1.0, "the attacker's moves never arrived: the test shows nothing: {own_way} m");
}
