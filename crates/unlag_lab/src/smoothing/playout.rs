//! What jitter, loss and latency do to what is drawn.

use bevy_unlag::{
    core::{KnotConfig, ProxySmoothing, ProxyUpdate},
    net::PRESETS,
};

use super::{
    Plan,
    chart::{Chart, Curve},
    judge::{Spread, Verdict, judge, overshoot, spread},
    link::{Arrival, Jitter, Link, Way},
    perfect::{Every, sent_at, updates},
    stage::{Actor, FPS, Played, play},
    truth::{Path, Truth},
};
use crate::figures::Figures;

/// Seconds in which the clock may learn.
const LEARNING: f64 = 8.0;
/// The ticks between two updates by default.
const DEFAULT: Every = Every::Ticks(3);
/// The conditions of a well-known article on snapshot interpolation: 50 ms and up to 66 more, one
/// packet in twenty lost.
const ARTICLE: Way = Way { jitter: Jitter::Uniform(0.066), loss: 0.05, ..Way::clean(0.05) };

/// Two players on one link, run by run.
struct Watched {
    verdicts: Vec<Verdict>,
    /// Mean delays beyond the fastest packet's latency, in milliseconds.
    delays: Vec<f64>,
    /// How often a clock jumped.
    jumps: u64,
    /// The ages of the first run's pictures beyond the fastest packet's latency: s, ms.
    curve: Vec<(f64, f64)>,
}

impl Watched {
    fn of(&self, number: impl Fn(&Verdict) -> f64) -> Spread {
        spread(self.verdicts.iter().map(number))
    }

    fn pops(&self) -> usize {
        self.verdicts.iter().map(|v| v.pops).sum()
    }

    fn delay(&self) -> Spread {
        spread(self.delays.iter().copied())
    }
}

/// Everybody who is watched, with what is sent of them.
struct Cast {
    truths: [Truth; 2],
    seed: u64,
}

impl Cast {
    fn all(plan: &Plan) -> Result<Vec<Self>, String> {
        let one = |seed: &u64| {
            let truths =
                [Path::StopStart.truth(plan.seconds, *seed)?, Path::Adad.truth(plan.seconds, *seed)?];
            Ok(Self { truths, seed: *seed })
        };
        plan.seeds.iter().map(one).collect()
    }

    fn play(&self, link: &Link, every: Every, plan: &Plan) -> (Played, f64) {
        let sent = self.truths.each_ref().map(|t| updates(t, every, &KnotConfig::default(), false));
        let actors = sent.each_ref().map(|updates| Actor { updates, mode: ProxySmoothing::Hermite });
        let arrivals = on_the_way(link, &sent[0], self.seed);
        let fastest = fastest(&arrivals, &sent[0]);
        (play(&actors, &arrivals, LEARNING, plan.seconds - 1.0), fastest)
    }
}

/// When these updates arrive.
pub fn on_the_way(link: &Link, updates: &[ProxyUpdate], seed: u64) -> Vec<Arrival> {
    link.arrivals(&updates.iter().map(sent_at).collect::<Vec<_>>(), seed)
}

/// The shortest time that one of them took.
fn fastest(arrivals: &[Arrival], updates: &[ProxyUpdate]) -> f64 {
    arrivals.iter().map(|a| a.at - sent_at(&updates[a.packet])).fold(f64::INFINITY, f64::min)
}

fn watch(casts: &[Cast], link: &Link, every: Every, plan: &Plan) -> Watched {
    let mut all = Watched { verdicts: Vec::new(), delays: Vec::new(), jumps: 0, curve: Vec::new() };
    for cast in casts {
        let (played, fastest) = cast.play(link, every, plan);
        for (truth, seen) in cast.truths.iter().zip(&played.seen) {
            let verdict = judge(truth, seen, false);
            all.delays.push((verdict.delay.0 - fastest) * 1_000.0);
            all.verdicts.push(verdict);
        }
        all.jumps += played.jumps;
        if all.curve.is_empty() {
            all.curve = played.ages.iter().map(|(at, age)| (*at, (age - fastest) * 1_000.0)).collect();
        }
    }
    all
}

/// Adds what is known of every link.
///
/// # Errors
/// When nothing could be measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let casts = Cast::all(plan)?;
    let mut speeds = Speeds::default();
    add_article(figures, plan, &casts, &mut speeds)?;
    for hz in [10, 20, 30, 60] {
        let clean = watch(&casts, &Link::Way(Way::clean(0.05)), Every::Hz(hz), plan);
        speeds.take(&clean, &format!("50 ms at {hz} Hz"));
        let goal = 1_000.0 * (1.0 / f64::from(hz) + 1.0 / f64::from(FPS));
        figures.add(
            format!("delay_ms_clean_{hz}hz"),
            clean.delay().mean,
            format!(
                "ms behind the fastest packet, 50 ms without jitter and loss; goal {goal:.1}, a send interval and a \
                 frame; worst {:.1}; {} pops, {:.3} % frozen",
                clean.delay().worst,
                clean.pops(),
                clean.of(|v| v.freeze).worst
            ),
        )?;
    }
    for ms in [0, 50, 100, 150, 200, 250, 300] {
        let late = watch(&casts, &Link::Way(Way::clean(f64::from(ms) / 1_000.0)), Every::Hz(20), plan);
        speeds.take(&late, &format!("{ms} ms at 20 Hz"));
        figures.add(
            format!("freeze_percent_latency_{ms}ms"),
            late.of(|v| v.freeze).worst,
            format!(
                "% of frames frozen, worst of {} runs, {ms} ms one way, no loss, 20 Hz; goal 0; {:.1} ms delay",
                late.verdicts.len(),
                late.delay().mean
            ),
        )?;
    }
    add_presets(figures, plan, &casts, &mut speeds)?;
    speeds.add(figures)?;
    add_stops(figures, plan)
}

fn add_article(
    figures: &mut Figures,
    plan: &Plan,
    casts: &[Cast],
    speeds: &mut Speeds,
) -> Result<(), String> {
    let mut curves = Vec::new();
    for (hz, goal, name) in
        [(10, 265.0, "10 Hz"), (20, 160.0, "20 Hz"), (30, 120.0, "30 Hz"), (60, 75.0, "60 Hz")]
    {
        let watched = watch(casts, &Link::Way(ARTICLE), Every::Hz(hz), plan);
        speeds.take(&watched, &format!("the article's at {name}"));
        let (delay, freeze, rms) = (watched.delay(), watched.of(|v| v.freeze), watched.of(|v| v.rms));
        figures.add(
            format!("delay_ms_article_{hz}hz"),
            delay.mean,
            format!(
                "ms behind the fastest packet, 50 ms + 0 to 66 ms, 5 % loss, mean of {} runs; goal {goal}; worst \
                 {:.1}; RMS {:.3} cm",
                watched.delays.len(),
                delay.worst,
                rms.mean
            ),
        )?;
        let goal = if hz < 20 { "0.45" } else { "0.05" };
        figures.add(
            format!("freeze_percent_article_{hz}hz"),
            freeze.mean,
            format!("% of frames that hardly move when they should; goal {goal}; worst {:.3}", freeze.worst),
        )?;
        figures.add(
            format!("pops_article_{hz}hz"),
            watched.pops() as f64,
            format!(
                "frames that move more than 1.25 of the top speed and 2 cm, all runs together; goal 0; the largest \
                 step is {:.2} cm off the truth's",
                watched.of(|v| v.step_excess).worst
            ),
        )?;
        curves.push(Curve { name, points: watched.curve });
    }
    let Some(folder) = &plan.plot else { return Ok(()) };
    Chart {
        file: "smoothing_delay.svg",
        caption: "Delay beyond the fastest packet, 50 ms + 0 to 66 ms, 5 % loss",
        x: "s",
        y: "ms",
        curves: &curves,
    }
    .draw(folder, false)
}

fn add_presets(
    figures: &mut Figures,
    plan: &Plan,
    casts: &[Cast],
    speeds: &mut Speeds,
) -> Result<(), String> {
    // Nothing arrives.
    for preset in PRESETS.iter().filter(|preset| preset.loss_percent < 100.0) {
        let watched = watch(casts, &Link::Conditions(preset.down()), DEFAULT, plan);
        speeds.take(&watched, preset.name);
        let (name, slug) = (preset.name, slug(preset.name));
        let (excess, freeze, delay) =
            (watched.of(|v| v.step_excess), watched.of(|v| v.freeze), watched.delay());
        figures.add(
            format!("max_step_excess_cm_{slug}"),
            excess.worst,
            format!(
                "cm that a frame's step is off the truth's, largest on {name}; {} pops in {} runs; RMS {:.3} cm",
                watched.pops(),
                watched.verdicts.len(),
                watched.of(|v| v.rms).mean
            ),
        )?;
        figures.add(
            format!("freeze_percent_{slug}"),
            freeze.mean,
            format!("% of frames that hardly move when they should; worst {:.3}", freeze.worst),
        )?;
        figures.add(
            format!("delay_ms_{slug}"),
            delay.mean,
            format!(
                "ms behind the fastest packet; worst {:.1}; the clock jumped {} times",
                delay.worst, watched.jumps
            ),
        )?;
    }
    Ok(())
}

/// A name as it stands in a key.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// How fast the drawn time ran.
#[derive(Default)]
struct Speeds {
    /// The slowest and the fastest, and where.
    slowest: Option<(f64, String)>,
    fastest: Option<(f64, String)>,
    backward: usize,
    frames: usize,
    jumps: u64,
}

impl Speeds {
    /// A clock that jumped over an outage says nothing about its speed.
    fn take(&mut self, watched: &Watched, link: &str) {
        self.jumps += watched.jumps;
        self.backward += watched.verdicts.iter().map(|v| v.backward).sum::<usize>();
        self.frames += watched.verdicts.iter().map(|v| v.frames).sum::<usize>();
        if watched.jumps > 0 {
            return;
        }
        let low = watched.verdicts.iter().map(|v| v.speed.0).fold(f64::INFINITY, f64::min);
        let high = watched.of(|v| v.speed.1).worst;
        if self.slowest.as_ref().is_none_or(|(speed, _)| low < *speed) {
            self.slowest = Some((low, link.to_owned()));
        }
        if self.fastest.as_ref().is_none_or(|(speed, _)| high > *speed) {
            self.fastest = Some((high, link.to_owned()));
        }
    }

    fn add(self, figures: &mut Figures) -> Result<(), String> {
        let (low, slow_link) = self.slowest.unwrap_or((f64::NAN, String::new()));
        let (high, fast_link) = self.fastest.unwrap_or((f64::NAN, String::new()));
        figures.add(
            "time_speed_min",
            low,
            format!(
                "of real time over 100 ms, slowest of all links on which the clock never jumped (it jumped {} times \
                 on the others), on {slow_link}; goal 0.92; {} of {} frames go back in time",
                self.jumps, self.backward, self.frames
            ),
        )?;
        figures.add("time_speed_max", high, format!("the same, fastest, on {fast_link}; goal 1.03"))
    }
}

/// How far modes go beyond where a player stops.
fn add_stops(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let link = Link::Way(Way::clean(0.1));
    for (mode, name) in [(ProxySmoothing::Linear, "linear"), (ProxySmoothing::Hermite, "hermite")] {
        let (mut most, mut stops) = (0.0_f64, 0);
        for seed in &plan.seeds {
            let truth = Path::StopStart.truth(plan.seconds, *seed)?;
            let sent = updates(&truth, Every::Hz(20), &KnotConfig::default(), false);
            let arrivals = on_the_way(&link, &sent, *seed);
            let played = play(&[Actor { updates: &sent, mode }], &arrivals, LEARNING, plan.seconds - 1.0);
            let (beyond, of) = overshoot(&truth, &played.seen[0], false);
            most = most.max(beyond);
            stops += of;
        }
        figures.add(
            format!("stop_overshoot_cm_{name}"),
            most,
            format!("cm beyond where it stops, largest of {stops} stops, 100 ms, 20 Hz; goal 1"),
        )?;
    }
    Ok(())
}
