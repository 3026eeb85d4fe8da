//! Wire format of projectile launches and ends.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, SUB_TICKS, Tick, Up, ViewTime, Wire, WireError, look_angles, wire_format,
};
use bevy_unlag_rewind::HitGroup;

use crate::{
    aim::Aim,
    position_format::{PositionFormat, steps},
    weapon::{Projectile, WeaponId},
    weapon_extension::PredictedShot,
};

/// Launch of a projectile. Written on the server, and on every client that receives it; again whenever the
/// projectile has bounced off a pawn. The shooter's client simulates with exactly the same rounded values.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ProjectileLaunch {
    /// The shooter.
    pub shooter: NetId,
    /// The shot that launched it.
    pub shot: Tick,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// View time of the shooter's screen, at which it showed remote pawns. The projectile's age at a later
    /// view time is the difference, on the server and on every screen.
    pub time: ViewTime,
    /// Start position, in metres; the resolution on the wire is 4 mm.
    pub from: Vec3,
    /// Direction in the world.
    pub aim: Aim,
    /// Up direction of the shooter: the projectile falls against it where gravity is not known.
    pub up: Up,
    /// Speed, in metres per second; the resolution on the wire is 1/64 m/s.
    pub speed: f32,
    /// Number of bounces before this launch.
    pub bounces: u8,
    /// Flight time before this launch, in 1/256 of a tick.
    pub flown: u32,
}

const PLACE: PositionFormat = PositionFormat { units: 256.0, bits: 22 };
const SPEED_UNITS: f32 = 64.0;
const SPEED_BITS: u32 = 20;
/// 30 s at 128 Hz.
const FLOWN_BITS: u32 = 20;
const END_POINT: PositionFormat = PositionFormat { units: 32.0, bits: 19 };

impl ProjectileLaunch {
    /// Creates the launch of a shot that was fired at view time `time`.
    #[must_use]
    pub fn of(
        round: &PredictedShot,
        projectile: &Projectile,
        shooter: NetId,
        from: Vec3,
        time: ViewTime,
    ) -> Self {
        let straight = round.cone.half_angle == 0 && round.fire.pellets().len() == 0;
        let up = Up::new(round.up);
        let aim = if straight { round.cone.aim } else { aim_along(round.direction(round.seed, 0), up) };
        let speed = projectile.speed * round.power();
        let launch = Self {
            shooter,
            shot: round.shot,
            weapon: round.weapon,
            time,
            from,
            aim,
            up,
            speed,
            bounces: 0,
            flown: 0,
        };
        launch.rounded()
    }

    /// Returns the launch after a bounce off a pawn at an age in ticks.
    #[must_use]
    pub(crate) fn off(&self, age: f64, from: Vec3, velocity: Vec3, bounces: u8) -> Self {
        let passed = (age * SUB_TICKS as f64).round().clamp(0.0, 1e9) as u32;
        let launch = Self {
            time: self.time.later(i64::from(passed)),
            from,
            aim: aim_along(velocity.try_normalize().unwrap_or(Vec3::NEG_Z), self.up),
            speed: velocity.length(),
            bounces,
            flown: self.flown.saturating_add(passed),
            ..*self
        };
        launch.rounded()
    }

    /// Rounds to what the wire can represent, so that both sides simulate the same values.
    fn rounded(self) -> Self {
        let speed = steps(self.speed.max(0.0), SPEED_UNITS, SPEED_BITS + 1) as f32 / SPEED_UNITS;
        let flown = self.flown.min((1 << FLOWN_BITS) - 1);
        Self { from: PLACE.rounded(self.from), speed, flown, ..self }
    }

    /// Returns the initial velocity, in metres per second.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        self.aim.direction() * self.speed
    }

    /// Returns the identifier of the projectile: its shooter and shot.
    pub(crate) fn key(&self) -> (NetId, Tick) {
        (self.shooter, self.shot)
    }
}

/// Returns the aim along a direction in the world. Only where +Y is not up, it may point straight up or down.
fn aim_along(direction: Vec3, up: Up) -> Aim {
    if up == Up::Y {
        return Aim::from_direction(direction);
    }
    let (yaw, pitch) = look_angles(direction);
    Aim { yaw, pitch }
}

/// 24 bytes; 28 after a bounce off a pawn. An up direction other than +Y adds two.
impl Wire for ProjectileLaunch {
    fn write(&self, w: &mut BitWriter) {
        self.shooter.write(w);
        self.weapon.write(w);
        self.time.write(w);
        // Both count the server's ticks and differ by a few only.
        let ahead = i8::try_from(self.shot.since(self.time.tick)).ok();
        w.bool(ahead.is_some());
        match ahead {
            Some(ahead) => w.signed(i32::from(ahead), 8),
            None => self.shot.write(w),
        }
        wire_format::WireFormat::write(&PLACE, &self.from, w);
        self.aim.write(w);
        w.bool(self.up != Up::Y);
        if self.up != Up::Y {
            self.up.write(w);
        }
        w.bits(steps(self.speed.max(0.0), SPEED_UNITS, SPEED_BITS + 1).cast_unsigned(), SPEED_BITS);
        let bounced = (self.bounces, self.flown) != (0, 0);
        w.bool(bounced);
        if bounced {
            w.bits(u32::from(self.bounces), 8);
            w.bits(self.flown.min((1 << FLOWN_BITS) - 1), FLOWN_BITS);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (shooter, weapon) = (NetId::read(r)?, WeaponId::read(r)?);
        let time = ViewTime::read(r)?;
        let shot = if r.bool()? { time.tick.offset(r.signed(8)?) } else { Tick::read(r)? };
        let from = wire_format::WireFormat::<Vec3>::read(&PLACE, r)?;
        let aim = Aim::read(r)?;
        let up = if r.bool()? { Up::read(r)? } else { Up::Y };
        let speed = r.bits(SPEED_BITS)? as f32 / SPEED_UNITS;
        let (bounces, flown) = if r.bool()? { (r.bits(8)? as u8, r.bits(FLOWN_BITS)?) } else { (0, 0) };
        Ok(Self { shooter, shot, weapon, time, from, aim, up, speed, bounces, flown })
    }
}

/// Reason for the end of a projectile.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub enum ProjectileEndKind {
    /// It was removed without any visible effect.
    Gone,
    /// It hit the world.
    Wall,
    /// Its lifetime was over.
    Fuse,
    /// It hit a pawn.
    Hit {
        /// The pawn.
        target: NetId,
        /// Part of the body.
        group: HitGroup,
    },
}

/// End of a projectile. Written on the server, and on every client that receives it, normally before the
/// screen shows it. For effects, read [`ProjectileDisappeared`](crate::ProjectileDisappeared) instead. It takes 16
/// bytes; 18 if a pawn was hit.
#[derive(Message, Wire, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ProjectileEnd {
    /// The shooter.
    pub shooter: NetId,
    /// The shot that launched it.
    pub shot: Tick,
    /// Flight time, in 1/256 of a tick.
    #[wire(bits = FLOWN_BITS)]
    pub flown: u32,
    /// Position of its centre, in metres; the resolution on the wire is 3 cm.
    #[wire(with = END_POINT)]
    pub point: Vec3,
    /// Reason.
    pub kind: ProjectileEndKind,
}

#[cfg(test)]
mod tests;
