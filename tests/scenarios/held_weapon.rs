//! Held weapons on the owner's, remote and host screens.

use bevy::prelude::*;
use bevy_unlag::{
    core::{DrawnViewTime, Tick},
    link_conditioner::LinkConditions,
    prelude::*,
    weapons::HeldWeapon,
};
use unlag_examples::{
    app::ServerOptions,
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use crate::{hold_still, own_id, seconds, start};

/// A round trip of about 300 ms with the given loss.
fn link_300(loss: f32) -> LinkConditions {
    LinkConditions {
        latency: core::time::Duration::from_millis(145),
        jitter: core::time::Duration::from_millis(10),
        loss,
        ..LinkConditions::PERFECT
    }
}

/// Starts a match of two idle players with all weapons.
fn may_fire(loss: f32, host: bool) -> Match {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let mut played =
        start(MatchOptions { players: 2, conditions: link_300(loss), server, host, ..default() });
    for client in &mut played.clients {
        hold_still(client);
    }
    if host {
        hold_still(&mut played.server);
    }
    played.run(seconds(1.5));
    played
}

fn held(app: &mut App, id: NetId) -> Option<HeldWeapon> {
    let world = app.world_mut();
    world.query::<(&NetId, &HeldWeapon)>().iter(world).find(|(other, _)| **other == id).map(|(_, held)| *held)
}

fn edit_controls(app: &mut App, change: impl FnOnce(&mut WeaponControls)) {
    let world = app.world_mut();
    let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
    change(&mut own.single_mut(world).expect("the app has a pawn"));
}

/// The held weapon of a pawn, frame by frame.
#[derive(Resource)]
struct HeldWeaponLog(NetId, Vec<(Tick, HeldWeapon)>);

fn record_held_weapon(app: &mut App, id: NetId) {
    app.insert_resource(HeldWeaponLog(id, Vec::new()));
    app.add_systems(
        Last,
        |tick: Res<CurrentTick>, pawns: Query<(&NetId, &HeldWeapon)>, mut story: ResMut<HeldWeaponLog>| {
            let wanted = story.0;
            if let Some((_, held)) = pawns.iter().find(|(id, _)| **id == wanted) {
                story.1.push((tick.0, *held));
            }
        },
    );
}

/// The values without consecutive duplicates.
fn without_repeats(story: impl Iterator<Item = HeldWeapon>) -> Vec<HeldWeapon> {
    let mut without_repeats: Vec<_> = story.collect();
    without_repeats.dedup();
    without_repeats
}

/// Switches weapons, aims and reloads for six seconds; each state lasts longer than two replication
/// intervals.
fn play(played: &mut Match, app: fn(&mut Match) -> &mut App, mut look: impl FnMut(&mut Match, u32)) {
    for step in 0..600 {
        let own = app(played);
        match step {
            20 | 300 => edit_controls(own, |t| t.equip = Some(1)),
            120 | 380 => edit_controls(own, |t| t.equip = Some(0)),
            60 | 90 | 200 | 260 | 420 | 470 => edit_controls(own, |t| t.aiming = true),
            80 | 110 | 220 | 290 | 440 | 500 => edit_controls(own, |t| t.aiming = false),
            // Empties a part of the magazine.
            170 | 172 | 520 => edit_controls(own, |t| t.set_fire(true)),
            171 | 190 | 530 => edit_controls(own, |t| t.set_fire(false)),
            230 | 560 => edit_controls(own, |t| t.reload = true),
            _ => {}
        }
        if step % 50 == 25 {
            // The owner receives this change as a correction.
            let world = played.server.world_mut();
            for mut state in world.query::<&mut SoldierState>().iter_mut(world) {
                let reserve = &mut state.extension.slots[1].reserve;
                *reserve = if *reserve == 30 { 20 } else { 30 };
            }
        }
        played.run(seconds(0.01));
        look(played, step);
    }
    played.run(seconds(3.0));
}

#[test]
fn remote_held_weapon_is_shown_at_the_drawn_view_time() {
    let mut played = may_fire(0.02, false);
    let id = own_id(&mut played.clients[0]);
    record_held_weapon(&mut played.server, id);
    record_held_weapon(&mut played.clients[1], id);
    let (mut checked, mut early) = (0u32, 0u32);
    play(
        &mut played,
        |played| &mut played.clients[0],
        |played, step| {
            let Some(drawn) = held(&mut played.clients[1], id) else { return };
            let Some(view) = played.clients[1].world().resource::<DrawnViewTime>().0 else { return };
            if step < 30 {
                return;
            }
            checked += 1;
            let story = &played.server.world().resource::<HeldWeaponLog>().1;
            // Changes are replicated every third tick, and lost ones are retransmitted.
            let recent = |ticks: i32| {
                story.iter().any(|(tick, held)| {
                    let since = view.tick.since(*tick);
                    *held == drawn && (0..=ticks).contains(&since)
                })
            };
            assert!(recent(24), "{drawn:?} at {view:?} is outdated or in the future");
            early += u32::from(recent(4));
        },
    );
    let story =
        |app: &App| without_repeats(app.world().resource::<HeldWeaponLog>().1.iter().map(|(_, held)| *held));
    let (seen, story) = (story(&played.clients[1]), story(&played.server));
    assert_eq!(seen, story, "the remote and the server's sequence of held weapons differ");
    assert!(story.len() > 15, "{} changes", story.len());
    assert!(story.iter().any(|held| held.reloading) && story.iter().any(|held| held.aiming));
    assert!(early * 20 > checked * 19, "{early} of {checked} frames are within four ticks");
    println!("{checked} frames, {early} within four ticks, {} changes", story.len());
}

/// Asserts that the player's own held weapon changes in the frame of its input, and exactly once per input.
fn assert_never_flickers(mut played: Match, app: fn(&mut Match) -> &mut App) -> Match {
    let id = own_id(app(&mut played));
    record_held_weapon(app(&mut played), id);
    let (mut taps, mut late) = (0u32, 0u32);
    let mut aiming = false;
    play(&mut played, app, |played, _| {
        let theirs = held(&mut played.server, id);
        let own = app(played);
        let world = own.world_mut();
        let mut pawns =
            world.query_filtered::<(&HeldWeapon, &SoldierState, &WeaponControls), With<LocalControl>>();
        let (held, state, trigger) = pawns.single(world).expect("the app has a pawn");
        assert_eq!(
            *held,
            HeldWeapon::from(&state.extension),
            "the held weapon must match the state in the same frame"
        );
        taps += u32::from(trigger.aiming != aiming);
        aiming = trigger.aiming;
        late += u32::from(theirs != Some(*held));
    });
    let story =
        without_repeats(app(&mut played).world().resource::<HeldWeaponLog>().1.iter().map(|(_, held)| *held));
    let flips = story.windows(2).filter(|pair| pair[0].aiming != pair[1].aiming).count();
    assert!(taps >= 10 && flips == taps as usize, "{flips} aiming changes after {taps} inputs");
    let switches = story.windows(2).filter(|pair| pair[0].weapon != pair[1].weapon).count();
    assert_eq!(switches, 4, "each weapon must be switched to once: {story:?}");
    println!("{taps} aiming inputs; {late} frames in which the server had another held weapon");
    played
}

#[test]
fn own_held_weapon_never_flickers_under_corrections() {
    let mut played = assert_never_flickers(may_fire(0.1, false), |played| &mut played.clients[0]);
    let stats = crate::stats(&mut played.clients[0]);
    assert!(stats.server_changes() > 5, "too few changes by the server: {stats:?}");
}

#[test]
fn hosts_held_weapon_never_flickers_and_is_replicated() {
    let mut played = assert_never_flickers(may_fire(0.02, true), |played| &mut played.server);
    let id = own_id(&mut played.server);
    let there = held(&mut played.server, id);
    for client in &mut played.clients {
        assert_eq!(held(client, id), there);
    }
    assert!(there.is_some());
}
