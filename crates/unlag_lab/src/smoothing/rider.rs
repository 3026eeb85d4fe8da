//! Sliding of a pawn that stands on a lift, as drawn on another client.

use bevy_unlag::net::UpdateInterval;

use super::Plan;
use crate::prelude::*;

const BASE: BaseId = BaseId(7);
/// Lowest position of the lift: above all parts of the arena.
const BOTTOM: Vec3 = Vec3::new(0.0, 9.0, 0.0);
/// Travel of the lift in metres.
const RISE: f32 = 6.0;
/// Drop position of the passenger, far from the middle of the lift.
const DROP: Vec3 = Vec3::new(6.0, BOTTOM.y + RISE + 0.5, 0.0);
/// Ticks between two updates: an update rate of 10 Hz lies between these two.
const INTERVALS: [u32; 2] = [6, 7];
/// One-way latency.
const ONE_WAY: Duration = Duration::from_millis(100);
/// Learning time of the clock in seconds.
const LEARNING: f64 = 6.0;

/// Returns a platform that turns at 0.6 rad/s and moves up and down by 6 m in 2 s each way: a passenger moves
/// at up to 5.8 m/s.
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

/// Positions of the passenger relative to the lift, both as drawn on one screen.
#[derive(Resource, Default)]
struct DrawnSeats(Vec<Vec3>);

fn look(
    lifts: Query<(&MovementBase, &Transform)>,
    proxies: Query<(&DrawnPose, &VisualOffset), Without<LocalControl>>,
    mut places: ResMut<DrawnSeats>,
) {
    let (Ok((_, lift)), Ok((drawn, offset))) = (lifts.single(), proxies.single()) else { return };
    let shown = drawn.pose.position + offset.offset;
    places.0.push(lift.rotation.inverse() * (shown - lift.translation));
}

fn release_input(client: &mut App) {
    client.insert_resource(ScriptedPlayer::idle());
    let world = client.world_mut();
    world
        .query::<&mut InputAccumulator>()
        .iter_mut(world)
        .for_each(|mut gather| *gather = InputAccumulator::default());
}

/// Returns the largest distance of the drawn passenger from its place on the lift, in centimetres. With `in_world` the
/// server publishes the passenger in world space, like pawns without a base.
fn measure_slide(interval: u32, in_world: bool, seconds: f64, seed: u64) -> Result<f64, String> {
    let conditions = LinkConditions { latency: ONE_WAY, ..LinkConditions::PERFECT };
    let mut game = Match::start(&MatchOptions { players: 2, conditions, seed, ..default() })?;
    for app in game.apps_mut() {
        app.world_mut().spawn(lift());
    }
    game.clients.iter_mut().for_each(release_input);
    // All apps must have the lift before the passenger lands on it.
    game.run(Duration::from_millis(500));
    let (_, rider) = own_pawn(&mut game.clients[1])?;
    let pawn = named_pawn(&mut game.server, rider)?;
    let world = game.server.world_mut();
    if in_world {
        world.insert_resource(BasePoses::default());
    }
    let mut passenger = world.entity_mut(pawn);
    passenger.get_mut::<SoldierState>().ok_or("the passenger has no state")?.body.teleport_to(DROP);
    passenger.insert(UpdateInterval(interval));
    game.run(Duration::from_secs_f64(LEARNING));

    let seat = |game: &Match| {
        let state = game.server.world().get::<SoldierState>(pawn).map(|state| state.body);
        state.filter(|body| body.base == BASE).map(|body| body.base_position)
    };
    let before = seat(&game).ok_or("the passenger fell off the lift")?;
    game.clients[0].init_resource::<DrawnSeats>().add_systems(Last, look);
    game.run(Duration::from_secs_f64(seconds));
    let after = seat(&game).ok_or("the passenger fell off the lift")?;
    if before != after {
        return Err(format!("the passenger walked from {before} to {after} on the lift"));
    }
    let places = game.clients[0].world_mut().remove_resource::<DrawnSeats>().unwrap_or_default().0;
    let most = places.iter().map(|place| f64::from(place.distance(before))).fold(f64::NAN, f64::max);
    Ok(most * 100.0)
}

/// Adds the sliding of a passenger.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for (key, in_world) in [("rider_slide_cm", false), ("rider_slide_cm_world", true)] {
        let mut most = 0.0_f64;
        for interval in INTERVALS {
            most = most.max(measure_slide(interval, in_world, plan.seconds / 3.0, plan.seeds[0])?);
        }
        figures.add(key, most)?;
    }
    Ok(())
}
