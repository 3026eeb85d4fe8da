//! Effect of uplink jitter on the remote pawn: the same inputs with and without it.

use super::tick_script::{self, TickScript};
use crate::prelude::*;

/// One-way latency in each direction.
const LATENCY: Duration = Duration::from_millis(40);
/// Ticks in which the server adapts to the link's jitter.
const LEARNING: i32 = 5 * 64;

/// Differences between the two runs; distances in centimetres.
pub struct JitterEffect {
    /// Distance between the drawn pawns at equal server times: maximum and mean.
    pub drawn: (f64, f64),
    /// Largest distance between the drawn pawns at equal times of the owner, regardless of how the server
    /// shifts the owner's timeline.
    pub path: f64,
    /// Ticks by which the jitter delays the owner's timeline.
    pub added_ticks: i32,
    /// Number of changes of that delay after the learning time.
    pub changes: usize,
    /// Compared frames.
    pub frames: usize,
    /// Largest difference between the server's states after the same move: 0 if the inputs are equal.
    pub inputs: f64,
    /// Distance between the drawn pawns over time, in seconds and centimetres.
    pub curve: Vec<(f64, f64)>,
}

/// Frames drawn by the watcher: the two snapshots, the view time, and the position.
#[derive(Resource, Default)]
struct DrawnFrames(Vec<(Tick, Tick, ViewTime, Vec3)>);

/// Server's record of the pawn: the owner's move that each server tick published, and the delay of moves per
/// tick.
#[derive(Resource, Default)]
struct ServerRecord {
    shown: HashMap<Tick, Tick>,
    delays: Vec<(Tick, i32)>,
}

struct Run {
    screen: DrawnFrames,
    stage: ServerRecord,
    /// Position of the owner after each of its moves.
    moves: HashMap<Tick, Vec3>,
    /// Server tick at which the uplink changed.
    began: Tick,
}

impl Run {
    /// Returns the drawn positions over the server's time, in ticks since `zero`.
    fn drawn(&self, zero: Tick) -> Vec<(f64, Vec3)> {
        let frames = self.screen.0.iter();
        frames.map(|(_, _, time, place)| (f64::from(time.ticks_since(zero)), *place)).collect()
    }

    /// Returns the drawn positions over the owner's time, in ticks since `zero`.
    fn drawn_of_owner(&self, zero: Tick) -> Vec<(f64, Vec3)> {
        let frames = self.screen.0.iter();
        let in_time = frames.filter_map(|(from, to, time, place)| {
            let [a, b] = [from, to].map(|tick| self.stage.shown.get(tick));
            let part = f64::from(time.ticks_since(*from)) / f64::from(to.since(*from));
            let [a, b] = [a?, b?].map(|tick| f64::from(tick.since(zero)));
            Some((a + (b - a) * part, *place))
        });
        in_time.filter(|(at, _)| at.is_finite()).collect()
    }

    /// Returns the delays of moves after the learning time.
    fn delays(&self) -> Vec<i32> {
        let learnt = self.began.offset(LEARNING);
        let after = self.stage.delays.iter().filter(|(tick, _)| tick.is_newer_than(learnt));
        after.map(|(_, delay)| *delay).collect()
    }
}

/// Plays the same inputs twice, with and without uplink jitter.
///
/// # Errors
/// Returns a message if a client cannot join or the pawn was never drawn.
pub fn measure(jitter: Duration, seconds: f64, seed: u64) -> Result<JitterEffect, String> {
    let middle = |mut delays: Vec<i32>| {
        delays.sort_unstable();
        delays.get(delays.len() / 2).copied().ok_or("the server ran no move")
    };
    let rough = play(LATENCY, jitter, seconds, seed)?;
    // The calm link gets additional latency, so that the server waits equally long: snapshots then contain
    // the same moves, and the remaining difference is due to jitter.
    let before = rough.stage.delays.iter().take_while(|(tick, _)| !tick.is_newer_than(rough.began));
    let before = before.last().map_or(0, |(_, delay)| *delay);
    let slower = TICK * (middle(rough.delays())? - before).max(0).cast_unsigned();
    let calm = play(LATENCY + slower, Duration::ZERO, seconds, seed)?;
    let changes = rough.delays().windows(2).filter(|pair| pair[0] != pair[1]).count();
    let (late, usual) = (middle(rough.delays())?, middle(calm.delays())?);
    let offset = late - usual;

    // One timeline equals the other one shifted by a fixed number of ticks.
    let zero = rough.began.offset(LEARNING);
    let (calm_drawn, rough_drawn) = (calm.drawn(zero.offset(-offset)), rough.drawn(zero));
    let (curve, most, mean) = apart(&rough_drawn, &calm_drawn)?;
    let zero = zero.offset(-late);
    let (calm_drawn, rough_drawn) = (calm.drawn_of_owner(zero), rough.drawn_of_owner(zero));
    let (_, path, _) = apart(&rough_drawn, &calm_drawn)?;

    let inputs = rough
        .moves
        .iter()
        .filter_map(|(tick, place)| Some(place.distance(*calm.moves.get(tick)?)))
        .fold(0.0, f32::max);
    Ok(JitterEffect {
        drawn: (most, mean),
        path,
        added_ticks: late - before,
        changes,
        frames: curve.len(),
        inputs: f64::from(inputs) * 100.0,
        curve,
    })
}

/// Compares two curves from tick 0 on: returns the distances over seconds, their maximum and their mean, in
/// centimetres.
fn apart(rough: &[(f64, Vec3)], calm: &[(f64, Vec3)]) -> Result<(Vec<(f64, f64)>, f64, f64), String> {
    let common = rough.iter().filter(|(at, _)| *at >= 0.0);
    let curve: Vec<_> = common
        .filter_map(|(at, place)| Some((at / 64.0, f64::from(place.distance(place_at(calm, *at)?)) * 100.0)))
        .collect();
    if curve.is_empty() {
        return Err("the two runs have no common time".to_owned());
    }
    let most = curve.iter().map(|point| point.1).fold(0.0, f64::max);
    let mean = mean(curve.iter().map(|point| point.1));
    Ok((curve, most, mean))
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
    let options = MatchOptions { players: 2, conditions, seed, ..MatchOptions::default() };
    let mut played = Match::start(&options)?;
    let [owner, watcher] = &mut played.clients[..] else { return Err("two clients did not join".to_owned()) };
    tick_script::take_over(owner, TickScript(seed as u32 & 0xff));
    let (pawn, id) = own_pawn(owner)?;
    owner.world_mut().entity_mut(pawn).insert(MoveTrace::default());
    watcher.insert_resource(ScriptedPlayer::idle()).init_resource::<DrawnFrames>().add_systems(
        Last,
        move |proxies: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
              mut screen: ResMut<DrawnFrames>| {
            let Some((_, drawn)) = proxies.iter().find(|(proxy, _)| **proxy == id) else { return };
            let (from, to, time) = match drawn.stamp {
                ViewStamp::Interpolated { from, to, time } => (from, to, time),
                ViewStamp::Extrapolated { from, time } => (from, from.offset(1), time),
                ViewStamp::Present => return,
            };
            screen.0.push((from, to, time, drawn.pose.position));
        },
    );
    played.server.init_resource::<ServerRecord>().add_systems(
        FixedLast,
        move |tick: Res<CurrentTick>,
              pawns: Query<(&NetId, &PublishedState<Soldier>, &MoveQueue<Soldier>, &PredictionStats)>,
              mut stage: ResMut<ServerRecord>| {
            let Some((_, shown, queue, stats)) = pawns.iter().find(|(pawn, ..)| **pawn == id) else { return };
            if let Some(last_run) = queue.last_run() {
                stage.shown.insert(shown.tick, last_run);
            }
            stage.delays.push((tick.0, stats.delay));
        },
    );
    played.run(Duration::from_secs(1));
    let began = played.server.world().resource::<CurrentTick>().0;
    let owner = played.clients[0].world_mut();
    for mut sim in owner.query::<&mut NetSim>().iter_mut(owner) {
        (sim.up.latency, sim.up.jitter) = (up, jitter);
    }
    played.run(Duration::from_secs_f64(f64::from(LEARNING) / 64.0 + seconds));

    let owner = played.clients[0].world_mut();
    let trace = owner.entity_mut(pawn).take::<MoveTrace>();
    let moves = trace.map(|trace| trace.0.into_iter().collect()).unwrap_or_default();
    let screen = played.clients[1].world_mut().remove_resource::<DrawnFrames>().unwrap_or_default();
    let stage = played.server.world_mut().remove_resource::<ServerRecord>().unwrap_or_default();
    Ok(Run { screen, stage, moves, began })
}
