//! Messages about pawns that a client does not have yet, has no longer, or may not see (threat T30 in
//! `book/src/operations/link_protection.md`).

use bevy_unlag::{
    SoldierBody,
    movement::CapsuleState,
    net::{Bandwidth, MessageClass, MessageLimits, ReplicatedPawn},
    weapons::WeaponState,
};
use lightyear::prelude::VisibilityExt;

use super::*;

/// Spawns a standing pawn without an owner.
pub fn spawn_standing_pawn(game: &mut Game, id: u16) -> Entity {
    let state = SoldierState {
        body: CapsuleState::at(Vec3::new(f32::from(id % 40) - 20.0, 0.9, -6.0)),
        extension: WeaponState::default(),
    };
    let pawn = (ReplicatedPawn, NetId(id), state, SoldierBody);
    game.server.world_mut().spawn(pawn).id()
}

#[test]
fn messages_about_a_pawn_not_yet_replicated_wait_for_it_in_order() {
    let mut waited = 0;
    // Whether a pawn is replicated before its messages depends on timing; in one of the three cases it is
    // later.
    for (conditions, later) in [(LinkConditions::PERFECT, 0), (LinkConditions::PERFECT, 1), (bad_link(), 0)] {
        let mut game = Game::start(2, conditions);
        game.run(later);
        spawn_standing_pawn(&mut game, 101);
        for frame in 0..300 {
            if frame < 40 {
                send_about(&mut game.server, NetId(101), Shout(frame));
                send(&mut game.server, Long::<false>(4 + frame));
            }
            game.run(1);
            waited = waited.max(stats(&game.clients[0]).waiting);
        }
        for client in &game.clients {
            assert!(numbers(client, "Shout").into_iter().eq(0..40));
            assert!(logged(client, "Shout").iter().all(|word| word.about == Some(NetId(101))));
            assert!(numbers(client, "Long<false>").into_iter().eq(4..44));
            let stats = stats(client);
            assert_eq!((stats.waiting, stats.expired), (0, 0));
        }
    }
    assert!(waited > 0, "no message had to wait: the test shows nothing");
}

#[test]
fn message_about_a_pawn_spawned_by_the_same_commands_arrives() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    let begin = |mut commands: Commands, mut outbox: Outbox<Shout>| {
        let state = SoldierState {
            body: CapsuleState::at(Vec3::new(3.0, 0.9, -6.0)),
            extension: WeaponState::default(),
        };
        let pawn = (ReplicatedPawn, NetId(101), state, SoldierBody);
        let pawn = commands.spawn(pawn).id();
        outbox.send_about(pawn, &Shout(5));
    };
    game.server.world_mut().run_system_cached(begin).expect("the system runs");
    game.seconds(1);
    let word = logged(&game.clients[0], "Shout");
    assert_eq!(
        word.iter().map(|word| (word.number, word.about)).collect::<Vec<_>>(),
        [(5, Some(NetId(101)))]
    );
    assert_eq!(stats(&game.server).unsent, 0);
}

#[test]
fn waiting_messages_expire_after_a_while_and_beyond_the_limit() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.clients[0].world_mut().resource_mut::<MessageLimits>().waiting = 3;
    let gone = spawn_standing_pawn(&mut game, 101);
    (0..5).for_each(|number| send_about(&mut game.server, NetId(101), Shout(number)));
    // The messages are sent, and the pawn is despawned before it is replicated.
    game.server.update();
    game.server.world_mut().entity_mut(gone).despawn();
    game.run(10);
    assert_eq!((stats(&game.clients[0]).waiting, stats(&game.clients[0]).expired), (3, 2));
    game.seconds(4);
    assert_eq!(stats(&game.clients[0]).waiting, 3);
    game.seconds(2);
    assert_eq!((stats(&game.clients[0]).waiting, stats(&game.clients[0]).expired), (0, 5));
    // A later pawn with that network id does not get them.
    spawn_standing_pawn(&mut game, 101);
    send_about(&mut game.server, NetId(101), Shout(9));
    game.seconds(1);
    assert_eq!(numbers(&game.clients[0], "Shout"), [9]);
}

// Threat T30.
#[test]
fn messages_about_an_invisible_pawn_are_not_sent() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    let pawn = spawn_standing_pawn(&mut game, 101);
    game.seconds(1);
    let link = game.link(0).expect("the client is connected");
    for retained in [false, true] {
        if retained {
            game.server.world_mut().lose_visibility_retained(pawn, link);
        } else {
            game.server.world_mut().lose_visibility(pawn, link);
        }
        game.seconds(1);
        let bytes = |game: &Game| {
            let bandwidth = game.clients[0].world().resource::<Bandwidth>();
            (bandwidth.of(MessageClass::GameDownlink).bytes, stats(&game.clients[0]).waiting)
        };
        let before = bytes(&game);
        send_about(&mut game.server, NetId(101), Shout(1));
        send_about(&mut game.server, NetId(101), Spark(1));
        game.seconds(1);
        assert_eq!(bytes(&game), before, "not even the bytes may be sent");
        assert!(logged(&game.clients[0], "Shout").is_empty());
        assert_eq!(numbers(&game.clients[1], "Shout").len(), 1 + usize::from(retained));
        game.server.world_mut().gain_visibility(pawn, link);
        game.seconds(1);
    }
    send_about(&mut game.server, NetId(101), Shout(2));
    game.seconds(1);
    assert_eq!(
        numbers(&game.clients[0], "Shout"),
        [2],
        "messages must arrive again when the pawn is visible"
    );
}

#[test]
fn messages_about_a_just_despawned_pawn_are_refused_without_strikes() {
    let mut game = Game::start(1, bad_link());
    game.seconds(4);
    let own = game.pawn(Some(0));
    let pawn = entity(&mut game.server, own);
    game.server.world_mut().entity_mut(pawn).despawn();
    for number in 0..5 {
        send_about(&mut game.clients[0], own, Say(number));
        game.run(1);
    }
    game.seconds(3);
    assert!(logged(&game.server, "Say").is_empty());
    assert_eq!(game.refused(0, IngressRefusal::UnknownPawn), 5);
    assert_eq!(game.traffic(0).strikes, 0.0);
}
