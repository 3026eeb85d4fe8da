//! Shots of players whose link goes dark now and then, in both directions: every one must be answered, and owner and
//! server must agree again soon.

use unlag_examples::weapon_set::WeaponSet;

use crate::prelude::*;

/// Lengths of the blackouts, in milliseconds.
const LENGTHS_MS: [u64; 4] = [500, 1_000, 2_000, 4_000];
/// Length after which corrections are measured, in milliseconds.
const CORRECTED_MS: u64 = 2_000;
/// Time from one blackout to the next.
const PERIOD: Duration = Duration::from_secs(20);
/// Time after the end of a blackout in which corrections count as its consequence, in seconds.
const AFTERMATH: f64 = 10.0;

/// A client's shots and corrections.
#[derive(Resource, Default)]
struct ClientRecord {
    /// Answers by shot; a shot that was not answered yet has none.
    shots: HashMap<Tick, Option<ShotResult>>,
    /// Seconds of the match and error in metres of every correction.
    corrections: Vec<(f64, f32)>,
}

fn record(
    time: Res<Time<Real>>,
    arsenal: Res<Arsenal>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut corrections: MessageReader<Correction<Soldier>>,
    mut record: ResMut<ClientRecord>,
) {
    for shot in fired.read() {
        if arsenal.get(shot.round.weapon).is_some_and(|weapon| !weapon.is_beam()) {
            record.shots.entry(shot.round.shot).or_default();
        }
    }
    for verdict in verdicts.read() {
        if let Some(answer) = record.shots.get_mut(&verdict.shot) {
            *answer = Some(verdict.result);
        }
    }
    let now = time.elapsed_secs_f64();
    // A death or respawn is no consequence of the link.
    let own = corrections.read().filter(|correction| correction.cause != CorrectionCause::ServerChange);
    record.corrections.extend(own.map(|correction| (now, correction.error)));
}

/// Sums over the players of a match.
#[derive(Default)]
struct Totals {
    shots: u64,
    unanswered: u64,
    /// Shots that the server did not answer itself.
    missed: u64,
    /// Largest correction in metres, and time from the end of a blackout to the last correction after it.
    largest: f32,
    longest: f64,
}

impl Totals {
    fn add(&mut self, record: &ClientRecord, length: Duration) {
        self.shots += record.shots.len() as u64;
        for answer in record.shots.values() {
            self.unanswered += u64::from(answer.is_none());
            self.missed +=
                u64::from(matches!(answer, None | Some(ShotResult::Refused(ShotRefusal::MissingMove))));
        }
        let (period, dark) = (PERIOD.as_secs_f64(), length.as_secs_f64());
        for (at, error) in &record.corrections {
            // A blackout is the end of its period, so corrections are counted from the start of the next one.
            let after = at % period;
            if *at >= period && after < AFTERMATH {
                self.largest = self.largest.max(*error);
                self.longest = self.longest.max(after);
            } else if period - after < dark {
                self.largest = self.largest.max(*error);
            }
        }
    }
}

fn play(length: Duration, seconds: f64, seed: u64) -> Result<Totals, String> {
    let pulse = Pulse { period: PERIOD, length, latency: Duration::ZERO, loss: 1.0 };
    let conditions = LinkConditions { pulse: Some(pulse), ..preset("Good broadband")?.conditions() };
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let mut game = Match::start(&MatchOptions { players: 4, conditions, seed, server, ..default() })?;
    for client in &mut game.clients {
        client.init_resource::<ClientRecord>().add_systems(Last, record);
    }
    game.set_firing(true);
    game.run(Duration::from_secs_f64(seconds));
    game.set_firing(false);
    // Longer than the flight of a rocket and the wait for a verdict together, and over two blackouts.
    game.run(2 * PERIOD);
    let mut totals = Totals::default();
    game.clients.iter().for_each(|client| totals.add(client.world().resource::<ClientRecord>(), length));
    Ok(totals)
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(40.0, 600.0);
    let of_length = |ms: &u64| play(Duration::from_millis(*ms), seconds, options.seed);
    let played = in_parallel(&LENGTHS_MS, of_length, |_| Ok(()))?;
    let sum = |of: fn(&Totals) -> u64| played.iter().map(of).sum::<u64>();
    let (shots, missed) = (sum(|totals| totals.shots), sum(|totals| totals.missed));
    figures.add_noted(
        "unanswered_shots",
        sum(|totals| totals.unanswered) as f64,
        format!("{shots} shots"),
    )?;
    // Without the client's own answer this many would wait for ever.
    figures.add_noted("control_unanswered_shots", missed as f64, format!("{shots} shots"))?;
    for (ms, totals) in LENGTHS_MS.iter().zip(&played) {
        let (name, note) =
            (format!("missed_shots_blackout_{ms}ms_percent"), format!("{} shots", totals.shots));
        figures.add_noted(name, totals.missed as f64 * 100.0 / totals.shots as f64, note)?;
        if *ms == CORRECTED_MS {
            figures.add("blackout_2s_correction_max_cm", f64::from(totals.largest) * 100.0)?;
            figures.add("blackout_2s_agree_again_s", totals.longest)?;
        }
    }
    Ok(())
}
