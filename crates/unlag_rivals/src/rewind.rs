//! lightyear's lag compensation against our rewind: the same targets, the same shots.
//!
//! Targets of one box each run to and fro, in straight lines; a shooter sees them 150 ms ago. lightyear's
//! `LagCompensationSpatialQuery` answers on a server with avian's physics that is set up like lightyear's own
//! example, our `RewindQuery` on one with rapier's. Everybody is asked the same shots, the sides alternately; a
//! shot costs the processor's time of the thread, the median of all rounds. Ours includes the ray that looks
//! for a wall in between, lightyear has none.
//!
//! What differs from lightyear's example favours lightyear: its targets have no contacts with each other and never
//! fall asleep. `tuned` are targets that are spawned at the world's origin, which makes avian's tree a better one;
//! `solid` lets rays that start in an envelope hit it there.
//!
//! Recording costs the processor's time of a whole frame of the server, which is one tick, minus that of the same
//! server whose targets move but are not remembered. On lightyear's side that is the history, a new envelope
//! collider for each target, and what avian makes of it: twice as many colliders in its tree. On ours it is the
//! recording of every tick and the making of an update every third.
//!
//! Right is what holds for boxes that are a centimetre larger or smaller, at the very place where they were seen.
//! Nobody turns round, so that there is but one such place: on straight lines all interpolations agree.

mod crowd;
mod oracle;
mod ours;
mod theirs;

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*};
use cpu_time::{ProcessTime, ThreadTime};

use crate::{figures::Figures, measure::quantile, scene::settle};
use crowd::{Crowd, Layout, PERIOD, Ray, Target};
use oracle::{Answer, Truth, Verdict};
use ours::Ours;
use theirs::{Setup, Theirs};

const SEED: u64 = 77;
/// How many there are, and how their figures end.
const CROWDS: [(usize, &str); 2] = [(64, ""), (1_000, "_1000")];
/// Whose shots.
const SIDES: [&str; 3] = ["lightyear_avian", "lightyear_avian_tuned", "ours"];
/// Whose answers.
const JUDGED: [&str; 4] = ["lightyear_avian", "lightyear_avian_tuned", "lightyear_avian_tuned_solid", "ours"];
/// Shots in a round.
const SHOTS: usize = 4_096;

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Rounds of each crowd.
    rounds: [usize; 2],
    /// Crowds of each layout whose answers are judged.
    judged: u64,
}

impl Effort {
    /// Every figure, from little.
    pub const QUICK: Self = Self { rounds: [15, 4], judged: 8 };
    /// Enough.
    pub const FULL: Self = Self { rounds: [61, 15], judged: 50 };
}

/// What the server's shots need and leave.
#[derive(Resource, Default)]
struct Shots {
    /// To be fired when the tick for it comes.
    due: bool,
    rays: Vec<Ray>,
    /// The entities of the targets.
    targets: Vec<Entity>,
    /// For lightyear: what to do with rays that start in something.
    solid: bool,
    hits: Vec<Option<(Entity, f32)>>,
    /// What they all cost, in µs.
    micros: f64,
    /// How often memory was allocated for them.
    #[cfg(test)]
    allocations: u64,
}

impl Shots {
    /// Fires them all.
    fn fire(&mut self, mut shoot: impl FnMut(&Ray) -> Option<(Entity, f32)>) {
        self.hits.clear();
        self.hits.reserve(self.rays.len());
        let mut all = || {
            for ray in &self.rays {
                self.hits.push(shoot(ray));
            }
        };
        let start = ThreadTime::now();
        #[cfg(not(test))]
        all();
        #[cfg(test)]
        let counted = allocation_counter::measure(&mut all);
        self.micros = start.elapsed().as_secs_f64() * 1e6;
        self.due = false;
        #[cfg(test)]
        {
            self.allocations = counted.count_total;
        }
    }
}

/// What a round cost.
#[derive(Clone, Copy, Default, Debug)]
struct Cost {
    /// A shot, in µs.
    shot: f64,
    /// A frame without shots, in µs.
    frame: f64,
}

/// A server.
trait Side {
    fn app(&mut self) -> &mut App;

    /// Runs for a period, in which all shots are fired at one tick.
    ///
    /// # Errors
    /// When they were not.
    fn round(&mut self) -> Result<Cost, String> {
        self.shots().due = true;
        let frames = self.frames();
        let shots = self.shots();
        if shots.due || shots.hits.len() != shots.rays.len() {
            return Err("the shots were not fired".into());
        }
        Ok(Cost {
            shot: shots.micros / shots.rays.len() as f64,
            frame: (frames - shots.micros) / f64::from(PERIOD),
        })
    }

    /// Runs for a period. Returns what that cost, in µs, on whatever thread.
    fn frames(&mut self) -> f64 {
        let start = ProcessTime::now();
        for _ in 0..PERIOD {
            self.app().update();
        }
        start.elapsed().as_secs_f64() * 1e6
    }

    fn shots(&mut self) -> Mut<'_, Shots> {
        self.app().world_mut().resource_mut()
    }

    /// What came of the last round's shots.
    fn answers(&mut self) -> Vec<Answer> {
        let shots = self.shots();
        let number = |entity| shots.targets.iter().position(|target| *target == entity).unwrap_or(usize::MAX);
        shots.hits.iter().map(|hit| hit.map(|(entity, at)| (number(entity), at))).collect()
    }
}

/// To be called when an app has all its plugins.
fn finish(app: &mut App) {
    settle(app);
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// Adds what shots and recording cost, and how often the answers are wrong.
///
/// # Errors
/// When a server does not work.
pub fn add(figures: &mut Figures, effort: Effort) -> Result<(), String> {
    for ((targets, suffix), rounds) in CROWDS.into_iter().zip(effort.rounds) {
        let crowd = Crowd::new(Layout::Scattered, targets, SHOTS, SEED);
        let costs = costs(&crowd, rounds)?;
        let hit = crowd.rays.iter().filter(|ray| Truth::of(ray, &crowd.targets).nearest.is_some()).count();
        let of = format!("{rounds} times {SHOTS} shots, {:.0} % of them hit", percent(hit, SHOTS));
        let [theirs, tuned, ours] = costs.map(|[shot, ..]| shot);
        figures.add(
            format!("lightyear_avian_ratio{suffix}"),
            theirs / ours,
            format!("a shot at one of {targets} targets seen 150 ms ago: lightyear's as it comes over ours"),
        )?;
        figures.add(
            format!("lightyear_avian_tuned_ratio{suffix}"),
            tuned / ours,
            "the same, all of lightyear's targets spawned at the world's origin",
        )?;
        for (side, [shot, recording, frame]) in SIDES.into_iter().zip(costs) {
            figures.add(format!("{side}_shot_us{suffix}"), shot, format!("µs a shot, median of {of}"))?;
            figures.add(
                format!("{side}_record_us{suffix}"),
                recording,
                format!("µs to record a tick of {targets} targets, median; a whole frame has {frame:.1}"),
            )?;
        }
    }
    for layout in Layout::ALL {
        let judged = judged(layout, effort.judged)?;
        let some = |some| percent(some, judged.shots);
        for (side, wrong) in JUDGED.into_iter().zip(judged.wrong) {
            figures.add(
                format!("{side}_wrong_percent_{}", layout.name()),
                some(wrong.all()),
                format!("% of {} shots answered wrongly: {wrong}", judged.shots),
            )?;
        }
        figures.add(
            format!("shots_from_within_percent_{}", layout.name()),
            some(judged.within),
            format!("% of them start in an envelope of lightyear's; {:.1} % hit somebody", some(judged.hit)),
        )?;
    }
    Ok(())
}

fn percent(some: usize, all: usize) -> f64 {
    some as f64 / all as f64 * 100.0
}

/// A shot, recording a tick, and a whole frame, in µs, of each side.
fn costs(crowd: &Crowd, rounds: usize) -> Result<[[f64; 3]; 3], String> {
    let [mut theirs, mut tuned, mut without] =
        [Setup::AsItComes, Setup::Tuned, Setup::Forgetful].map(|setup| Theirs::new(crowd, setup));
    let [mut ours, mut ours_without] = [true, false].map(|remembers| Ours::new(crowd, remembers));
    let mut all = SIDES.map(|_| Vec::new());
    // The first round fills histories, caches and memory.
    for round in 0..=rounds {
        let control = without.frames() / f64::from(PERIOD);
        let our_control = ours_without.frames() / f64::from(PERIOD);
        let sides: [(&mut dyn Side, f64); 3] =
            [(&mut theirs, control), (&mut tuned, control), (&mut ours, our_control)];
        for ((side, without), all) in sides.into_iter().zip(&mut all) {
            let cost = side.round()?;
            if round > 0 {
                all.push([cost.shot, cost.frame - without, cost.frame]);
            }
        }
    }
    Ok(all.map(|all| {
        [0, 1, 2].map(|i| quantile(&mut all.iter().map(|cost: &[f64; 3]| cost[i]).collect::<Vec<_>>(), 0.5))
    }))
}

/// How often which error was made.
#[derive(Clone, Copy, Default, Debug)]
struct Wrong {
    not_the_nearest: usize,
    lost: usize,
    not_there: usize,
}

impl Wrong {
    fn note(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Right => {}
            Verdict::NotTheNearest => self.not_the_nearest += 1,
            Verdict::Lost => self.lost += 1,
            Verdict::NotThere => self.not_there += 1,
        }
    }

    fn all(&self) -> usize {
        self.not_the_nearest + self.lost + self.not_there
    }
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { not_the_nearest, lost, not_there } = self;
        write!(f, "{not_the_nearest} not the nearest, {lost} lost, {not_there} where nobody was")
    }
}

/// What was answered about one layout.
#[derive(Clone, Copy, Default, Debug)]
struct Judged {
    shots: usize,
    /// Shots that hit somebody.
    hit: usize,
    /// Shots from within an envelope.
    within: usize,
    /// By whom; see [`JUDGED`].
    wrong: [Wrong; 4],
}

/// Judges the answers about so many crowds.
fn judged(layout: Layout, crowds: u64) -> Result<Judged, String> {
    let mut judged = Judged::default();
    for seed in 0..crowds {
        let crowd = Crowd::new(layout, CROWDS[0].0, SHOTS / 2, SEED + 1 + seed);
        let [mut theirs, mut tuned] =
            [Setup::AsItComes, Setup::Tuned].map(|setup| Theirs::new(&crowd, setup));
        let mut solid = Theirs::new(&crowd, Setup::Tuned).solid(true);
        let mut ours = Ours::new(&crowd, true);
        let sides: [&mut dyn Side; 4] = [&mut theirs, &mut tuned, &mut solid, &mut ours];
        let truths: Vec<_> = crowd.rays.iter().map(|ray| Truth::of(ray, &crowd.targets)).collect();
        judged.shots += truths.len();
        judged.hit += truths.iter().filter(|truth| truth.nearest.is_some()).count();
        let envelopes: Vec<_> = crowd.targets.iter().map(Target::envelope).collect();
        let within = |ray: &&Ray| {
            let about =
                |(min, max): &(Vec3, Vec3)| ray.origin.cmpge(*min).all() && ray.origin.cmple(*max).all();
            envelopes.iter().any(about)
        };
        judged.within += crowd.rays.iter().filter(within).count();
        for (side, wrong) in sides.into_iter().zip(&mut judged.wrong) {
            side.round()?;
            for ((ray, truth), answer) in crowd.rays.iter().zip(&truths).zip(side.answers()) {
                wrong.note(truth.judge(ray, &crowd.targets, answer));
            }
        }
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use bevy::math::Dir3;

    use super::*;

    fn answers(side: &mut dyn Side) -> Vec<Option<usize>> {
        side.round().expect("shots are fired");
        side.answers().into_iter().map(|answer| answer.map(|(target, _)| target)).collect()
    }

    #[test]
    fn lightyear_takes_who_has_the_nearer_envelope() {
        // Nobody moves, and somebody behind runs up to him.
        let stands = Target::running(Vec3::new(0.0, 0.9, -13.0), Vec3::ZERO);
        let behind = Vec3::new(0.0, 0.9, -13.6);
        let ray = Ray { origin: Vec3::Y * 1.2, direction: Dir3::NEG_Z };
        for (velocity, theirs) in [(Vec3::Z * 6.0, 1), (Vec3::NEG_Z * 0.1, 0)] {
            let crowd = Crowd { targets: vec![stands, Target::running(behind, velocity)], rays: vec![ray] };
            assert_eq!(Truth::of(&ray, &crowd.targets).nearest.map(|(target, _)| target), Some(0));
            assert_eq!(answers(&mut Ours::new(&crowd, true)), [Some(0)]);
            for solid in [false, true] {
                let mut side = Theirs::new(&crowd, Setup::Tuned).solid(solid);
                assert_eq!(answers(&mut side), [Some(theirs)], "{velocity}");
            }
        }
    }

    #[test]
    fn without_a_history_nobody_is_hit() {
        let crowd = Crowd::new(Layout::Scattered, 8, 50, SEED);
        assert!(answers(&mut Ours::new(&crowd, false)).iter().all(Option::is_none));
        assert!(answers(&mut Theirs::new(&crowd, Setup::Forgetful)).iter().all(Option::is_none));
    }

    #[test]
    fn our_shots_allocate_nothing() {
        let crowd = Crowd::new(Layout::Scattered, 64, 500, SEED);
        let allocations = |side: &mut dyn Side| {
            // The first rounds are for everything that grows.
            for _ in 0..3 {
                side.round().expect("shots are fired");
            }
            let shots = side.shots().allocations;
            let frames = allocation_counter::measure(|| _ = side.frames()).count_total;
            (shots, frames as f64 / f64::from(PERIOD))
        };
        let [theirs, theirs_without] =
            [Setup::Tuned, Setup::Forgetful].map(|setup| allocations(&mut Theirs::new(&crowd, setup)));
        let [ours, ours_without] =
            [true, false].map(|remembers| allocations(&mut Ours::new(&crowd, remembers)));
        println!("allocations for 500 shots: lightyear {}, ours {}", theirs.0, ours.0);
        println!("in a frame: lightyear {:.1}, {:.1} without history", theirs.1, theirs_without.1);
        println!("in a frame: ours {:.1}, {:.1} without history", ours.1, ours_without.1);
        assert_eq!((ours.0, ours.1), (0, ours_without.1));
    }
}
