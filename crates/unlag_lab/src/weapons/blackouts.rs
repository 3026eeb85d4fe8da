//! Shots of players whose link goes dark now and then, in both directions: every one must be answered.

use unlag_examples::weapon_set::WeaponSet;

use crate::prelude::*;

/// Lengths of the blackouts, in milliseconds.
const LENGTHS_MS: [u64; 4] = [500, 1_000, 2_000, 4_000];
/// Time from one blackout to the next.
const PERIOD: Duration = Duration::from_secs(20);
/// Time without a packet after which a connection ends: with the usual 3 s the longest blackout would end the match.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client's shots.
#[derive(Resource, Default)]
struct ClientRecord {
    /// Second of the match and answer of every shot; one that was not answered yet has none.
    shots: HashMap<Tick, (f64, Option<ShotResult>)>,
}

fn record(
    time: Res<Time<Real>>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut record: ResMut<ClientRecord>,
) {
    for shot in fired.read() {
        record.shots.entry(shot.round.shot).or_insert((time.elapsed_secs_f64(), None));
    }
    for verdict in verdicts.read() {
        if let Some((_, answer)) = record.shots.get_mut(&verdict.shot) {
            *answer = Some(verdict.result);
        }
    }
}

/// Sums over the players of a match.
#[derive(Default)]
struct Totals {
    shots: u64,
    unanswered: u64,
    /// Shots that the server did not answer itself.
    missed: u64,
    /// Shots fired after each blackout and before the next one.
    after: Vec<u64>,
}

impl Totals {
    fn add(&mut self, record: &ClientRecord, length: Duration) {
        self.shots += record.shots.len() as u64;
        let (period, dark) = (PERIOD.as_secs_f64(), length.as_secs_f64());
        for (at, answer) in record.shots.values() {
            self.unanswered += u64::from(answer.is_none());
            self.missed +=
                u64::from(matches!(answer, None | Some(ShotResult::Refused(ShotRefusal::MissingMove))));
            // A blackout is the end of its period.
            let ended = (at / period) as usize;
            if ended > 0 && period - at % period > dark {
                self.after.resize(self.after.len().max(ended), 0);
                self.after[ended - 1] += 1;
            }
        }
    }
}

fn play(length: Duration, seconds: f64, seed: u64) -> Result<Totals, String> {
    let pulse = Pulse { period: PERIOD, length, latency: Duration::ZERO, loss: 1.0 };
    let conditions = LinkConditions { pulse: Some(pulse), ..preset("Good broadband")?.conditions() };
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let mut game =
        Match::start(&MatchOptions { players: 4, conditions, seed, server, timeout: TIMEOUT, ..default() })?;
    for client in &mut game.clients {
        client.init_resource::<ClientRecord>().add_systems(Last, record);
    }
    game.set_firing(true);
    game.run(Duration::from_secs_f64(seconds));
    game.set_firing(false);
    // Longer than the flight of a rocket and the wait for a verdict together, and over two blackouts.
    game.run(2 * PERIOD);
    let blackouts = (seconds / PERIOD.as_secs_f64()) as usize;
    let mut totals = Totals { after: vec![0; blackouts], ..default() };
    game.clients.iter().for_each(|client| totals.add(client.world().resource::<ClientRecord>(), length));
    Ok(totals)
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    // Half a period of fight after the last blackout.
    let seconds = options.extent(50.0, 610.0);
    let of_length = |ms: &u64| play(Duration::from_millis(*ms), seconds, options.seed);
    let played = in_parallel(&LENGTHS_MS, of_length, |_| Ok(()))?;
    let sum = |of: fn(&Totals) -> u64| played.iter().map(of).sum::<u64>();
    let (shots, missed) = (sum(|totals| totals.shots), sum(|totals| totals.missed));
    figures.add_counted("unanswered_shots", sum(|totals| totals.unanswered) as f64, shots, "shots")?;
    // Without the client's own answer this many would wait for ever.
    figures.add_counted("control_unanswered_shots", missed as f64, shots, "shots")?;
    let (mut least, mut blackouts) = (u64::MAX, 0);
    for (ms, totals) in LENGTHS_MS.iter().zip(&played) {
        let after = totals.after.iter().copied().min().unwrap_or(0);
        least = least.min(after);
        blackouts += totals.after.len() as u64;
        let note = format!("shots, {} blackouts, at least {after} shots after each", totals.after.len());
        let name = format!("missed_shots_blackout_{ms}ms_percent");
        let missed = totals.missed as f64 * 100.0 / totals.shots as f64;
        figures.add_counted(name, missed, totals.shots, note)?;
    }
    // Players whose connection has ended fire no shots that could wait for an answer.
    let note = format!("blackouts of four players, {shots} shots");
    figures.add_counted("control_shots_after_blackout_least", least as f64, blackouts, note)
}
