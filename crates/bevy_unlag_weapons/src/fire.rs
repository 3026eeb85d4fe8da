//! One shot on the wire: when the screen was, where the eye was, where it looked.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, ViewTime, Wire, WireError};
use bevy_unlag_rewind::StampOverride;

use crate::{Aim, MAX_PELLETS};

/// The most targets that a shot can name as drawn from other snapshots than its time implies.
pub const MAX_OVERRIDES: usize = 4;

/// What a shooter's screen showed, in metres and moments.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sight {
    /// The moment at which it showed everyone else; `None` for the present, on a machine that decides.
    pub time: Option<ViewTime>,
    /// Where the eye was drawn.
    pub eye: Vec3,
    /// The moment at which it showed movement bases, on the shooter's own time line, when somebody was drawn
    /// on one.
    pub bases: Option<ViewTime>,
    overrides: [StampOverride; MAX_OVERRIDES],
    override_count: u8,
}

impl Sight {
    /// Everyone else at a moment, or as they are, seen from an eye, in metres.
    #[must_use]
    pub fn new(time: Option<ViewTime>, eye: Vec3) -> Self {
        Self { time, eye, ..Self::default() }
    }

    /// Names targets that were drawn from other snapshots than the moment implies. More than
    /// [`MAX_OVERRIDES`] are cut off.
    #[must_use]
    pub fn with(mut self, overrides: impl IntoIterator<Item = StampOverride>) -> Self {
        self.override_count = 0;
        for (slot, named) in self.overrides.iter_mut().zip(overrides) {
            *slot = named;
            self.override_count += 1;
        }
        self
    }

    /// Targets that were drawn from other snapshots than the moment implies.
    #[must_use]
    pub fn overrides(&self) -> &[StampOverride] {
        &self.overrides[..usize::from(self.override_count).min(MAX_OVERRIDES)]
    }
}

/// A target that was drawn from other snapshots than the moment implies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Named {
    target: NetId,
    /// Ticks from the older snapshot to the moment.
    age: u8,
    /// Ticks from the older snapshot to the newer one; 0 for none.
    span: u8,
    shift: i16,
}

impl Named {
    /// 64 ticks: nothing reaches further than [`StampOverride::MAX_SPAN`].
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

impl Wire for Named {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.target.0), 16);
        w.bits(u32::from(self.age), Self::AGE_BITS);
        w.bits(u32::from(self.span), Self::AGE_BITS);
        w.bool(self.shift != 0);
        if self.shift != 0 {
            w.signed(i32::from(self.shift), 16);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (target, age) = (NetId(r.bits(16)? as u16), r.bits(Self::AGE_BITS)? as u8);
        let span = r.bits(Self::AGE_BITS)? as u8;
        let shift = if r.bool()? { r.signed(16)? as i16 } else { 0 };
        Ok(Self { target, age, span, shift })
    }
}

/// One shot, as the shooter's screen showed it. It travels in few bits: of a place and a moment only as many as
/// the server, which knows the shooter, needs to tell which one is meant. See [`sight`](Self::sight).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FireInput {
    /// In 1/256 of a tick.
    time: Option<u16>,
    /// In 1/128 m.
    eye: [u16; 3],
    /// By how much it looked further to the left and further up than the move says, in 1/65,536 of a turn.
    pub turn: (i16, i16),
    /// How long before the tick of its move the screen showed movement bases, in 1/256 of a tick.
    bases: Option<u16>,
    named: [Named; MAX_OVERRIDES],
    named_count: u8,
    /// Whom the screen showed it hitting, where [`HitClaims`](crate::HitClaims) are wanted. It explains, and
    /// never proves.
    pub claim: Option<NetId>,
    /// Where each pellet went, where the client says so; see [`SpreadSource::Client`](crate::SpreadSource::Client).
    pellets: [[i8; 2]; MAX_PELLETS],
    pellet_count: u8,
}

/// Bits of a moment: 256 ticks.
const TIME_BITS: u32 = 16;
/// Ticks ahead of its own by which the server understands a moment.
const AHEAD: i32 = 8;
/// Eyes travel in 1/128 m.
const EYE_UNITS: f32 = 128.0;
/// Bits of a place: 4 m to every side of where the server has the eye along the ground, and 2 m up and down. What is
/// farther off is taken for another place.
const EYE_BITS: [u32; 3] = [10, 9, 10];
/// Bits of how long before a move bases were shown: 16 ticks.
const BASES_BITS: u32 = 12;
/// Bits of how many targets are named.
const NAMED_BITS: u32 = 3;
/// A turn of less than 0.35° takes 8 bits.
const TURN_ORDER: u32 = 7;

impl FireInput {
    /// A shot in the move of tick `own` with what a screen showed. The eye is rounded to 8 mm: what is to be
    /// shown is what [`sight`](Self::sight) says.
    #[must_use]
    pub fn new(sight: &Sight, own: Tick) -> Self {
        let low = |time: ViewTime| (time.tick.0 << 8 | u32::from(time.fraction)) as u16;
        let most = i64::from((1_u16 << BASES_BITS) - 1);
        let lag = |bases: ViewTime| ViewTime::at(own).since(bases).clamp(0, most) as u16;
        let mut fire = Self {
            time: sight.time.map(low),
            eye: Vec3::to_array(&sight.eye).map(|v| (v * EYE_UNITS).round() as i64 as u16),
            bases: sight.bases.map(lag),
            ..Self::default()
        };
        for (axis, bits) in fire.eye.iter_mut().zip(EYE_BITS) {
            *axis &= (1 << bits) - 1;
        }
        if let Some(time) = sight.time {
            for (slot, named) in fire.named.iter_mut().zip(sight.overrides()) {
                *slot = Named::new(named, time);
                fire.named_count += 1;
            }
        }
        fire
    }

    /// A place as a shot can say it.
    #[must_use]
    pub fn rounded(eye: Vec3) -> Vec3 {
        (eye * EYE_UNITS).round() / EYE_UNITS
    }

    /// The same with what another one says beside place and time.
    #[must_use]
    pub(crate) fn with(self, other: &Self) -> Self {
        let Self { turn, claim, pellets, pellet_count, .. } = *other;
        Self { turn, claim, pellets, pellet_count, ..self }
    }

    /// What the screen showed: the newest moment at or before `arrived`, the server's tick when the shot came,
    /// that can be meant, and the place nearest to where the eye of the shooter is, `near`. `own` is the tick
    /// of the move.
    #[must_use]
    pub fn sight(&self, own: Tick, arrived: Tick, near: Vec3) -> Sight {
        let time = self.time.map(|low| {
            let latest = ViewTime { tick: arrived.offset(AHEAD), fraction: u8::MAX };
            let known = (latest.tick.0 << 8 | u32::from(latest.fraction)) as u16;
            latest.later(-i64::from(known.wrapping_sub(low)))
        });
        let mut eye = near;
        for (axis, bits) in EYE_BITS.into_iter().enumerate() {
            let (known, period) = (i64::from((near[axis] * EYE_UNITS).round() as i32), 1_i64 << bits);
            // The nearest number with these low bits.
            let off = (i64::from(self.eye[axis]) - known + period / 2).rem_euclid(period) - period / 2;
            eye[axis] = (known + off) as f32 / EYE_UNITS;
        }
        let bases = self.bases.map(|lag| ViewTime::at(own).later(-i64::from(lag)));
        let named = self.named.iter().take(usize::from(self.named_count));
        let overrides = time.into_iter().flat_map(|time| named.clone().map(move |named| named.at(time)));
        Sight { time, eye, bases, ..default() }.with(overrides)
    }

    /// Where it looked, if the move looks along `look`.
    #[must_use]
    pub fn aim(&self, look: Aim) -> Aim {
        Aim { yaw: look.yaw.wrapping_add_signed(self.turn.0), pitch: look.pitch.saturating_add(self.turn.1) }
    }

    /// The same, looking along `aim` in a move that looks along `look`.
    #[must_use]
    pub fn looking(self, aim: Aim, look: Aim) -> Self {
        let turn = (aim.yaw.wrapping_sub(look.yaw).cast_signed(), aim.pitch.saturating_sub(look.pitch));
        Self { turn, ..self }
    }

    /// Where pellets went, in parts of the cone's radius.
    pub fn pellets(&self) -> impl ExactSizeIterator<Item = Vec2> {
        let listed = &self.pellets[..usize::from(self.pellet_count).min(MAX_PELLETS)];
        listed.iter().map(|[x, y]| Vec2::new(f32::from(*x), f32::from(*y)) / 127.0)
    }

    /// Says where each pellet went, in parts of the cone's radius. More than [`MAX_PELLETS`] are cut off.
    pub fn list_pellets(&mut self, offsets: impl Iterator<Item = Vec2>) {
        self.pellet_count = 0;
        for (slot, at) in self.pellets.iter_mut().zip(offsets) {
            // Towards the middle, so that none leaves the cone. A NaN casts to 0.
            *slot = (at.clamp_length_max(1.0) * 127.0).to_array().map(|v| v as i8);
            self.pellet_count += 1;
        }
    }
}

#[cfg(test)]
impl FireInput {
    /// A shot whose only pellet goes where its bits can say, and no cone reaches.
    pub(crate) fn outside() -> Self {
        let mut fire = Self { pellet_count: 1, ..Self::default() };
        fire.pellets[0] = [i8::MAX, i8::MIN];
        fire
    }
}

impl Wire for FireInput {
    fn write(&self, w: &mut BitWriter) {
        w.bool(self.time.is_some());
        if let Some(time) = self.time {
            w.bits(u32::from(time), TIME_BITS);
        }
        for (axis, bits) in self.eye.into_iter().zip(EYE_BITS) {
            w.bits(u32::from(axis), bits);
        }
        w.bool(self.turn != (0, 0));
        if self.turn != (0, 0) {
            w.signed_golomb(self.turn.0, TURN_ORDER);
            w.signed_golomb(self.turn.1, TURN_ORDER);
        }
        // What most shots do not have takes a bit.
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
        w.bool(self.claim.is_some());
        if let Some(target) = self.claim {
            w.bits(u32::from(target.0), 16);
        }
        w.bits(u32::from(self.pellet_count), 5);
        for at in self.pellets.iter().take(usize::from(self.pellet_count)).flatten() {
            w.signed(i32::from(*at), 8);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut fire = Self::default();
        if r.bool()? {
            fire.time = Some(r.bits(TIME_BITS)? as u16);
        }
        for (axis, bits) in fire.eye.iter_mut().zip(EYE_BITS) {
            *axis = r.bits(bits)? as u16;
        }
        if r.bool()? {
            fire.turn = (r.signed_golomb(TURN_ORDER)?, r.signed_golomb(TURN_ORDER)?);
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
            *slot = Named::read(r)?;
        }
        if r.bool()? {
            fire.claim = Some(NetId(r.bits(16)? as u16));
        }
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
    use super::*;
    use bevy_unlag_core::SUB_TICKS;

    fn travelled(fire: &FireInput) -> (FireInput, usize) {
        let mut w = BitWriter::default();
        fire.write(&mut w);
        let bits = w.len_bits();
        (FireInput::read(&mut BitReader::new(&w.finish())).expect("it was written"), bits)
    }

    #[test]
    fn the_server_knows_what_is_meant() {
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
            let sight = Sight {
                time: Some(time),
                eye: Vec3::new(1.5, 2.25, -90.0),
                bases: Some(ViewTime { tick: own.offset(-2), fraction: 3 }),
                ..default()
            };
            let mut fire = FireInput::new(&sight.with([lost, late]), own);
            fire.claim = Some(NetId(700));
            fire.list_pellets([Vec2::X, Vec2::new(-0.5, 0.25)].into_iter());
            let (read, _) = travelled(&fire);
            assert_eq!(read, fire);
            // The server has the shooter a bit elsewhere.
            for off in [Vec3::ZERO, Vec3::new(3.9, -1.9, -3.9)] {
                let seen = read.sight(own, now, sight.eye + off);
                assert_eq!(seen, sight.with([lost, late]), "{origin}, {off}");
            }
            let pellets: Vec<Vec2> = read.pellets().collect();
            assert!(pellets[1].distance(Vec2::new(-0.5, 0.25)) < 0.01 && pellets.len() == 2);
        }
    }

    #[test]
    fn a_shot_takes_less_than_eight_bytes() {
        let sight = Sight::new(Some(ViewTime { tick: Tick(77), fraction: 9 }), Vec3::ZERO);
        let fire = FireInput::new(&sight, Tick(90));
        assert_eq!(travelled(&fire).1, 48);
        let turned = fire.looking(Aim { yaw: 65_500, pitch: 90 }, Aim { yaw: 20, pitch: 80 });
        assert_eq!(turned.aim(Aim { yaw: 20, pitch: 80 }), Aim { yaw: 65_500, pitch: 90 });
        assert_eq!(travelled(&turned).1, 64, "half a degree in one frame");
        let named = StampOverride { target: NetId(9), from: Tick(70), to: Some(Tick(79)), shift: 0 };
        let one = FireInput::new(&sight.with([named]), Tick(90));
        let two = FireInput::new(&sight.with([named, named]), Tick(90));
        assert_eq!(travelled(&two).1 - travelled(&one).1, 29, "four bytes a target");
    }

    #[test]
    fn whatever_comes_is_understood_somehow() {
        let mut state = 5_u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..48)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            let Ok(fire) = FireInput::read(&mut BitReader::new(&bytes)) else { continue };
            let (now, near) = (Tick((state >> 13) as u32), Vec3::new(-70.0, 3.0, 8_000.0));
            let sight = fire.sight(now, now, near);
            assert!((sight.eye - near).abs().max_element() <= 4.01, "{sight:?}");
            let time = sight.time.unwrap_or(ViewTime::at(now));
            let behind = ViewTime::at(now).since(time);
            assert!((-9 * SUB_TICKS..=256 * SUB_TICKS).contains(&behind), "{behind}");
            assert!(fire.pellets().all(|at| at.abs().max_element() <= 1.01));
        }
    }
}
