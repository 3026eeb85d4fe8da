//! `bevy_unlag`'s rewind against lightyear's lag compensation: the same targets, the same shots.
//!
//! Targets of one box each run back and forth in straight lines; a shooter sees them as they were 150 ms ago.
//! lightyear's `LagCompensationSpatialQuery` runs on a server with avian's physics, set up like lightyear's
//! own example; our `RewindQuery` runs on one with rapier's physics. All sides trace the same shots in turn.
//! The cost of a shot is the processor time of the thread, median of all rounds. Ours includes the ray that
//! tests for a wall in between, lightyear has none.
//!
//! The differences to lightyear's example favour lightyear: its targets have no contacts with each other and
//! never fall asleep. In the `tuned` setup targets are spawned at the world's origin, which improves avian's
//! tree; with `solid`, rays that start in an envelope hit it there.
//!
//! The cost of recording is the processor time of a whole server frame, which is one tick, minus that of the
//! same server whose targets move but have no history. On lightyear's side it covers the history, a new
//! envelope collider per target, and avian's work on it: twice as many colliders in its tree. On our side it
//! covers the recording of every tick and the creation of an update in every third.
//!
//! An answer is correct if it holds for boxes that are a centimetre larger or smaller, at the exact position
//! where they were seen. No target turns round within the history, so that this position is unique: on
//! straight lines all interpolations agree.

mod lightyear_side;
mod oracle;
mod targets;
mod unlag_side;

use bevy::prelude::*;
use cpu_time::{ProcessTime, ThreadTime};

use crate::{figures::Figures, statistics::median};
use lightyear_side::{LightyearSide, Setup};
use oracle::{Answer, AnswerCheck, Truth};
use targets::{Layout, PERIOD, Ray, Target, TargetScene};
use unlag_side::UnlagSide;

const SEED: u64 = 77;
/// Numbers of targets, and the suffixes of their JSON keys.
const CROWDS: [(usize, &str); 2] = [(64, ""), (1_000, "_1000")];
/// Sides whose costs are measured.
const SIDES: [&str; 3] = ["lightyear_avian", "lightyear_avian_tuned", "ours"];
/// Sides whose answers are checked.
const CHECKED_SIDES: [&str; 4] =
    ["lightyear_avian", "lightyear_avian_tuned", "lightyear_avian_tuned_solid", "ours"];
/// Shots per round.
const SHOTS: usize = 4_096;

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Rounds for each number of targets.
    rounds: [usize; 2],
    /// Crowds per layout whose answers are checked.
    judged: u64,
}

impl Effort {
    /// Every figure from little data.
    pub const QUICK: Self = Self { rounds: [15, 4], judged: 8 };
    /// The full measurement.
    pub const FULL: Self = Self { rounds: [61, 15], judged: 50 };
}

/// Input and output of a server's shots.
#[derive(Resource, Default)]
struct Shots {
    /// Whether the shots are to be fired at the next tick of the period.
    due: bool,
    rays: Vec<Ray>,
    /// Entities of the targets.
    targets: Vec<Entity>,
    /// For lightyear: whether rays that start in an envelope hit it there.
    solid: bool,
    hits: Vec<Option<(Entity, f32)>>,
    /// Cost of all shots in µs.
    micros: f64,
    /// Heap allocations of all shots.
    #[cfg(test)]
    allocations: u64,
}

impl Shots {
    /// Fires all shots and measures them.
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

/// Costs of a round.
#[derive(Clone, Copy, Default, Debug)]
struct Cost {
    /// µs per shot.
    shot: f64,
    /// µs per frame without shots.
    frame: f64,
}

/// Server with targets.
trait Side {
    fn app(&mut self) -> &mut App;

    /// Runs a period, in one tick of which all shots are fired.
    ///
    /// # Errors
    /// Returns a message if they were not fired.
    fn round(&mut self) -> Result<Cost, String> {
        self.shots().due = true;
        let frames = self.frames();
        let shots = self.shots();
        if shots.due || shots.hits.len() != shots.rays.len() {
            return Err("the server did not fire the shots".into());
        }
        Ok(Cost {
            shot: shots.micros / shots.rays.len() as f64,
            frame: (frames - shots.micros) / f64::from(PERIOD),
        })
    }

    /// Runs a period. Returns its processor time on all threads in µs.
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

    /// Returns the answers to the last round's shots.
    fn answers(&mut self) -> Vec<Answer> {
        let shots = self.shots();
        let number = |entity| shots.targets.iter().position(|target| *target == entity).unwrap_or(usize::MAX);
        shots.hits.iter().map(|hit| hit.map(|(entity, at)| (number(entity), at))).collect()
    }
}

/// Adds the costs of shots and recording, and the rates of wrong answers.
///
/// # Errors
/// Returns a message if a server does not fire its shots.
pub fn add(figures: &mut Figures, effort: Effort) -> Result<(), String> {
    for ((targets, suffix), rounds) in CROWDS.into_iter().zip(effort.rounds) {
        let costs = costs(&TargetScene::new(Layout::Scattered, targets, SHOTS, SEED), rounds)?;
        let [theirs, tuned, ours] = costs.map(|[shot, ..]| shot);
        figures.add(format!("lightyear_avian_ratio{suffix}"), theirs / ours)?;
        figures.add(format!("lightyear_avian_tuned_ratio{suffix}"), tuned / ours)?;
        for (side, [shot, recording]) in SIDES.into_iter().zip(costs) {
            figures.add(format!("{side}_shot_us{suffix}"), shot)?;
            figures.add(format!("{side}_record_us{suffix}"), recording)?;
        }
    }
    for (layout, name) in Layout::ALL {
        let checked = checked(layout, effort.judged)?;
        for (side, wrong) in CHECKED_SIDES.into_iter().zip(checked.wrong) {
            let key = format!("{side}_wrong_percent_{name}");
            figures.add_noted(key, percent(wrong, checked.shots), format!("of {} shots", checked.shots))?;
        }
        let within = percent(checked.within, checked.shots);
        figures.add(format!("shots_from_within_percent_{name}"), within)?;
    }
    Ok(())
}

fn percent(some: usize, all: usize) -> f64 {
    some as f64 / all as f64 * 100.0
}

/// Returns the costs of a shot and of recording a tick in µs, for each side.
fn costs(crowd: &TargetScene, rounds: usize) -> Result<[[f64; 2]; 3], String> {
    let [mut theirs, mut tuned, mut without] =
        [Setup::AsItComes, Setup::Tuned, Setup::WithoutHistory].map(|setup| LightyearSide::new(crowd, setup));
    let [mut ours, mut ours_without] = [true, false].map(|remembers| UnlagSide::new(crowd, remembers));
    let mut all = SIDES.map(|_| Vec::new());
    // The first round fills histories and caches.
    for round in 0..=rounds {
        let control = without.frames() / f64::from(PERIOD);
        let our_control = ours_without.frames() / f64::from(PERIOD);
        let sides: [(&mut dyn Side, f64); 3] =
            [(&mut theirs, control), (&mut tuned, control), (&mut ours, our_control)];
        for ((side, without), all) in sides.into_iter().zip(&mut all) {
            let cost = side.round()?;
            if round > 0 {
                all.push([cost.shot, cost.frame - without]);
            }
        }
    }
    Ok(all.map(|all| {
        [0, 1].map(|i| median(&mut all.iter().map(|cost: &[f64; 2]| cost[i]).collect::<Vec<_>>()))
    }))
}

/// Checked answers of one layout.
#[derive(Clone, Copy, Default, Debug)]
struct CheckedAnswers {
    shots: usize,
    /// Number of shots that start in an envelope.
    within: usize,
    /// Numbers of wrong answers by side, in the order of [`CHECKED_SIDES`].
    wrong: [usize; 4],
}

/// Checks the answers for a number of crowds.
fn checked(layout: Layout, crowds: u64) -> Result<CheckedAnswers, String> {
    let mut checked = CheckedAnswers::default();
    for seed in 0..crowds {
        let crowd = TargetScene::new(layout, CROWDS[0].0, SHOTS / 2, SEED + 1 + seed);
        let [mut theirs, mut tuned] =
            [Setup::AsItComes, Setup::Tuned].map(|setup| LightyearSide::new(&crowd, setup));
        let mut solid = LightyearSide::new(&crowd, Setup::Tuned).solid(true);
        let mut ours = UnlagSide::new(&crowd, true);
        let sides: [&mut dyn Side; 4] = [&mut theirs, &mut tuned, &mut solid, &mut ours];
        let truths: Vec<_> = crowd.rays.iter().map(|ray| Truth::of(ray, &crowd.targets)).collect();
        checked.shots += truths.len();
        let envelopes: Vec<_> = crowd.targets.iter().map(Target::envelope).collect();
        let within = |ray: &&Ray| {
            let about =
                |(min, max): &(Vec3, Vec3)| ray.origin.cmpge(*min).all() && ray.origin.cmple(*max).all();
            envelopes.iter().any(about)
        };
        checked.within += crowd.rays.iter().filter(within).count();
        for (side, wrong) in sides.into_iter().zip(&mut checked.wrong) {
            side.round()?;
            for ((ray, truth), answer) in crowd.rays.iter().zip(&truths).zip(side.answers()) {
                *wrong += usize::from(truth.check(ray, &crowd.targets, answer) != AnswerCheck::Right);
            }
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use bevy::math::Dir3;

    use super::*;

    fn answers(side: &mut dyn Side) -> Vec<Option<usize>> {
        side.round().expect("the shots are fired");
        side.answers().into_iter().map(|answer| answer.map(|(target, _)| target)).collect()
    }

    #[test]
    fn lightyear_hits_the_target_with_the_nearer_envelope() {
        // One target stands still, and another one runs towards it from behind.
        let stands = Target::running(Vec3::new(0.0, 0.9, -13.0), Vec3::ZERO);
        let behind = Vec3::new(0.0, 0.9, -13.6);
        let ray = Ray { origin: Vec3::Y * 1.2, direction: Dir3::NEG_Z };
        for (velocity, theirs) in [(Vec3::Z * 6.0, 1), (Vec3::NEG_Z * 0.1, 0)] {
            let crowd =
                TargetScene { targets: vec![stands, Target::running(behind, velocity)], rays: vec![ray] };
            assert_eq!(Truth::of(&ray, &crowd.targets).nearest.map(|(target, _)| target), Some(0));
            assert_eq!(answers(&mut UnlagSide::new(&crowd, true)), [Some(0)]);
            for solid in [false, true] {
                let mut side = LightyearSide::new(&crowd, Setup::Tuned).solid(solid);
                assert_eq!(answers(&mut side), [Some(theirs)], "{velocity}");
            }
        }
    }

    #[test]
    fn targets_without_history_are_not_hit() {
        let crowd = TargetScene::new(Layout::Scattered, 8, 50, SEED);
        assert!(answers(&mut UnlagSide::new(&crowd, false)).iter().all(Option::is_none));
        assert!(answers(&mut LightyearSide::new(&crowd, Setup::WithoutHistory)).iter().all(Option::is_none));
    }

    #[test]
    fn our_shots_do_not_allocate() {
        let crowd = TargetScene::new(Layout::Scattered, 64, 500, SEED);
        let allocations = |side: &mut dyn Side| {
            // The first rounds let buffers grow.
            for _ in 0..3 {
                side.round().expect("the shots are fired");
            }
            let shots = side.shots().allocations;
            let frames = allocation_counter::measure(|| _ = side.frames()).count_total;
            (shots, frames as f64 / f64::from(PERIOD))
        };
        let [theirs, theirs_without] = [Setup::Tuned, Setup::WithoutHistory]
            .map(|setup| allocations(&mut LightyearSide::new(&crowd, setup)));
        let [ours, ours_without] =
            [true, false].map(|remembers| allocations(&mut UnlagSide::new(&crowd, remembers)));
        println!("allocations for 500 shots: lightyear {}, ours {}", theirs.0, ours.0);
        println!("per frame: lightyear {:.1}, {:.1} without history", theirs.1, theirs_without.1);
        println!("per frame: ours {:.1}, {:.1} without history", ours.1, ours_without.1);
        assert_eq!((ours.0, ours.1), (0, ours_without.1));
    }
}
