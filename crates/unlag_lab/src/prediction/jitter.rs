//! Effect of uplink jitter on the remote pawn: the same inputs with and without it.

use super::tick_script::{self, TickScript};
use crate::prelude::*;

/// One-way latency in each direction.
const LATENCY: Duration = Duration::from_millis(40);
/// Ticks in which the server adapts to the link's jitter.
const LEARNING: i32 = 5 * 64;

/// Frames drawn by the watcher: the view time and the position.
#[derive(Resource, Default)]
struct DrawnFrames(Vec<(ViewTime, Vec3)>);

/// Server's record of the pawn: the delay of its moves per tick.
#[derive(Resource, Default)]
struct MoveDelays(Vec<(Tick, i32)>);

struct Run {
    screen: DrawnFrames,
    delays: MoveDelays,
    /// Server tick at which the uplink changed.
    began: Tick,
}

impl Run {
    /// Returns the drawn positions over the server's time, in ticks since `zero`.
    fn drawn(&self, zero: Tick) -> Vec<(f64, Vec3)> {
        let frames = self.screen.0.iter();
        frames.map(|(time, place)| (f64::from(time.ticks_since(zero)), *place)).collect()
    }

    /// Returns the median delay of moves after the learning time.
    fn delay(&self) -> Result<i32, String> {
        let learnt = self.began.offset(LEARNING);
        let after = self.delays.0.iter().filter(|(tick, _)| tick.is_newer_than(learnt));
        let mut delays: Vec<i32> = after.map(|(_, delay)| *delay).collect();
        delays.sort_unstable();
        delays.get(delays.len() / 2).copied().ok_or_else(|| "the server ran no move".to_owned())
    }
}

/// Plays the same inputs twice, with and without uplink jitter. Returns the distance between the drawn pawns at equal
/// server times, in centimetres over seconds.
///
/// # Errors
/// Returns a message if a client cannot join or the pawn was never drawn.
pub fn measure(jitter: Duration, seconds: f64, seed: u64) -> Result<Vec<(f64, f64)>, String> {
    let rough = play(LATENCY, jitter, seconds, seed)?;
    // The calm link gets additional latency, so that the server waits equally long: snapshots then contain
    // the same moves, and the remaining difference is due to jitter.
    let before = rough.delays.0.iter().take_while(|(tick, _)| !tick.is_newer_than(rough.began));
    let before = before.last().map_or(0, |(_, delay)| *delay);
    let late = rough.delay()?;
    let slower = TICK * (late - before).max(0).cast_unsigned();
    let calm = play(LATENCY + slower, Duration::ZERO, seconds, seed)?;

    // One timeline equals the other one shifted by a fixed number of ticks.
    let zero = rough.began.offset(LEARNING);
    let (calm, rough) = (calm.drawn(zero.offset(calm.delay()? - late)), rough.drawn(zero));
    let common = rough.iter().filter(|(at, _)| *at >= 0.0);
    let curve: Vec<_> = common
        .filter_map(|(at, place)| Some((at / 64.0, f64::from(place.distance(place_at(&calm, *at)?)) * 100.0)))
        .collect();
    if curve.is_empty() { Err("the two runs have no common time".to_owned()) } else { Ok(curve) }
}

/// Interpolates linearly between two frames.
fn place_at(frames: &[(f64, Vec3)], at: f64) -> Option<Vec3> {
    let next = frames.partition_point(|(other, _)| *other < at);
    let ((t0, a), (t1, b)) = (frames.get(next.checked_sub(1)?)?, frames.get(next)?);
    let part = if t1 > t0 { (at - t0) / (t1 - t0) } else { 0.0 };
    Some(a.lerp(*b, part as f32))
}

fn play(up: Duration, jitter: Duration, seconds: f64, seed: u64) -> Result<Run, String> {
    let conditions = LinkConditions { latency: LATENCY, ..LinkConditions::PERFECT };
    let options = MatchOptions { players: 2, conditions, seed, ..default() };
    let mut played = Match::start(&options)?;
    let [owner, watcher] = &mut played.clients[..] else { return Err("two clients did not join".to_owned()) };
    tick_script::take_over(owner, TickScript(seed as u32 & 0xff));
    let (_, id) = own_pawn(owner)?;
    watcher.insert_resource(ScriptedPlayer::idle()).init_resource::<DrawnFrames>().add_systems(
        Last,
        move |proxies: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
              mut screen: ResMut<DrawnFrames>| {
            let Some((_, drawn)) = proxies.iter().find(|(proxy, _)| **proxy == id) else { return };
            if let ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. } = drawn.stamp {
                screen.0.push((time, drawn.pose.position));
            }
        },
    );
    played.server.init_resource::<MoveDelays>().add_systems(
        FixedLast,
        move |tick: Res<CurrentTick>,
              pawns: Query<(&NetId, &PredictionStats), With<MoveQueue<Soldier>>>,
              mut delays: ResMut<MoveDelays>| {
            if let Some((_, stats)) = pawns.iter().find(|(pawn, _)| **pawn == id) {
                delays.0.push((tick.0, stats.delay));
            }
        },
    );
    played.run(Duration::from_secs(1));
    let began = played.server.world().resource::<CurrentTick>().0;
    let owner = played.clients[0].world_mut();
    for mut sim in owner.query::<&mut NetSim>().iter_mut(owner) {
        (sim.up.latency, sim.up.jitter) = (up, jitter);
    }
    played.run(Duration::from_secs_f64(f64::from(LEARNING) / 64.0 + seconds));

    let screen = played.clients[1].world_mut().remove_resource::<DrawnFrames>().unwrap_or_default();
    let delays = played.server.world_mut().remove_resource::<MoveDelays>().unwrap_or_default();
    Ok(Run { screen, delays, began })
}
