//! Displayed ammunition at a round trip of 300 ms and 10 % loss: the counter never flickers.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    prelude::*,
    weapons::{ShotRefusal, ShotResult},
};
use unlag_examples::{
    app::ServerOptions,
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use super::{ClientShotLog, record_shots};
use crate::{hold_still, own_id, seconds, start, state};

/// Displayed magazine and reserve of the client's own weapon, frame by frame without repetitions.
#[derive(Resource, Default)]
struct DisplayedAmmo(Vec<(u16, u16)>);

fn record_displayed_ammo(mut shown: ResMut<DisplayedAmmo>, own: Query<&SoldierState, With<LocalControl>>) {
    for state in &own {
        let hand = state.extension.held_slot();
        let now = (hand.magazine, hand.reserve);
        if shown.0.last() != Some(&now) {
            shown.0.push(now);
        }
    }
}

/// One player with a rifle (30 rounds and 150 in reserve) at a round trip of 300 ms, who stands and fires
/// into the sky.
fn start_range(seed: u64) -> (Match, NetId) {
    let conditions = LinkConditions {
        latency: Duration::from_millis(150),
        jitter: Duration::from_millis(15),
        loss: 0.1,
        ..LinkConditions::PERFECT
    };
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game = start(MatchOptions { players: 1, conditions, seed, server, ..MatchOptions::default() });
    record_shots(&mut game);
    hold_still(&mut game.clients[0]);
    // The script may have switched to another weapon.
    edit_controls(&mut game, |trigger| trigger.equip = Some(0));
    game.run(seconds(3.0));
    game.clients[0].init_resource::<DisplayedAmmo>().add_systems(Last, record_displayed_ammo);
    let id = own_id(&mut game.clients[0]);
    (game, id)
}

fn edit_controls(game: &mut Match, change: impl Fn(&mut WeaponControls)) {
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
    change(&mut own.single_mut(world).expect("a trigger"));
}

fn edit_server_state<R>(game: &mut Match, change: impl FnOnce(&mut SoldierState, &Arsenal) -> R) -> R {
    let world = game.server.world_mut();
    let arsenal = world.resource::<Arsenal>().clone();
    change(&mut world.query::<&mut SoldierState>().single_mut(world).expect("one pawn"), &arsenal)
}

/// Successive changes of the displayed magazine and reserve.
fn changes(game: &Match) -> Vec<(i32, i32)> {
    let shown = &game.clients[0].world().resource::<DisplayedAmmo>().0;
    let by = |pair: &[(u16, u16)]| {
        (i32::from(pair[1].0) - i32::from(pair[0].0), i32::from(pair[1].1) - i32::from(pair[0].1))
    };
    shown.windows(2).map(by).collect()
}

/// Asserts that client and server have the same ammunition.
fn assert_agreed(game: &mut Match, id: NetId) {
    let (here, there) = (state(&mut game.clients[0], id), state(&mut game.server, id));
    assert_eq!(here.extension.slots, there.extension.slots);
}

#[test]
fn displayed_magazine_only_decreases_while_firing_and_increases_once_per_reload() {
    for seed in [1, 2, 3] {
        let (mut game, id) = start_range(seed);
        edit_controls(&mut game, |trigger| trigger.set_fire(true));
        game.run(seconds(2.0));
        // The server's count at this moment: a display of that would lag, or jump back with each
        // acknowledgement.
        let shown = state(&mut game.clients[0], id).extension.held_slot().magazine;
        let known = state(&mut game.server, id).extension.held_slot().magazine;
        assert!(
            known >= shown + 2,
            "{shown} displayed, {known} on the server: the link has too little latency"
        );
        game.run(seconds(4.0));
        edit_controls(&mut game, |trigger| trigger.set_fire(false));
        game.run(seconds(2.0));
        // Reloads the magazine, empty or not.
        edit_controls(&mut game, |trigger| trigger.reload = true);
        game.run(seconds(3.0));
        let changes = changes(&game);
        let ups: Vec<_> = changes.iter().filter(|(magazine, _)| *magazine > 0).collect();
        assert!(changes.iter().filter(|change| **change == (-1, 0)).count() >= 30, "{changes:?}");
        assert!((1..=2).contains(&ups.len()), "seed {seed}: {changes:?}");
        assert!(
            ups.iter().all(|(up, beside)| *up == -beside),
            "the magazine must be filled from the reserve: {ups:?}"
        );
        let odd = changes.iter().filter(|change| change.0 <= 0 && **change != (-1, 0)).count();
        assert_eq!(odd, 0, "seed {seed}: {changes:?}");
        assert_eq!(ups[0].0, 30, "the first reload must fill the whole magazine");
        assert_agreed(&mut game, id);
    }
}

#[test]
fn ammunition_granted_by_the_server_is_displayed_once_during_a_burst() {
    for seed in [4, 5, 6] {
        let (mut game, id) = start_range(seed);
        edit_server_state(&mut game, |state, _| state.extension.slots[0].reserve = 60);
        game.run(seconds(1.0));
        game.clients[0].world_mut().resource_mut::<DisplayedAmmo>().0.clear();
        edit_controls(&mut game, |trigger| trigger.set_fire(true));
        game.run(seconds(0.7));
        let added =
            edit_server_state(&mut game, |state, arsenal| state.extension.add_ammo(arsenal, WeaponId(0), 45));
        assert_eq!(added, 45);
        game.run(seconds(1.2));
        edit_controls(&mut game, |trigger| trigger.set_fire(false));
        game.run(seconds(1.0));
        let changes = changes(&game);
        let (given, fired): (Vec<_>, Vec<_>) = changes.iter().partition(|(_, beside)| *beside != 0);
        assert!(fired.len() >= 12 && fired.iter().all(|(magazine, _)| *magazine == -1), "{changes:?}");
        // It may arrive in the same frame as a shot.
        assert!(matches!(given[..], [(0 | -1, 45)]), "seed {seed}: {changes:?}");
        assert_agreed(&mut game, id);
    }
}

#[test]
fn removed_ammunition_is_corrected_once_and_its_shots_are_refused_as_empty() {
    for seed in [7, 8, 9] {
        let (mut game, id) = start_range(seed);
        edit_controls(&mut game, |trigger| trigger.set_fire(true));
        game.run(seconds(1.0));
        edit_server_state(&mut game, |state, _| {
            let slot = &mut state.extension.slots[0];
            (slot.magazine, slot.reserve) = (0, 0);
        });
        let when = game.server.world().resource::<CurrentTick>().0;
        game.run(seconds(1.5));
        edit_controls(&mut game, |trigger| trigger.set_fire(false));
        game.run(seconds(2.0));
        let changes = changes(&game);
        let odd: Vec<_> = changes.iter().filter(|change| **change != (-1, 0)).collect();
        assert!(matches!(odd[..], [(..=-2, -150)]), "seed {seed}: {changes:?}");
        assert_eq!(game.clients[0].world().resource::<DisplayedAmmo>().0.last(), Some(&(0, 0)));
        assert_agreed(&mut game, id);
        // The shots that the client displayed meanwhile are refused.
        let seen = game.clients[0].world().resource::<ClientShotLog>();
        let refused = ShotResult::Refused(ShotRefusal::Empty);
        let empty = seen.verdicts.values().filter(|all| **all == [refused]).count();
        assert!((3..=9).contains(&empty), "seed {seed}: {empty} shots were refused, since {when:?}");
        assert!(seen.fired.keys().all(|shot| seen.verdicts.contains_key(shot)), "some shots have no verdict");
    }
}
