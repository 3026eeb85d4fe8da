//! Corrections of players whose link is dark for two seconds, both ways, and the time until owner and server agree
//! again. Each tours the level alone: no contact, no deaths.

use crate::prelude::*;

/// Length of a blackout.
const LENGTH: Duration = Duration::from_secs(2);
/// Time from the end of a blackout to the next one.
const LIGHT: Duration = Duration::from_secs(6);
/// Time after the end of a blackout in which its consequences are looked for, in seconds.
const AFTERMATH: f64 = 4.0;
/// Distance between owner and server after the same move from which they differ, in metres.
const MISMATCH_DISTANCE: f32 = 0.01;

/// Moves as the client first made them, and its corrections, with the second of its clock.
#[derive(Resource, Default)]
struct OwnerRecord {
    moves: Vec<(f64, Tick, Vec3)>,
    corrections: Vec<(f64, f32)>,
}

fn record(
    time: Res<Time<Real>>,
    mut own: Query<&mut MoveTrace, With<LocalControl>>,
    mut corrections: MessageReader<Correction<Soldier>>,
    mut record: ResMut<OwnerRecord>,
) {
    let now = time.elapsed_secs_f64();
    for mut trace in &mut own {
        record.moves.extend(trace.0.drain(..).map(|(tick, place)| (now, tick, place)));
    }
    let own = corrections.read().filter(|correction| correction.cause != CorrectionCause::ServerChange);
    record.corrections.extend(own.map(|correction| (now, correction.error)));
}

/// Consequences of one blackout.
#[derive(Clone, Copy)]
struct Blackout {
    /// Number of corrections, and the largest one in metres.
    corrections: usize,
    largest: f32,
    /// Whether a move differs at all.
    apart: bool,
    /// Seconds from the end of the blackout to the last move that differs.
    agree_again: f64,
}

fn play(blackouts: usize, seed: u64) -> Result<Vec<Blackout>, String> {
    let usual = preset("Good broadband")?.conditions();
    let server = ServerOptions { trace: true, ..default() };
    let mut game = Match::start(&MatchOptions { players: 1, conditions: usual, seed, server, ..default() })?;
    game.clients[0]
        .insert_resource(ScriptedPlayer::touring(seed))
        .init_resource::<OwnerRecord>()
        .add_systems(Last, record);
    game.run(LIGHT);
    let now = |game: &Match| game.clients[0].world().resource::<Time<Real>>().elapsed_secs_f64();
    let mut spans = Vec::new();
    for _ in 0..blackouts {
        let from = now(&game);
        game.set_conditions(LinkConditions { loss: 1.0, ..usual });
        game.run(LENGTH);
        game.set_conditions(usual);
        spans.push((from, now(&game)));
        game.run(LIGHT);
    }
    let (_, id) = own_pawn(&mut game.clients[0])?;
    let ran = bevy_unlag_testkit::traces(&mut game.server).remove(&id).unwrap_or_default();
    let ran: HashMap<Tick, Vec3> = ran.into_iter().collect();
    let record = game.clients[0].world().resource::<OwnerRecord>();
    let differs = |tick: &Tick, place: &Vec3| {
        ran.get(tick).is_none_or(|there| there.distance(*place) >= MISMATCH_DISTANCE)
    };
    Ok(spans.into_iter().map(|(from, to)| consequences(record, from, to, differs)).collect())
}

fn consequences(
    record: &OwnerRecord,
    from: f64,
    to: f64,
    differs: impl Fn(&Tick, &Vec3) -> bool,
) -> Blackout {
    let within = |at: &f64| (from..to + AFTERMATH).contains(at);
    let errors: Vec<f32> =
        record.corrections.iter().filter(|(at, _)| within(at)).map(|(_, error)| *error).collect();
    let last_apart =
        record.moves.iter().rfind(|(at, tick, place)| within(at) && differs(tick, place)).map(|(at, ..)| *at);
    Blackout {
        corrections: errors.len(),
        largest: errors.iter().copied().fold(0.0, f32::max),
        apart: last_apart.is_some(),
        agree_again: last_apart.map_or(0.0, |last| (last - to).max(0.0)),
    }
}

/// Adds the largest correction after a blackout of two seconds, and the longest time from its end until owner and
/// server agree to a centimetre.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let blackouts = options.extent(3, 20);
    let seeds: Vec<u64> = (0..4).map(|player| options.seed.wrapping_mul(31).wrapping_add(player)).collect();
    let played = in_parallel(&seeds, |seed| play(blackouts, *seed), |_| Ok(()))?;
    let all: Vec<Blackout> = played.into_iter().flatten().collect();
    let most = |of: fn(&Blackout) -> f64| all.iter().map(of).fold(0.0, f64::max);
    let corrections: usize = all.iter().map(|blackout| blackout.corrections).sum();
    let (count, note) = (all.len() as u64, format!("blackouts, {corrections} corrections"));
    let largest = most(|blackout| f64::from(blackout.largest) * 100.0);
    figures.add_counted("blackout_2s_correction_max_cm", largest, count, &note)?;
    figures.add_counted("blackout_2s_agree_again_s", most(|blackout| blackout.agree_again), count, note)?;
    // Where the two sides never differed, as while the player pushes against a wall, there was nothing to agree on
    // again.
    let apart = all.iter().filter(|blackout| blackout.apart).count();
    let (percent, note) = (apart as f64 * 100.0 / all.len() as f64, format!("blackouts, {apart} apart"));
    figures.add_counted("control_blackouts_2s_apart_percent", percent, count, note)
}
