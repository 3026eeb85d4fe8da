//! What must come of a station, and what did.

use bevy::math::Vec3;
use bevy_unlag_movement::{BaseId, CapsuleState, MoveEvent, MovementMode, VolumeId};

/// What must come of a station. Heights and places are relative to it, in metres; further along it
/// is a smaller z.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Want {
    /// It ends further along than this.
    Beyond(f32),
    /// It ends not as far along as this.
    Short(f32),
    /// It is never as far along as this.
    NeverBeyond(f32),
    /// Its feet end higher than this.
    Above(f32),
    /// Its feet end lower than this.
    Below(f32),
    /// Its feet were higher than this.
    Peak(f32),
    /// Its feet were never higher than this.
    NoPeak(f32),
    /// Its feet stay within so many metres of height.
    Level(f32),
    /// It ends this near to a place.
    Near(Vec3, f32),
    /// It ends standing on a floor.
    Grounded,
    /// It ends not crouched.
    Stands,
    /// It ends without a tremble.
    Still,
    /// Its up ends as this.
    Up(Vec3),
    /// It was upside down.
    Overturned,
    /// It was faster than this.
    Faster(f32),
    /// It never fell.
    NeverAirborne,
    /// It met no wall and no step.
    Smooth,
    /// It crouched.
    Crouches,
    /// A volume threw it.
    Launched,
    /// It moved in this mode.
    Mode(MovementMode),
    /// It moved in a mode of the game's own.
    CustomMode,
    /// It was in this volume.
    In(VolumeId),
    /// It stood on this base.
    Rode(BaseId),
    /// A base carried it this far while it stood still.
    Carried(f32),
    /// Standing still on a base, it never moved on it by more than this.
    Steady(f32),
    /// A crate or another pawn was moved this far.
    Moved(f32),
}

/// What happened at a station. Places are relative to it.
#[derive(Clone, Debug)]
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
    /// Where it stood on a base, there and in the world, since it came to rest.
    anchor: Option<(BaseId, Vec3, Vec3)>,
    carried: f32,
    drift: f32,
    moved: f32,
}

/// Ticks inside something that are no accident any more: a quarter of a second.
const STUCK_TICKS: u32 = 16;

impl Record {
    /// Nothing has happened yet.
    pub fn new(origin: Vec3, state: &CapsuleState) -> Self {
        let at = state.position - origin;
        Self {
            origin,
            end: *state,
            before: state.position,
            deepest: at.z,
            lowest: at.y,
            highest: at.y,
            fastest: 0.0,
            least_up: 1.0,
            airborne: false,
            bumps: 0,
            crouched: false,
            launched: false,
            stuck: 0,
            modes: Vec::new(),
            volumes: Vec::new(),
            bases: Vec::new(),
            anchor: None,
            carried: 0.0,
            drift: 0.0,
            moved: 0.0,
        }
    }

    /// Takes in the state after a tick; whether the player wanted nothing; how far a crate or
    /// another pawn is from home.
    pub fn note(&mut self, state: &CapsuleState, idle: bool, moved: f32) {
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

    /// Takes in an event.
    pub fn hear(&mut self, event: &MoveEvent) {
        match event {
            MoveEvent::HitWall { .. } | MoveEvent::Stepped { .. } => self.bumps += 1,
            MoveEvent::Launched { .. } => self.launched = true,
            MoveEvent::Stuck { .. } => self.stuck += 1,
            _ => {}
        }
    }

    /// Whether all wants are met; if not, the first that is not and what there was instead.
    ///
    /// # Errors
    /// One line.
    pub fn judge(&self, wants: &[Want]) -> Result<(), String> {
        if self.stuck > STUCK_TICKS {
            return Err(format!("stuck for {} ticks", self.stuck));
        }
        wants.iter().try_for_each(|want| {
            let (met, seen) = self.meets(want);
            if met { Ok(()) } else { Err(format!("{want:?}, but {seen}")) }
        })
    }

    fn meets(&self, want: &Want) -> (bool, String) {
        let end = self.end.position - self.origin;
        let place = || format!("it ended at {end:.2}");
        let peak = || format!("it was at {:.3} m to {:.3} m", self.lowest, self.highest);
        let trembles = self.before.distance(self.end.position);
        match *want {
            Want::Beyond(z) => (end.z < z, place()),
            Want::Short(z) => (end.z > z, place()),
            Want::NeverBeyond(z) => (self.deepest > z, format!("it was at z {:.2}", self.deepest)),
            Want::Above(y) => (end.y > y, place()),
            Want::Below(y) => (end.y < y, place()),
            Want::Peak(y) => (self.highest > y, peak()),
            Want::NoPeak(y) => (self.highest < y, peak()),
            Want::Level(metres) => (self.highest - self.lowest < metres, peak()),
            Want::Near(at, metres) => (end.distance(at) < metres, place()),
            Want::Grounded => (self.end.is_grounded(), format!("it ended {:?}", self.end.mode)),
            Want::Stands => (!self.end.crouched, "it ended crouched".to_owned()),
            Want::Still => (trembles < 1e-3, format!("it ended moving {trembles:.4} m a tick")),
            Want::Up(up) => (self.end.up.dot(up) > 0.99, format!("its up ended as {:.2}", self.end.up)),
            Want::Overturned => {
                (self.least_up < -0.8, format!("its up was never below {:.2}", self.least_up))
            }
            Want::Faster(speed) => (self.fastest > speed, format!("{:.1} m/s was all", self.fastest)),
            Want::NeverAirborne => (!self.airborne, "it fell".to_owned()),
            Want::Smooth => (self.bumps == 0, format!("it bumped {} times", self.bumps)),
            Want::Crouches => (self.crouched, "it did not".to_owned()),
            Want::Launched => (self.launched, "it was not".to_owned()),
            Want::Mode(mode) => (self.modes.contains(&mode), format!("only {:?}", self.modes)),
            Want::CustomMode => {
                let custom = |mode: &MovementMode| matches!(mode, MovementMode::Custom(_));
                (self.modes.iter().any(custom), format!("only {:?}", self.modes))
            }
            Want::In(volume) => (self.volumes.contains(&volume), format!("only {:?}", self.volumes)),
            Want::Rode(base) => (self.bases.contains(&base), format!("only {:?}", self.bases)),
            Want::Carried(metres) => (self.carried > metres, format!("{:.2} m was all", self.carried)),
            Want::Steady(metres) => (self.drift < metres, format!("it drifted {:.4} m", self.drift)),
            Want::Moved(metres) => (self.moved > metres, format!("{:.2} m was all", self.moved)),
        }
    }
}

fn add<T: PartialEq>(seen: &mut Vec<T>, new: T) {
    if !seen.contains(&new) {
        seen.push(new);
    }
}
