//! Reconnect policy: the pawn of a disconnected player stays for the grace time (row F15).

use bevy_unlag::{
    guard::{Kick, Kicked},
    net::{AwaitingReconnect, SessionConfig, SessionOf},
    prediction::TimeDiscrepancy,
    weapons::WeaponState,
};
use unlag_examples::{app::ServerOptions, scripted_player::ScriptedPlayer, weapon_set::WeaponSet};

use super::*;
use crate::{hold_still, own_id, state};

/// The pawn with this network id, and its [`AwaitingReconnect`] component if its player is disconnected.
fn pawn_and_absence(game: &mut Match, id: NetId) -> (Entity, Option<AwaitingReconnect>) {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, Entity, Option<&AwaitingReconnect>)>();
    pawns
        .iter(world)
        .find(|(other, ..)| **other == id)
        .map(|(_, e, a)| (e, a.copied()))
        .expect("the pawn exists")
}

/// Makes the other players hold their fire, lets their shots arrive, and waits until the pawn is alive.
fn hold_fire(game: &mut Match, id: NetId, others: [usize; 2], flight: f64) {
    for other in others {
        game.clients[other].world_mut().resource_mut::<ScriptedPlayer>().may_fire = false;
    }
    game.run(seconds(flight));
    expect_time_until(game, 15.0, |game| state(&mut game.server, id).body.alive);
}

fn set_health(game: &mut Match, pawn: Entity, now: f32) {
    game.server.world_mut().get_mut::<Health>(pawn).expect("its health").current = now;
}

fn set_config(game: &mut Match, set: impl FnOnce(&mut SessionConfig)) {
    set(&mut game.server.world_mut().resource_mut::<SessionConfig>());
}

// Row F15.
#[test]
fn returning_player_regains_its_pawn_within_1_5_s_with_health_and_score() {
    for silent in [true, false] {
        let mut game =
            start_recorded(MatchOptions { players: 3, conditions: average(), ..MatchOptions::default() });
        game.set_firing(true);
        game.run(seconds(4.0));
        let id = own_id(&mut game.clients[0]);
        let (pawn, _) = pawn_and_absence(&mut game, id);
        let shots = state(&mut game.server, id).extension.shots;
        assert!(shots > 5, "only {shots} shots before the disconnect");
        hold_fire(&mut game, id, [1, 2], 0.5);
        set_health(&mut game, pawn, 41.0);
        game.server.world_mut().get_mut::<PlayerScore>(pawn).expect("a score").kills = 77;

        if silent {
            game.power_off(0);
        } else {
            game.disconnect(0);
            game.run(seconds(0.3));
            assert!(
                pawn_and_absence(&mut game, id).1.is_some(),
                "the pawn must wait for its disconnected player"
            );
        }
        game.run(seconds(1.0));
        let (health, damage) =
            (component_of::<Health>(&mut game.server, id), session_log(&game.server).damage);
        let score = component_of::<PlayerScore>(&mut game.server, id);
        assert!(health.current == 41.0 && score.kills >= 77, "{health:?}, {score:?}");
        for other in [1, 2] {
            assert!(
                pawns(&mut game.clients[other]).iter().any(|(seen, _)| *seen == id),
                "the other clients must still have the pawn"
            );
        }
        let moves = component_of::<PredictionStats>(&mut game.server, id).moves;
        game.rejoin(0).expect("a token");
        record_session_events(&mut game.clients[0]);
        let pawn_after = expect_time_until(&mut game, 5.0, |game| own_pawns(&mut game.clients[0]) == 1);
        let input_after = expect_time_until(&mut game, 5.0, |game| {
            component_of::<PredictionStats>(&mut game.server, id).moves > moves
        });
        let control_after =
            pawn_after + input_after + expect_time_until(&mut game, 5.0, |game| game.is_playing(0));
        println!(
            "silent {silent}: a pawn after {pawn_after:.2} s, input {input_after:.2} s later, control after \
             {control_after:.2} s; health {health:?}, {damage} hits before"
        );
        assert!(control_after <= 1.5, "control returned after {control_after} s");
        assert!(input_after <= 0.5, "the first move was run {input_after} s after the pawn was there");

        assert_eq!((own_id(&mut game.clients[0]), pawn_and_absence(&mut game, id)), (id, (pawn, None)));
        assert_eq!(pawns(&mut game.server).len(), 3, "a second pawn was spawned");
        assert_eq!(
            component_of::<Health>(&mut game.server, id),
            health,
            "the health changed while the player was absent"
        );
        assert_eq!(component_of::<PlayerScore>(&mut game.server, id), score);
        assert!(state(&mut game.server, id).extension.shots >= shots, "the shot counter was reset");
        let said = session_log(&game.server);
        assert_eq!((said.joined.len(), said.left.len(), said.expired.len()), (3, 1, 0));
        let [returned] = said.returned[..] else { panic!("{:?}", said.returned) };
        assert_eq!(returned.pawn, pawn);

        // The player moves and fights as before.
        let before = session_log(&game.clients[0]).corrected.len();
        game.fight(5.0);
        let errors = &session_log(&game.clients[0]).corrected[before..];
        assert!(errors.iter().all(|error| *error < 1.0), "the player was corrected by {errors:?} m");
        let report = game.report();
        assert!(report.agreement() >= 95.0, "{}", report.table());
        let account = component_of::<TimeDiscrepancy>(&mut game.server, id);
        assert_eq!(account.detected, 0, "{account:?}");
    }
}

#[test]
fn returning_player_keeps_health_score_ammunition_and_cooldown() {
    /// Ticks until the next shot: longer than the test.
    const COOLDOWN: u16 = 2_000;
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    for silent in [true, false] {
        let options = MatchOptions { players: 3, conditions: average(), server, ..MatchOptions::default() };
        let mut game = start_recorded(options);
        game.set_firing(true);
        game.run(seconds(4.0));
        let id = own_id(&mut game.clients[0]);
        let (pawn, _) = pawn_and_absence(&mut game, id);
        // The longest flight of a rocket through the arena.
        hold_fire(&mut game, id, [1, 2], 2.5);
        let arsenal = game.server.world().resource::<Arsenal>().clone();
        let all: Vec<WeaponId> = arsenal.iter().map(|(weapon, _)| weapon).collect();
        let full = WeaponState::new(&arsenal, &all, 0).slots;
        expect_time_until(&mut game, 60.0, |game| {
            let SoldierState { body, extension: weapons } = state(&mut game.server, id);
            body.alive && !weapons.is_reloading() && weapons.slots != full
        });

        if silent {
            game.power_off(0);
        } else {
            game.disconnect(0);
        }
        game.run(seconds(1.0));
        // A running reload completes meanwhile.
        expect_time_until(&mut game, 5.0, |game| !state(&mut game.server, id).extension.is_reloading());
        set_health(&mut game, pawn, 23.0);
        let world = game.server.world_mut();
        *world.get_mut::<PlayerScore>(pawn).expect("a score") = PlayerScore { kills: 12, deaths: 7 };
        world.get_mut::<SoldierState>(pawn).expect("a state").extension.cooldown = COOLDOWN;
        let before = state(&mut game.server, id).extension;
        assert_ne!(before.slots, full, "the slots must not be full");

        game.rejoin(0).expect("a token");
        // Neutral input: the player itself changes nothing.
        hold_still(&mut game.clients[0]);
        expect_time_until(&mut game, 5.0, |game| game.is_playing(0));
        for _ in 0..2 {
            assert_eq!((own_id(&mut game.clients[0]), pawn_and_absence(&mut game, id).0), (id, pawn));
            let after = state(&mut game.server, id).extension;
            println!("silent {silent}: {:?}, a cooldown of {}", after.slots, after.cooldown);
            assert_eq!((after.slots, after.slot, after.shots), (before.slots, before.slot, before.shots));
            assert!((COOLDOWN / 2..=COOLDOWN).contains(&after.cooldown), "a cooldown of {}", after.cooldown);
            assert_eq!(component_of::<Health>(&mut game.server, id).current, 23.0);
            assert_eq!(
                component_of::<PlayerScore>(&mut game.server, id),
                PlayerScore { kills: 12, deaths: 7 }
            );
            game.run(seconds(1.0));
        }
        // The client has the same values.
        let client = &mut game.clients[0];
        let here = state(client, id).extension;
        assert_eq!((here.slots, here.slot), (before.slots, before.slot));
        assert_eq!(component_of::<Health>(client, id).current, 23.0);
        assert_eq!(component_of::<PlayerScore>(client, id), PlayerScore { kills: 12, deaths: 7 });
    }
}

#[test]
fn pawn_of_a_disconnected_player_stands_still_and_can_be_hit() {
    let mut game = start_recorded(MatchOptions { players: 3, ..MatchOptions::default() });
    let id = own_id(&mut game.clients[0]);
    game.clients[0].world_mut().insert_resource(ScriptedPlayer::touring(3));
    game.run(seconds(3.0));
    assert!(
        state(&mut game.server, id).body.velocity.length() > 1.0,
        "the pawn must run before the disconnect"
    );
    game.power_off(0);
    game.run(seconds(1.5));
    let stood = state(&mut game.server, id).body.position;
    game.run(seconds(3.0));
    let moved = state(&mut game.server, id).body.position.distance(stood);
    assert!(moved < 0.01, "the pawn moved {moved} m");

    let (pawn, absent) = pawn_and_absence(&mut game, id);
    assert!(absent.is_some(), "the link must have timed out");
    let lives = component_of::<Health>(&mut game.server, id).current;
    game.server.world_mut().insert_resource(HitCounter(pawn, 0));
    game.server.add_systems(Last, |mut damage: MessageReader<Damage>, mut hit: ResMut<HitCounter>| {
        let of = hit.0;
        hit.1 += damage.read().filter(|damage| damage.target == of).count();
    });
    game.set_firing(true);
    game.run(seconds(4.0));
    let hits = game.server.world().resource::<HitCounter>().1;
    let (now, deaths) = (
        component_of::<Health>(&mut game.server, id).current,
        component_of::<PlayerScore>(&mut game.server, id).deaths,
    );
    println!("{hits} hits; health {lives} -> {now}, {deaths} deaths");
    assert!(hits > 0 && (now < lives || deaths > 0), "{hits} hits");
    assert_eq!(pawn_and_absence(&mut game, id).0, pawn, "the pawn must stay for the grace time");
}

#[derive(Resource)]
struct HitCounter(Entity, usize);

#[test]
fn pawn_of_an_absent_player_is_removed_after_the_grace_time() {
    let mut game = start_recorded(MatchOptions { players: 2, ..MatchOptions::default() });
    set_config(&mut game, |config| config.grace = seconds(2.0));
    let id = own_id(&mut game.clients[0]);
    let (pawn, _) = pawn_and_absence(&mut game, id);
    game.disconnect(0);
    let gone = expect_time_until(&mut game, 5.0, |game| pawns(&mut game.server).len() == 1);
    assert!((1.9..2.3).contains(&gone), "after {gone} s");
    game.run(seconds(0.5));
    assert_eq!(pawns(&mut game.clients[1]).len(), 1, "the other client must not have the removed pawn");
    let [expired] = session_log(&game.server).expired[..] else {
        panic!("{:?}", session_log(&game.server).expired)
    };
    assert_eq!(expired.pawn, pawn);

    game.rejoin(0).expect("a token");
    expect_time_until(&mut game, 5.0, |game| game.is_playing(0));
    assert_ne!(own_id(&mut game.clients[0]), id, "a late return must get a new pawn");
    let said = session_log(&game.server);
    assert_eq!((said.joined.len(), said.returned.len(), said.expired.len()), (3, 0, 1));
}

#[test]
fn zero_grace_time_removes_the_pawn_at_once_unless_the_game_keeps_it() {
    let mut game = start_recorded(MatchOptions { players: 3, ..MatchOptions::default() });
    set_config(&mut game, |config| config.grace = seconds(0.0));
    let kept = own_id(&mut game.clients[1]);
    game.disconnect(0);
    game.run(seconds(0.2));
    assert_eq!(pawns(&mut game.server).len(), 2);

    game.server.add_observer(|expired: On<SessionExpired>, mut commands: Commands| {
        commands.entity(expired.pawn).remove::<SessionOf>();
    });
    game.disconnect(1);
    game.run(seconds(0.2));
    assert!(pawns(&mut game.server).iter().any(|(id, _)| *id == kept), "the pawn kept by the game must stay");
    assert!(pawn_and_absence(&mut game, kept).1.is_none());
    game.rejoin(1).expect("a token");
    expect_time_until(&mut game, 5.0, |game| game.is_playing(1));
    assert_ne!(own_id(&mut game.clients[1]), kept, "a kept pawn must not be given back");
    assert_eq!(pawns(&mut game.server).len(), 3);
}

#[test]
fn kicked_player_regains_its_pawn_unless_the_game_despawns_it() {
    for stays in [false, true] {
        let mut game = start_recorded(MatchOptions { players: 2, ..MatchOptions::default() });
        if !stays {
            game.server.add_systems(
                Update,
                |mut kicked: MessageReader<Kicked>,
                 pawns: Query<(Entity, &SessionOf)>,
                 mut commands: Commands| {
                    for out in kicked.read() {
                        let of = pawns.iter().filter(|(_, of)| of.0 == out.peer);
                        of.for_each(|(pawn, _)| commands.entity(pawn).despawn());
                    }
                },
            );
        }
        let id = own_id(&mut game.clients[0]);
        let link = session_log(&game.server)
            .joined
            .iter()
            .map(|joined| joined.link)
            .next()
            .expect("a player joined");
        let owner = {
            let world = game.server.world_mut();
            let mut owners = world.query::<(&lightyear::prelude::ControlledBy, &NetId)>();
            owners.iter(world).find(|(owner, _)| owner.owner == link).map(|(_, id)| *id)
        };
        let client = usize::from(owner != Some(id));
        game.server.world_mut().trigger(Kick { entity: link, reason: KickReason::Game(7) });
        game.run(seconds(1.0));
        assert_eq!(session_log(&game.clients[client]).kicked, [KickReason::Game(7)]);
        assert_eq!(pawns(&mut game.server).len(), if stays { 2 } else { 1 });
        let before = owner.expect("the kicked player had a pawn");
        game.rejoin(client).expect("a token");
        expect_time_until(&mut game, 5.0, |game| game.is_playing(client));
        assert_eq!(own_id(&mut game.clients[client]) == before, stays);
        assert_eq!(pawns(&mut game.server).len(), 2);
    }
}

#[test]
fn new_player_does_not_take_over_an_absent_players_pawn() {
    let mut game = start_recorded(MatchOptions { players: 3, ..MatchOptions::default() });
    let id = own_id(&mut game.clients[0]);
    game.disconnect(0);
    game.run(seconds(0.5));
    assert!(pawn_and_absence(&mut game, id).1.is_some());
    let late = game.join().expect("a token");
    expect_time_until(&mut game, 5.0, |game| game.is_playing(late));
    game.run(seconds(1.0));
    for client in [1, 2, late] {
        assert_eq!(own_pawns(&mut game.clients[client]), 1, "client {client}");
        assert_ne!(own_id(&mut game.clients[client]), id);
    }
    assert_eq!(
        pawns(&mut game.clients[late]).len(),
        4,
        "the new client must have the absent player's pawn, too"
    );
}
