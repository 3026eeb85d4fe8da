//! Packets of a spectator, which have no effect on the match.

use bevy_unlag::{
    guard::{IngressRefusal, LinkTraffic},
    net::Received,
    prediction::OutgoingMoves,
};
use unlag_examples::{maps::OperatorText, markers::PlaceMarker};

use super::*;

/// Messages that an app's game has received.
#[derive(Resource, Default)]
struct Heard(usize);

fn hear(mut markers: MessageReader<Received<PlaceMarker>>, mut heard: ResMut<Heard>) {
    heard.0 += markers.read().count();
}

fn place_marker(client: &mut App) {
    let send =
        |own: Query<Entity, (With<NetId>, With<LocalControl>)>, mut outbox: Outbox<PlaceMarker>| match own
            .iter()
            .next()
        {
            Some(pawn) => outbox.send_about(pawn, &PlaceMarker(Vec3::ZERO)),
            None => outbox.send(&PlaceMarker(Vec3::ZERO)),
        };
    client.world_mut().run_system_cached(send).expect("the system runs");
}

#[test]
fn moves_and_messages_of_a_spectator_are_counted_and_change_nothing() {
    let mut game = watched(2, live());
    game.server.init_resource::<Heard>().add_systems(Update, hear);
    let watcher = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    pass(&mut game, 4.0);
    (0..2).for_each(|client| hold_still(&mut game.clients[client]));
    pass(&mut game, 2.0);
    let ids = [own_id(&mut game.clients[0]), own_id(&mut game.clients[1])];
    let before: Vec<_> = ids.iter().map(|id| state(&mut game.server, *id)).collect();

    let packet = vec![0x5a; 40];
    for _ in 0..40 {
        game.clients[watcher].world_mut().spawn(OutgoingMoves(vec![packet.clone()]));
        place_marker(&mut game.clients[watcher]);
        pass(&mut game, 0.1);
    }
    let world = game.server.world_mut();
    let refused = |traffic: &LinkTraffic| traffic.refused.of(IngressRefusal::Spectator);
    let counted: u64 = world.query_filtered::<&LinkTraffic, With<Spectator>>().iter(world).map(refused).sum();
    assert!(counted > 44, "{counted} moves and messages were refused");
    let others =
        world.query_filtered::<&LinkTraffic, Without<Spectator>>().iter(world).map(refused).sum::<u64>();
    assert_eq!(others, 0);
    assert_eq!(world.resource::<Heard>().0, 0);
    let after: Vec<_> = ids.iter().map(|id| state(&mut game.server, *id)).collect();
    for (before, after) in before.iter().zip(&after) {
        assert!(before.body.position.distance(after.body.position) < 1e-3);
    }
    assert!(playback(&game, watcher).is_some_and(Playback::is_live));

    // The control: the server hears a player.
    place_marker(&mut game.clients[1]);
    pass(&mut game, 1.0);
    assert_eq!(game.server.world().resource::<Heard>().0, 1);
}

fn hear_operator(mut texts: MessageReader<Received<OperatorText>>, mut heard: ResMut<Heard>) {
    heard.0 += texts.read().count();
}

#[test]
fn messages_to_everyone_do_not_reach_spectators() {
    let mut game = watched(1, live());
    let watcher = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    for client in &mut game.clients {
        client.init_resource::<Heard>().add_systems(Update, hear_operator);
    }
    pass(&mut game, 1.0);
    let say = |mut outbox: Outbox<OperatorText>| outbox.send(&OperatorText("hello".into()));
    game.server.world_mut().run_system_cached(say).expect("the system runs");
    pass(&mut game, 1.0);
    let heard = [0, watcher].map(|client| game.clients[client].world().resource::<Heard>().0);
    assert_eq!(heard, [1, 0]);
}
