//! Wire format of a shot: view time, eye position and aim, compressed against the server's knowledge of the
//! shooter.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, ViewTime, Wire, WireError};
use bevy_unlag_rewind::StampOverride;

use crate::{
    aim::Aim,
    spread::{MAX_PELLETS, SpreadCone, pellet_offset},
};

/// Maximum number of targets per shot that can be named as drawn from other snapshots than its view time
/// implies.
pub const MAX_OVERRIDES: usize = 4;

/// View of a shooter's screen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ShooterView {
    /// View time at which it showed remote pawns; `None` for the present, on a machine with authority.
    pub time: Option<ViewTime>,
    /// Drawn eye position, in metres.
    pub eye: Vec3,
    /// Time at which it showed movement bases, on the shooter's own time line, if a pawn was drawn on one.
    pub bases: Option<ViewTime>,
    overrides: [StampOverride; MAX_OVERRIDES],
    override_count: u8,
}

impl ShooterView {
    /// Creates a view of remote pawns at a view time, or at the present, from an eye position in metres.
    #[must_use]
    pub fn new(time: Option<ViewTime>, eye: Vec3) -> Self {
        Self { time, eye, ..Self::default() }
    }

    /// Names the targets that were drawn from other snapshots than the view time implies. Those beyond
    /// [`MAX_OVERRIDES`] are dropped.
    #[must_use]
    pub fn with(mut self, overrides: impl IntoIterator<Item = StampOverride>) -> Self {
        self.override_count = 0;
        for (slot, named) in self.overrides.iter_mut().zip(overrides) {
            *slot = named;
            self.override_count += 1;
        }
        self
    }

    /// Returns the targets that were drawn from other snapshots than the view time implies.
    #[must_use]
    pub fn overrides(&self) -> &[StampOverride] {
        &self.overrides[..usize::from(self.override_count).min(MAX_OVERRIDES)]
    }
}

/// Compressed form of a [`StampOverride`], relative to the view time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct PackedOverride {
    target: NetId,
    /// Ticks from the older snapshot to the target's view time.
    age: u8,
    /// Ticks from the older snapshot to the newer one; 0 for none.
    span: u8,
    shift: i16,
}

impl PackedOverride {
    /// 64 ticks: no override spans more than [`StampOverride::MAX_SPAN`].
    const AGE_BITS: u32 = 6;

    fn new(named: &StampOverride, time: ViewTime) -> Self {
        let ticks = |ticks: i32, least: i32| ticks.clamp(least, (1 << Self::AGE_BITS) - 1) as u8;
        let own = time.later(i64::from(named.shift));
        Self {
            target: named.target,
            age: ticks(own.tick.since(named.from), 0),
            span: named.to.map_or(0, |to| ticks(to.since(named.from), 1)),
            shift: named.shift,
        }
    }

    fn at(&self, time: ViewTime) -> StampOverride {
        let from = time.later(i64::from(self.shift)).tick.offset(-i32::from(self.age));
        let to = (self.span > 0).then(|| from.offset(i32::from(self.span)));
        StampOverride { target: self.target, from, to, shift: self.shift }
    }
}

impl Wire for PackedOverride {
    fn write(&self, w: &mut BitWriter) {
        self.target.write(w);
        w.bits(u32::from(self.age), Self::AGE_BITS);
        w.bits(u32::from(self.span), Self::AGE_BITS);
        w.bool(self.shift != 0);
        if self.shift != 0 {
            w.signed(i32::from(self.shift), 16);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (target, age) = (NetId::read(r)?, r.bits(Self::AGE_BITS)? as u8);
        let span = r.bits(Self::AGE_BITS)? as u8;
        let shift = if r.bool()? { r.signed(16)? as i16 } else { 0 };
        Ok(Self { target, age, span, shift })
    }
}

/// A shot as the shooter's screen showed it. Position and time are sent as their low bits only: the server
/// knows the shooter and reconstructs the rest. See [`view`](Self::view).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct FireInput {
    /// View time, in 1/256 of a tick: the last 256 ticks.
    time: Option<u16>,
    /// Eye position, in 1/128 m.
    eye: [u16; 3],
    /// Offset of the aim from the look direction of the move, to the left and up, in 1/65,536 of a turn.
    pub aim_offset: (i16, i16),
    /// Delay of the displayed movement bases behind the tick of the move, in 1/256 of a tick.
    bases: Option<u16>,
    // Packed for the wire, with a number of valid elements.
    #[reflect(ignore)]
    named: [PackedOverride; MAX_OVERRIDES],
    #[reflect(ignore)]
    named_count: u8,
    /// Target that the screen showed the shot hitting, if [`HitClaims`](crate::HitClaims) are enabled. It can
    /// explain a disagreement, but is never proof.
    pub claim: Option<NetId>,
    /// Pellet offsets supplied by the client; see [`SpreadSource::Client`](crate::SpreadSource::Client).
    // As above.
    #[reflect(ignore)]
    pellets: [[i8; 2]; MAX_PELLETS],
    #[reflect(ignore)]
    pellet_count: u8,
}

/// Maximum number of ticks that a view time may be ahead of the server's tick to be reconstructed.
const AHEAD: i32 = 8;
/// Resolution of eye positions: 1/128 m.
const EYE_UNITS: f32 = 128.0;
/// Bits per axis of an eye position: up to 4 m from the server's eye position along each axis of the world,
/// whatever is up for the shooter. Positions farther away are reconstructed incorrectly.
const EYE_BITS: u32 = 10;
/// Bits of the delay of movement bases: 16 ticks.
const BASES_BITS: u32 = 12;
/// Bits of the number of named targets.
const NAMED_BITS: u32 = 3;
/// Golomb order of the aim offset: less than 0.35° takes 8 bits.
const TURN_ORDER: u32 = 7;

impl FireInput {
    /// Creates the shot of a move in tick `own` from a view. The eye position is rounded to 8 mm, so display
    /// what [`view`](Self::view) returns.
    #[must_use]
    pub fn new(sight: &ShooterView, own: Tick) -> Self {
        let low = |time: ViewTime| (time.tick.0 << 8 | u32::from(time.fraction)) as u16;
        let most = i64::from((1_u16 << BASES_BITS) - 1);
        let lag = |bases: ViewTime| ViewTime::at(own).since(bases).clamp(0, most) as u16;
        let mut fire = Self {
            time: sight.time.map(low),
            eye: Vec3::to_array(&sight.eye).map(|v| (v * EYE_UNITS).round() as i64 as u16),
            bases: sight.bases.map(lag),
            ..Self::default()
        };
        for axis in &mut fire.eye {
            *axis &= (1 << EYE_BITS) - 1;
        }
        if let Some(time) = sight.time {
            for (slot, named) in fire.named.iter_mut().zip(sight.overrides()) {
                *slot = PackedOverride::new(named, time);
                fire.named_count += 1;
            }
        }
        fire
    }

    /// Rounds a position to the resolution of the wire format.
    #[must_use]
    pub fn rounded(eye: Vec3) -> Vec3 {
        (eye * EYE_UNITS).round() / EYE_UNITS
    }

    /// Copies everything except position and time from another shot.
    #[must_use]
    pub(crate) fn with(self, other: &Self) -> Self {
        let Self { aim_offset, claim, pellets, pellet_count, .. } = *other;
        Self { aim_offset, claim, pellets, pellet_count, ..self }
    }

    /// Reconstructs the view: the newest view time that is consistent with the low bits and not past
    /// `arrived`, the server's tick at the arrival of the shot (with 8 ticks of slack), and the eye position
    /// nearest to `near`, where the server has the shooter's eye. `own` is the tick of the move.
    #[must_use]
    pub fn view(&self, own: Tick, arrived: Tick, near: Vec3) -> ShooterView {
        let time = self.time.map(|low| {
            let latest = ViewTime { tick: arrived.offset(AHEAD), fraction: u8::MAX };
            let known = (latest.tick.0 << 8 | u32::from(latest.fraction)) as u16;
            latest.later(-i64::from(known.wrapping_sub(low)))
        });
        let mut eye = near;
        for axis in 0..3 {
            let (known, period) = (i64::from((near[axis] * EYE_UNITS).round() as i32), 1_i64 << EYE_BITS);
            // The nearest number with these low bits.
            let off = (i64::from(self.eye[axis]) - known + period / 2).rem_euclid(period) - period / 2;
            eye[axis] = (known + off) as f32 / EYE_UNITS;
        }
        let overrides = time.into_iter().flat_map(|time| self.named_at(time));
        ShooterView { time, eye, bases: self.bases_time(own), ..default() }.with(overrides)
    }

    /// Returns the time at which the screen showed movement bases, in a move of tick `own`.
    pub(crate) fn bases_time(&self, own: Tick) -> Option<ViewTime> {
        self.bases.map(|lag| ViewTime::at(own).later(-i64::from(lag)))
    }

    /// Returns the named targets of a shot at a view time.
    pub(crate) fn named_at(&self, time: ViewTime) -> impl Iterator<Item = StampOverride> {
        let named = self.named.iter().take(usize::from(self.named_count).min(MAX_OVERRIDES));
        named.map(move |named| named.at(time))
    }

    /// Returns the aim of the shot in a move that looks along `look`.
    #[must_use]
    pub fn aim(&self, look: Aim) -> Aim {
        Aim {
            yaw: look.yaw.wrapping_add_signed(self.aim_offset.0),
            pitch: look.pitch.saturating_add(self.aim_offset.1),
        }
    }

    /// Sets the aim of the shot in a move that looks along `look`.
    #[must_use]
    pub fn with_aim(self, aim: Aim, look: Aim) -> Self {
        let aim_offset = (aim.yaw.wrapping_sub(look.yaw).cast_signed(), aim.pitch.saturating_sub(look.pitch));
        Self { aim_offset, ..self }
    }

    /// Returns the supplied pellet offsets, as fractions of the cone's radius.
    pub fn pellets(&self) -> impl ExactSizeIterator<Item = Vec2> {
        let listed = &self.pellets[..usize::from(self.pellet_count).min(MAX_PELLETS)];
        listed.iter().map(|[x, y]| Vec2::new(f32::from(*x), f32::from(*y)) / 127.0)
    }

    /// Returns the unit direction of a pellet: as the client supplied it, if it did, or derived from the seed.
    pub(crate) fn pellet_direction(&self, cone: &SpreadCone, seed: u16, pellet: u32) -> Vec3 {
        let supplied = self.pellets().nth(pellet as usize);
        cone.direction(supplied.unwrap_or_else(|| pellet_offset(seed, pellet)))
    }

    /// Supplies the pellet offsets, as fractions of the cone's radius. Those beyond [`MAX_PELLETS`] are
    /// dropped.
    pub fn set_pellets(&mut self, offsets: impl Iterator<Item = Vec2>) {
        self.pellet_count = 0;
        for (slot, at) in self.pellets.iter_mut().zip(offsets) {
            // Truncated towards zero, so that no pellet leaves the cone. NaN casts to 0.
            *slot = (at.clamp_length_max(1.0) * 127.0).to_array().map(|v| v as i8);
            self.pellet_count += 1;
        }
    }
}

#[cfg(test)]
impl FireInput {
    /// A shot whose only pellet lies outside of any cone, but can be represented in the wire format.
    pub(crate) fn outside() -> Self {
        let mut fire = Self { pellet_count: 1, ..Self::default() };
        fire.pellets[0] = [i8::MAX, i8::MIN];
        fire
    }
}

impl Wire for FireInput {
    fn write(&self, w: &mut BitWriter) {
        self.time.write(w);
        for axis in self.eye {
            w.bits(u32::from(axis), EYE_BITS);
        }
        w.bool(self.aim_offset != (0, 0));
        if self.aim_offset != (0, 0) {
            w.signed_golomb(self.aim_offset.0, TURN_ORDER);
            w.signed_golomb(self.aim_offset.1, TURN_ORDER);
        }
        // A single bit covers all rarely used parts.
        let more =
            self.bases.is_some() || self.named_count > 0 || self.claim.is_some() || self.pellet_count > 0;
        w.bool(more);
        if !more {
            return;
        }
        w.bool(self.bases.is_some());
        if let Some(bases) = self.bases {
            w.bits(u32::from(bases), BASES_BITS);
        }
        w.bits(u32::from(self.named_count), NAMED_BITS);
        self.named.iter().take(usize::from(self.named_count)).for_each(|named| named.write(w));
        self.claim.write(w);
        w.bits(u32::from(self.pellet_count), 5);
        for at in self.pellets.iter().take(usize::from(self.pellet_count)).flatten() {
            w.signed(i32::from(*at), 8);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut fire = Self { time: Option::read(r)?, ..Self::default() };
        for axis in &mut fire.eye {
            *axis = r.bits(EYE_BITS)? as u16;
        }
        if r.bool()? {
            fire.aim_offset = (r.signed_golomb(TURN_ORDER)?, r.signed_golomb(TURN_ORDER)?);
        }
        if !r.bool()? {
            return Ok(fire);
        }
        if r.bool()? {
            fire.bases = Some(r.bits(BASES_BITS)? as u16);
        }
        fire.named_count = r.bits(NAMED_BITS)? as u8;
        if usize::from(fire.named_count) > MAX_OVERRIDES {
            return Err(WireError::Invalid);
        }
        for slot in fire.named.iter_mut().take(usize::from(fire.named_count)) {
            *slot = PackedOverride::read(r)?;
        }
        fire.claim = Option::read(r)?;
        fire.pellet_count = r.bits(5)? as u8;
        if usize::from(fire.pellet_count) > MAX_PELLETS {
            return Err(WireError::Invalid);
        }
        for at in fire.pellets.iter_mut().take(usize::from(fire.pellet_count)).flatten() {
            *at = r.signed(8)? as i8;
        }
        Ok(fire)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use bevy_unlag_core::SUB_TICKS;

    fn travelled(fire: &FireInput) -> (FireInput, usize) {
        let mut w = BitWriter::default();
        fire.write(&mut w);
        let bits = w.len_bits();
        (FireInput::read(&mut BitReader::new(&w.finish())).expect("it was written"), bits)
    }

    #[test]
    fn server_reconstructs_the_view_from_low_bits_within_the_eye_range() {
        for origin in [500, 3, u32::MAX - 2] {
            let now = Tick(origin);
            let time = ViewTime { tick: now.offset(-20), fraction: 77 };
            let lost = StampOverride {
                target: NetId(3),
                from: time.tick.offset(-3),
                to: Some(time.tick.offset(3)),
                shift: 0,
            };
            let late = StampOverride { target: NetId(4), from: time.tick.offset(-9), to: None, shift: -100 };
            let own = now.offset(-900);
            let sight = ShooterView {
                time: Some(time),
                eye: Vec3::new(1.5, 2.25, -90.0),
                bases: Some(ViewTime { tick: own.offset(-2), fraction: 3 }),
                ..default()
            };
            let mut fire = FireInput::new(&sight.with([lost, late]), own);
            fire.claim = Some(NetId(700));
            fire.set_pellets([Vec2::X, Vec2::new(-0.5, 0.25)].into_iter());
            let (read, _) = travelled(&fire);
            assert_eq!(read, fire);
            // The server's eye position differs within the supported range.
            for off in [Vec3::ZERO, Vec3::new(3.9, -3.9, -3.9)] {
                let seen = read.view(own, now, sight.eye + off);
                assert_eq!(seen, sight.with([lost, late]), "{origin}, {off}");
            }
            let pellets: Vec<Vec2> = read.pellets().collect();
            assert!(pellets[1].distance(Vec2::new(-0.5, 0.25)) < 0.01 && pellets.len() == 2);
        }
    }

    #[test]
    fn plain_shot_takes_49_bits_and_each_named_target_29() {
        let sight = ShooterView::new(Some(ViewTime { tick: Tick(77), fraction: 9 }), Vec3::ZERO);
        let fire = FireInput::new(&sight, Tick(90));
        assert_eq!(travelled(&fire).1, 49);
        let turned = fire.with_aim(Aim { yaw: 65_500, pitch: 90 }, Aim { yaw: 20, pitch: 80 });
        assert_eq!(turned.aim(Aim { yaw: 20, pitch: 80 }), Aim { yaw: 65_500, pitch: 90 });
        assert_eq!(travelled(&turned).1, 65, "half a degree in one frame");
        let named = StampOverride { target: NetId(9), from: Tick(70), to: Some(Tick(79)), shift: 0 };
        let one = FireInput::new(&sight.with([named]), Tick(90));
        let two = FireInput::new(&sight.with([named, named]), Tick(90));
        assert_eq!(travelled(&two).1 - travelled(&one).1, 29, "four bytes a target");
    }

    #[test]
    fn random_bytes_decode_to_bounded_views_or_errors() {
        let mut rng = SmallRng::seed_from_u64(5);
        for _ in 0..20_000 {
            let bytes: [u8; 48] = core::array::from_fn(|_| rng.random());
            let Ok(fire) = FireInput::read(&mut BitReader::new(&bytes)) else { continue };
            let (now, near) = (Tick(rng.random()), Vec3::new(-70.0, 3.0, 8_000.0));
            let sight = fire.view(now, now, near);
            assert!((sight.eye - near).abs().max_element() <= 4.01, "{sight:?}");
            let time = sight.time.unwrap_or(ViewTime::at(now));
            let behind = ViewTime::at(now).since(time);
            assert!((-9 * SUB_TICKS..=256 * SUB_TICKS).contains(&behind), "{behind}");
            assert!(fire.pellets().all(|at| at.abs().max_element() <= 1.01));
        }
    }
}
