//! Expectations of a station, and the record that they are checked against.

use bevy::math::Vec3;
use bevy_unlag_movement::{BaseId, CapsuleState, MoveEvent, MovementMode, VolumeId};

/// An expectation of a station. Heights and positions are relative to the station, in metres; ahead is
/// towards smaller z.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expectation {
    /// The final position is beyond this z.
    Beyond(f32),
    /// The final position is short of this z.
    Short(f32),
    /// The pawn never gets beyond this z.
    NeverBeyond(f32),
    /// The final height of the feet is above this.
    Above(f32),
    /// The final height of the feet is below this.
    Below(f32),
    /// The feet get higher than this.
    Peak(f32),
    /// The feet never get higher than this.
    NoPeak(f32),
    /// The height of the feet varies by less than this.
    Level(f32),
    /// The final position is within this distance of a point.
    Near(Vec3, f32),
    /// The pawn ends standing on a floor.
    Grounded,
    /// The pawn does not end crouched.
    Stands,
    /// The pawn ends at rest, without jitter.
    Still,
    /// The final up direction of the pawn.
    Up(Vec3),
    /// The pawn is upside down at some time.
    Overturned,
    /// The pawn exceeds this speed at some time.
    Faster(f32),
    /// The pawn is never airborne.
    NeverAirborne,
    /// The pawn hits no wall and climbs no step.
    Smooth,
    /// The pawn crouches at some time.
    Crouches,
    /// A volume launches the pawn.
    Launched,
    /// The pawn moves in this mode at some time.
    Mode(MovementMode),
    /// The pawn moves in a custom mode of the game at some time.
    CustomMode,
    /// The pawn enters this volume.
    In(VolumeId),
    /// The pawn stands on this base at some time.
    Rode(BaseId),
    /// A base carries the pawn this far while it stands still.
    Carried(f32),
    /// While standing still on a base, the pawn never drifts on it by more than this.
    Steady(f32),
    /// A crate or another pawn is moved this far.
    Moved(f32),
}

/// Record of a station. Positions are relative to the station.
#[derive(Clone, Default, Debug)]
pub struct Record {
    origin: Vec3,
    end: CapsuleState,
    before: Vec3,
    deepest: f32,
    lowest: f32,
    highest: f32,
    fastest: f32,
    least_up: f32,
    airborne: bool,
    bumps: u32,
    crouched: bool,
    launched: bool,
    stuck: u32,
    modes: Vec<MovementMode>,
    volumes: Vec<VolumeId>,
    bases: Vec<BaseId>,
    /// Base that the pawn rests on, and its position on the base and in the world since it came to rest.
    anchor: Option<(BaseId, Vec3, Vec3)>,
    carried: f32,
    drift: f32,
    moved: f32,
}

/// Number of ticks inside geometry above which a pawn counts as stuck: a quarter of a second.
const STUCK_TICKS: u32 = 16;

impl Record {
    /// Creates an empty record.
    pub fn new(origin: Vec3, state: &CapsuleState) -> Self {
        let at = state.position - origin;
        Self {
            origin,
            end: *state,
            before: state.position,
            deepest: at.z,
            lowest: at.y,
            highest: at.y,
            least_up: 1.0,
            ..Self::default()
        }
    }

    /// Records the state after a tick. `idle` says whether the input is neutral; `moved` is the largest
    /// displacement of a crate or another pawn.
    pub fn record_tick(&mut self, state: &CapsuleState, idle: bool, moved: f32) {
        let at = state.position - self.origin;
        self.before = self.end.position;
        self.end = *state;
        self.deepest = self.deepest.min(at.z);
        self.lowest = self.lowest.min(at.y);
        self.highest = self.highest.max(at.y);
        self.fastest = self.fastest.max(state.velocity.length());
        self.least_up = self.least_up.min(state.up.y);
        self.airborne |= state.mode == MovementMode::Falling;
        self.crouched |= state.crouched;
        self.moved = self.moved.max(moved);
        add(&mut self.modes, state.mode);
        add(&mut self.volumes, state.volume);
        add(&mut self.bases, state.base);

        let rests = idle && state.base != BaseId::NONE && state.velocity.length() < 0.01;
        match self.anchor.filter(|(base, ..)| rests && *base == state.base) {
            Some((_, there, here)) => {
                self.drift = self.drift.max(there.distance(state.base_position));
                self.carried = self.carried.max(here.distance(state.position));
            }
            None => {
                self.anchor = rests.then_some((state.base, state.base_position, state.position));
            }
        }
    }

    /// Records an event.
    pub fn record_event(&mut self, event: &MoveEvent) {
        match event {
            MoveEvent::HitWall { .. } | MoveEvent::Stepped { .. } => self.bumps += 1,
            MoveEvent::Launched { .. } => self.launched = true,
            MoveEvent::Stuck { .. } => self.stuck += 1,
            _ => {}
        }
    }

    /// Checks all expectations.
    ///
    /// # Errors
    /// Returns one line with the first failed expectation and what happened instead.
    pub fn verify(&self, expectations: &[Expectation]) -> Result<(), String> {
        if self.stuck > STUCK_TICKS {
            return Err(format!("stuck for {} ticks", self.stuck));
        }
        expectations.iter().try_for_each(|want| {
            let (met, seen) = self.meets(want);
            if met { Ok(()) } else { Err(format!("{want:?}, but {seen}")) }
        })
    }

    fn meets(&self, want: &Expectation) -> (bool, String) {
        let end = self.end.position - self.origin;
        let place = || format!("it ended at {end:.2}");
        let peak = || format!("it was at {:.3} m to {:.3} m", self.lowest, self.highest);
        let trembles = self.before.distance(self.end.position);
        match *want {
            Expectation::Beyond(z) => (end.z < z, place()),
            Expectation::Short(z) => (end.z > z, place()),
            Expectation::NeverBeyond(z) => (self.deepest > z, format!("it was at z {:.2}", self.deepest)),
            Expectation::Above(y) => (end.y > y, place()),
            Expectation::Below(y) => (end.y < y, place()),
            Expectation::Peak(y) => (self.highest > y, peak()),
            Expectation::NoPeak(y) => (self.highest < y, peak()),
            Expectation::Level(metres) => (self.highest - self.lowest < metres, peak()),
            Expectation::Near(at, metres) => (end.distance(at) < metres, place()),
            Expectation::Grounded => {
                (self.end.is_grounded(), format!("it ended in mode {:?}", self.end.mode))
            }
            Expectation::Stands => (!self.end.crouched, "it ended crouched".to_owned()),
            Expectation::Still => (trembles < 1e-3, format!("it ended moving {trembles:.4} m a tick")),
            Expectation::Up(up) => (self.end.up.dot(up) > 0.99, format!("its final up: {:.2}", self.end.up)),
            Expectation::Overturned => {
                (self.least_up < -0.8, format!("its up.y was never below {:.2}", self.least_up))
            }
            Expectation::Faster(speed) => (self.fastest > speed, format!("{:.1} m/s at most", self.fastest)),
            Expectation::NeverAirborne => (!self.airborne, "it was airborne".to_owned()),
            Expectation::Smooth => {
                (self.bumps == 0, format!("it hit or stepped on something {} times", self.bumps))
            }
            Expectation::Crouches => (self.crouched, "it never crouched".to_owned()),
            Expectation::Launched => (self.launched, "it was never launched".to_owned()),
            Expectation::Mode(mode) => (self.modes.contains(&mode), format!("modes: {:?}", self.modes)),
            Expectation::CustomMode => {
                let custom = |mode: &MovementMode| matches!(mode, MovementMode::Custom(_));
                (self.modes.iter().any(custom), format!("modes: {:?}", self.modes))
            }
            Expectation::In(volume) => {
                (self.volumes.contains(&volume), format!("volumes: {:?}", self.volumes))
            }
            Expectation::Rode(base) => (self.bases.contains(&base), format!("bases: {:?}", self.bases)),
            Expectation::Carried(metres) => (self.carried > metres, format!("{:.2} m at most", self.carried)),
            Expectation::Steady(metres) => (self.drift < metres, format!("it drifted {:.4} m", self.drift)),
            Expectation::Moved(metres) => (self.moved > metres, format!("{:.2} m at most", self.moved)),
        }
    }
}

fn add<T: PartialEq>(seen: &mut Vec<T>, new: T) {
    if !seen.contains(&new) {
        seen.push(new);
    }
}
