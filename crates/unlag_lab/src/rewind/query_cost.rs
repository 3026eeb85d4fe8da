//! Time, allocations and memory of the rewind.

use core::hint::black_box;

use super::test_server::{Shot, TestServer};
use crate::prelude::*;

/// Timings of a set of shots, in microseconds per shot.
struct Timed {
    /// Median over groups of eight shots.
    median: f64,
    /// Median over the rounds of each round's mean.
    mean: f64,
}

/// Times a query at the view time of every shot, for a number of rounds.
fn time(
    stage: &mut TestServer,
    shots: &[Shot],
    rounds: usize,
    ask: impl FnMut(&Rewound, &Shot, usize) -> bool,
) -> Timed {
    time_for(stage, (shots, None), rounds, ask)
}

/// Same as `time`, for shooters that have received only the snapshots in a log.
fn time_for(
    stage: &mut TestServer,
    (shots, sent): (&[Shot], Option<&SentSnapshots>),
    rounds: usize,
    mut ask: impl FnMut(&Rewound, &Shot, usize) -> bool,
) -> Timed {
    stage.ask::<RewindQuery, _>(|query| {
        let mut one = |(index, shot): (usize, &Shot)| {
            let Ok(then) = query.at(RewindTime::View(QueryView { sent, ..QueryView::from(shot.time) }))
            else {
                return;
            };
            let then = then.with_filter(RewindFilter::exclude(shot.shooter));
            black_box(ask(&then, black_box(shot), index));
        };
        let mut eights = Vec::with_capacity(rounds * shots.len() / 8);
        let mut means = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let started = Instant::now();
            shots.iter().enumerate().for_each(&mut one);
            means.push(micros(started) / shots.len().max(1) as f64);
            // A clock read costs some 25 ns, hence groups of eight.
            for (eight, some) in shots.chunks_exact(8).enumerate() {
                let started = Instant::now();
                some.iter().enumerate().for_each(|(i, shot)| one((eight * 8 + i, shot)));
                eights.push(micros(started) / 8.0);
            }
        }
        Timed { median: median(&mut eights), mean: median(&mut means) }
    })
}

/// Returns the log of a client from which every second pawn is hidden.
fn log_with_half_hidden(stage: &mut TestServer) -> SentSnapshots {
    let (mut log, now) = (SentSnapshots::default(), stage.now());
    stage.ask::<Query<(&NetId, &PublishedPath)>, _>(|pawns| {
        for (id, history) in pawns.iter().filter(|(id, _)| id.0 % 2 == 0) {
            history.sent.iter().for_each(|snapshot| log.mark(*id, snapshot.tick));
        }
    });
    log.mark_hidden(now);
    log
}

fn ray(then: &Rewound, shot: &Shot, _: usize) -> bool {
    then.cast_ray(shot.origin, shot.direction, 200.0).is_ok()
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = options.extent(5, 31);
    let mut stage = TestServer::new(64, options.seed);
    let shots = stage.shots(4_096);
    time(&mut stage, &shots, 2, ray);
    let single = time(&mut stage, &shots, rounds, ray);
    figures.add("shot_64_us", single.median)?;
    figures.add("shots_per_s", 1e6 / single.mean)?;
    let log = log_with_half_hidden(&mut stage);
    let hidden = time_for(&mut stage, (&shots, Some(&log)), rounds, ray);
    figures.add("shot_64_hidden_us", hidden.median)?;
    measure_shapes(options, figures, &mut stage, &shots, single.mean, rounds)?;
    measure_moved_colliders(options, figures, &mut stage, &shots, single.mean)?;
    drop(stage);

    figures.add("shot_1000_us", shot_among(1_000, rounds, options.seed))?;
    measure_recording(options, figures)
}

/// Adds the median time of a shot among each of these numbers of players, in microseconds.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add_shots(players: &[usize], options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = options.extent(5, 31);
    let add = |&players: &usize| {
        figures.add(format!("shot_{players}_us"), shot_among(players, rounds, options.seed))
    };
    players.iter().try_for_each(add)
}

fn shot_among(players: usize, rounds: usize, seed: u64) -> f64 {
    let mut stage = TestServer::new(players, seed);
    let shots = stage.shots(4_096);
    time(&mut stage, &shots, 1, ray);
    time(&mut stage, &shots, rounds, ray).median
}

/// Measures shotguns, beams, projectiles and allocations.
fn measure_shapes(
    options: &Options,
    figures: &mut Figures,
    stage: &mut TestServer,
    shots: &[Shot],
    single: f64,
    rounds: usize,
) -> Result<(), String> {
    let mut rng = SmallRng::seed_from_u64(options.seed);
    let spreads: Vec<[Vec3; 12]> = shots
        .iter()
        .map(|shot| {
            core::array::from_fn(|_| {
                let mut off = || rng.random_range(-0.04..0.04);
                (shot.direction + Vec3::new(off(), off(), off())).normalize()
            })
        })
        .collect();
    let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
    let mut shotgun = |then: &Rewound, shot: &Shot, index: usize| {
        then.cast_pellets(shot.origin, &spreads[index], 200.0, &mut posed, &mut pellets);
        !pellets.counts().is_empty()
    };
    time(stage, shots, 1, &mut shotgun);
    let twelve = time(stage, shots, rounds, &mut shotgun);
    figures.add("pellets12_over_ray", twelve.mean / single)?;
    let mut caches = vec![BeamCache::default(); shots.len()];
    let mut beam = |then: &Rewound, shot: &Shot, index: usize| {
        then.cast_beam(shot.origin, shot.direction, 200.0, &mut caches[index]).is_ok()
    };
    time(stage, shots, 1, &mut beam);
    let beams = time(stage, shots, rounds, &mut beam);
    figures.add("beam_over_ray", beams.mean / single)?;
    let rocket = |then: &Rewound, shot: &Shot, _: usize| {
        let velocity = shot.direction * 60.0;
        let path = Ballistic { position: shot.origin, velocity, gravity: Vec3::NEG_Y * 9.81 };
        then.catch_up(0.1, 5.0, |seconds| path.after(seconds).position).is_ok()
    };
    let flight = time(stage, shots, rounds, rocket);
    figures.add("projectile13_us", flight.median)?;
    let mut all = |shots: &[Shot]| {
        let counted = allocation_counter::measure(|| {
            time(stage, shots, 1, ray);
            time(stage, shots, 1, &mut shotgun);
            time(stage, shots, 1, rocket);
        });
        counted.count_total as f64
    };
    let (many, few) = (all(shots), all(&shots[..8]));
    figures.add("allocs_per_shot", (many - few).max(0.0) / (6 * (shots.len() - 8)) as f64)
}

/// Measures the common approach of moving all colliders back, tracing, and restoring them.
fn measure_moved_colliders(
    options: &Options,
    figures: &mut Figures,
    stage: &mut TestServer,
    shots: &[Shot],
    single: f64,
) -> Result<(), String> {
    let rounds = options.extent(1, 5);
    for (key, poses) in [("naive_ratio", MovedPoses::Frames), ("naive_drawn_ratio", MovedPoses::Drawn)] {
        stage.app.insert_resource(RewindBackend::MoveColliders(poses));
        (0..64).for_each(|_| stage.tick());
        let some = stage.shots(shots.len() / 16);
        let moved = time(stage, &some, rounds, ray);
        figures.add(key, moved.mean / single)?;
    }
    stage.app.insert_resource(RewindBackend::Table);
    Ok(())
}

/// Measures the recording of history per tick: 64 players against none.
fn measure_recording(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let ticks = options.extent(500, 4_000);
    let live = |players: usize| {
        let mut stage = None;
        let counted = allocation_counter::measure(|| stage = Some(TestServer::new(players, options.seed)));
        (stage, counted.bytes_current as f64)
    };
    let ((some, bytes_64), (none, _), (twice, bytes_128)) = (live(64), live(0), live(128));
    drop(twice);
    let mut stages = [some, none].into_iter().flatten().collect::<Vec<_>>();
    let mut times = [const { Vec::new() }; 2];
    let mut allocations = [0, 0];
    for tick in 0..ticks + 200 {
        for (i, stage) in stages.iter_mut().enumerate() {
            stage.move_pawns();
            let now = stage.now().offset(1);
            let world = stage.app.world_mut();
            world.resource_mut::<CurrentTick>().0 = now;
            let mut time = 0.0;
            let counted = allocation_counter::measure(|| {
                let started = Instant::now();
                world.run_schedule(FixedPostUpdate);
                time = micros(started);
            });
            stage.send();
            let started = Instant::now();
            stage.app.world_mut().run_schedule(Last);
            time += micros(started);
            if tick >= 200 {
                times[i].push(time);
                allocations[i] += counted.count_total;
            }
        }
    }
    let [with, without] = times.each_mut().map(|times| {
        // Snapshots are sent in every third tick: hence a mean over all ticks, without the slowest 5 %.
        times.sort_by(f64::total_cmp);
        mean(times[..times.len() * 95 / 100].iter().copied())
    });
    figures.add("record_64_us", with - without)?;
    let [with, without] = allocations.map(|count| count as f64);
    figures.add("record_allocs", (with - without).max(0.0) / f64::from(ticks))?;
    // A table that covers 400 ms is a ring of 64 ticks.
    figures.add("bytes_per_player_tick", (bytes_128 - bytes_64) / 64.0 / 26.0)
}
