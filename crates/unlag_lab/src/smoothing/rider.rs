//! Whether somebody who stands on a lift slides on it, as another player's screen shows the two.

use core::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    core::BasePoses,
    movement::{Shuttle, Turntable},
    net::UpdateInterval,
    prelude::*,
};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use super::Plan;
use crate::figures::Figures;

const BASE: BaseId = BaseId(7);
/// Where the lift is lowest: above all that stands in the arena.
const BOTTOM: Vec3 = Vec3::new(0.0, 9.0, 0.0);
/// Metres that it rises.
const RISE: f32 = 6.0;
/// From where the passenger is dropped onto it, far from the middle.
const DROP: Vec3 = Vec3::new(6.0, BOTTOM.y + RISE + 0.5, 0.0);
/// Ticks between two updates: 10 Hz lies between these two.
const INTERVALS: [u32; 2] = [6, 7];
/// Seconds in which the clock may learn.
const LEARNING: f64 = 6.0;

/// A platform that turns by 0.6 rad/s and goes up and down by 6 m in 2 s each: a passenger moves with
/// up to 5.8 m/s.
fn lift() -> (MovementBase, Collider) {
    let shuttle = BaseTrack::Shuttle(Shuttle {
        from: BOTTOM,
        to: BOTTOM + Vec3::Y * RISE,
        travel_seconds: 2.0,
        pause_seconds: 0.0,
        ..default()
    });
    let turntable = BaseTrack::Turntable(Turntable { seconds_per_turn: 10.5, ..default() });
    let track = BaseTrack::Custom(std::sync::Arc::new(move |seconds| Isometry3d {
        rotation: turntable.pose(seconds).rotation,
        ..shuttle.pose(seconds)
    }));
    (MovementBase { id: BASE, track }, Collider::cuboid(8.0, 0.1, 8.0))
}

/// Where on the lift, as a screen shows that, it shows the passenger.
#[derive(Resource, Default)]
struct Places(Vec<Vec3>);

fn look(
    lifts: Query<(&MovementBase, &Transform)>,
    proxies: Query<(&DrawnPose, &VisualOffset), Without<LocalControl>>,
    mut places: ResMut<Places>,
) {
    let (Ok((_, lift)), Ok((drawn, offset))) = (lifts.single(), proxies.single()) else { return };
    let shown = drawn.pose.position + offset.offset;
    places.0.push(lift.rotation.inverse() * (shown - lift.translation));
}

fn hands_off(client: &mut App) {
    client.insert_resource(ScriptedPlayer::idle());
    let world = client.world_mut();
    world
        .query::<&mut InputAccumulator>()
        .iter_mut(world)
        .for_each(|mut gather| *gather = InputAccumulator::default());
}

/// How far the passenger is seen beside its place, at most, in centimetres; and in how many frames.
/// With `in_world` the server tells of it as of everybody else.
fn slide(
    interval: u32,
    one_way: Duration,
    in_world: bool,
    seconds: f64,
    seed: u64,
) -> Result<(f64, usize), String> {
    let conditions = LinkConditions { latency: one_way, ..LinkConditions::PERFECT };
    let mut game = Match::start(&MatchOptions { players: 2, conditions, seed, ..MatchOptions::default() })?;
    for app in game.apps_mut() {
        app.world_mut().spawn(lift());
    }
    game.clients.iter_mut().for_each(hands_off);
    // Everybody has to know the lift before somebody stands on it.
    game.run(Duration::from_millis(500));
    let world = game.clients[1].world_mut();
    let mut own = world.query_filtered::<&NetId, With<LocalControl>>();
    let rider = *own.single(world).map_err(|e| format!("the passenger has no pawn: {e}"))?;
    let world = game.server.world_mut();
    if in_world {
        world.insert_resource(BasePoses::default());
    }
    let mut pawns = world.query::<(Entity, &NetId, &mut SoldierState)>();
    let found = pawns.iter_mut(world).find(|(_, id, _)| **id == rider);
    let (pawn, _, mut state) = found.ok_or("the server has no such passenger")?;
    state.body.teleport_to(DROP);
    world.entity_mut(pawn).insert(UpdateInterval(interval));
    game.run(Duration::from_secs_f64(LEARNING));

    let seat = |game: &Match| {
        let state = game.server.world().get::<SoldierState>(pawn).map(|state| state.body);
        state.filter(|body| body.base == BASE).map(|body| body.base_position)
    };
    let before = seat(&game).ok_or("the passenger fell off the lift")?;
    game.clients[0].init_resource::<Places>().add_systems(Last, look);
    game.run(Duration::from_secs_f64(seconds));
    let after = seat(&game).ok_or("the passenger fell off the lift")?;
    if before != after {
        return Err(format!("the passenger walked from {before} to {after} on the lift"));
    }
    let places = game.clients[0].world_mut().remove_resource::<Places>().unwrap_or_default().0;
    let most = places.iter().map(|place| f64::from(place.distance(before))).fold(f64::NAN, f64::max);
    Ok((most * 100.0, places.len()))
}

/// Adds how far a passenger slides.
///
/// # Errors
/// When nothing could be measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let seconds = plan.seconds / 3.0;
    let worst = |one_way: u64, in_world| -> Result<(f64, usize), String> {
        let one_way = Duration::from_millis(one_way);
        let mut all = (0.0_f64, 0);
        for interval in INTERVALS {
            let (most, frames) = slide(interval, one_way, in_world, seconds, plan.seeds[0])?;
            all = (all.0.max(most), all.1 + frames);
        }
        Ok(all)
    };
    let ((most, frames), (late, _)) = (worst(100, false)?, worst(200, false)?);
    figures.add(
        "rider_slide_cm",
        most,
        format!(
            "cm that a passenger who stands on a lift that turns and rises is drawn beside its place on the lift that \
             the same screen shows, through server and link, largest of {frames} frames, 200 ms of round trip, an \
             update every 6 and every 7 ticks; goal 1; {late:.3} with 200 ms each way"
        ),
    )?;
    let ((most, _), (late, _)) = (worst(100, true)?, worst(200, true)?);
    figures.add(
        "rider_slide_cm_world",
        most,
        format!("the control: sent and drawn in the world; {late:.1} with 200 ms each way"),
    )
}
