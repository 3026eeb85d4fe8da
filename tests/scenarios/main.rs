//! End-to-end tests over netcode, on in-process channels with simulated link conditions and on UDP.

// The fuzz targets take their macro from here.
extern crate self as libfuzzer_sys;

mod admin;
mod agreement;
mod bandwidth;
mod bases;
mod budget;
mod captured_log;
mod characters;
mod class_bodies;
mod components;
mod correction;
mod crate_dependencies;
mod determinism;
mod diagnostics;
mod explanations;
mod faults;
mod fire;
mod former_pawn;
mod fuzz_targets;
mod gravity;
mod held_weapon;
mod heroes;
mod incomplete_model;
mod incomplete_setup;
mod incomplete_start;
mod ingress;
mod interest;
mod kart_classes;
mod karts;
mod lightyear_guest;
mod log_lines;
mod messages;
mod misplaced_pawns;
mod net_ids;
mod net_sim;
mod npcs;
mod ownership;
mod parking;
mod passengers;
mod pawn_events;
mod platforms;
mod player_controls;
mod plugin_groups;
mod possession;
mod predicted_values;
mod prelude;
mod pushes;
mod readme;
mod record;
mod reference;
mod reflection;
mod server_clock;
mod session;
mod shooting_range;
mod shot_messages;
mod smoothing;
mod snapshots;
mod spectators;
/// Quantiles, shared with the lab.
#[expect(dead_code, reason = "the lab asks for more")]
#[path = "../../crates/unlag_lab/src/statistics.rs"]
mod statistics;
mod teams;
mod techniques;
mod teleport;
mod time_dilation;
mod tokens;
#[cfg(feature = "web")]
mod transports;
mod udp;
mod weapon_data;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use fuzz_targets::fuzz_target;
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

/// A round trip of 150 ms, 10 ms of jitter and 2 % loss each way.
fn link_150() -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(75),
        jitter: Duration::from_millis(10),
        loss: 0.02,
        ..LinkConditions::PERFECT
    }
}

fn start(options: MatchOptions) -> Match {
    Match::start(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"))
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The network id of the client's own pawn.
fn own_id(client: &mut App) -> NetId {
    let world = client.world_mut();
    *world.query_filtered::<&NetId, With<LocalControl>>().single(world).expect("the client has a pawn")
}

/// The simulated state of a pawn on the given app.
fn state(app: &mut App, id: NetId) -> SoldierState {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &SoldierState)>();
    let found = pawns.iter(world).find(|(other, _)| **other == id);
    *found.unwrap_or_else(|| panic!("{id:?} is not simulated here")).1
}

fn stats(client: &mut App) -> PredictionStats {
    let world = client.world_mut();
    *world
        .query_filtered::<&PredictionStats, With<LocalControl>>()
        .single(world)
        .expect("the client has a pawn")
}

/// Gives the client's pawn neutral input.
fn hold_still(client: &mut App) {
    let world = client.world_mut();
    world.insert_resource(ScriptedPlayer::idle());
    for (mut gather, mut trigger) in
        world.query::<(&mut InputAccumulator, &mut WeaponControls)>().iter_mut(world)
    {
        *gather = InputAccumulator::default();
        trigger.set_fire(false);
    }
}
