//! Binary serialisation of shot evidence. Floats are stored with full precision, because a replay must
//! reproduce the verdict exactly.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, PoseSample, ProxySmoothing, ProxyUpdate, Snapshot, Tick, ViewTime, Wire,
    WireError,
};

use super::{
    BaseEvidence, CandidateEvidence, EvidenceNotes, OccluderEvidence, ShotEvidence,
    shapes::{read_group, read_set, read_shape, write_set, write_shape},
};
use crate::{
    ClaimedTarget, CoverProtection, HighPing, HitBoxes, Miss, RewindLimits, RewindMode, RewoundTime,
    StampOverride, TargetHit,
};

/// Maximum absolute value of a float in a record, in any unit, so that its square is finite.
const LARGEST: f32 = 1e7;

/// Writes a float; 0 takes one bit.
pub(super) fn write_f32(w: &mut BitWriter, value: f32) {
    let bits = value.to_bits();
    w.bool(bits != 0);
    if bits != 0 {
        w.bits(bits, 32);
    }
}

pub(super) fn read_f32(r: &mut BitReader<'_>) -> Result<f32, WireError> {
    if !r.bool()? {
        return Ok(0.0);
    }
    let value = r.f32()?;
    if value.abs() <= LARGEST { Ok(value) } else { Err(WireError::Invalid) }
}

pub(super) fn write_vec(w: &mut BitWriter, value: Vec3) {
    value.to_array().into_iter().for_each(|axis| write_f32(w, axis));
}

pub(super) fn read_vec(r: &mut BitReader<'_>) -> Result<Vec3, WireError> {
    Ok(Vec3::new(read_f32(r)?, read_f32(r)?, read_f32(r)?))
}

fn write_quat(w: &mut BitWriter, value: Quat) {
    value.to_array().into_iter().for_each(|axis| write_f32(w, axis));
}

fn read_quat(r: &mut BitReader<'_>) -> Result<Quat, WireError> {
    let rotation = Quat::from_xyzw(read_f32(r)?, read_f32(r)?, read_f32(r)?, read_f32(r)?);
    let sound = (rotation.length_squared() - 1.0).abs() < 1e-2;
    if sound { Ok(rotation) } else { Err(WireError::Invalid) }
}

pub(super) fn write_isometry(w: &mut BitWriter, value: &Isometry3d) {
    write_vec(w, value.translation.into());
    write_quat(w, value.rotation);
}

pub(super) fn read_isometry(r: &mut BitReader<'_>) -> Result<Isometry3d, WireError> {
    Ok(Isometry3d::new(read_vec(r)?, read_quat(r)?))
}

/// Writes a list. Every item takes at least a bit, so a reader cannot be made to read more items than
/// there are bits.
pub(super) fn write_all<T>(w: &mut BitWriter, items: &[T], mut write: impl FnMut(&mut BitWriter, &T)) {
    let items = &items[..items.len().min(usize::from(u16::MAX))];
    w.golomb(items.len() as u16, 1);
    items.iter().for_each(|item| write(w, item));
}

pub(super) fn read_all<'b, T>(
    r: &mut BitReader<'b>,
    mut read: impl FnMut(&mut BitReader<'b>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let count = r.golomb(1)?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(read(r)?);
    }
    Ok(items)
}

/// Writes a list index, which is usually small.
fn write_index(w: &mut BitWriter, index: u32) {
    w.bool(index > 0xff);
    w.bits(index, if index > 0xff { 32 } else { 8 });
}

fn read_index(r: &mut BitReader<'_>) -> Result<u32, WireError> {
    let long = r.bool()?;
    r.bits(if long { 32 } else { 8 })
}

fn write_option<T>(w: &mut BitWriter, value: Option<T>, write: impl FnOnce(&mut BitWriter, T)) {
    w.bool(value.is_some());
    if let Some(value) = value {
        write(w, value);
    }
}

fn read_option<'b, T>(
    r: &mut BitReader<'b>,
    read: impl FnOnce(&mut BitReader<'b>) -> Result<T, WireError>,
) -> Result<Option<T>, WireError> {
    Ok(if r.bool()? { Some(read(r)?) } else { None })
}

fn write_id(w: &mut BitWriter, id: NetId) {
    w.bits(u32::from(id.0), 16);
}

fn read_id(r: &mut BitReader<'_>) -> Result<NetId, WireError> {
    Ok(NetId(r.bits(16)? as u16))
}

fn write_entity(w: &mut BitWriter, entity: Entity) {
    let bits = entity.to_bits();
    w.bits(bits as u32, 32);
    w.bits((bits >> 32) as u32, 32);
}

fn read_entity(r: &mut BitReader<'_>) -> Result<Entity, WireError> {
    let bits = u64::from(r.bits(32)?) | u64::from(r.bits(32)?) << 32;
    Entity::try_from_bits(bits).ok_or(WireError::Invalid)
}

/// Writes a duration in microseconds, at most an hour.
fn write_duration(w: &mut BitWriter, value: Duration) {
    w.bits(value.as_micros().min(3_600_000_000) as u32, 32);
}

fn read_duration(r: &mut BitReader<'_>) -> Result<Duration, WireError> {
    Ok(Duration::from_micros(u64::from(r.bits(32)?)))
}

fn write_limits(w: &mut BitWriter, limits: &RewindLimits) {
    w.bool(limits.mode == RewindMode::On);
    write_duration(w, limits.max_age);
    write_duration(w, limits.refuse_beyond);
    write_option(w, Some(limits.max_distance).filter(|most| most.is_finite()), write_f32);
    write_option(w, limits.high_ping, |w, rule| {
        write_duration(w, rule.fade_from);
        write_duration(w, rule.stop_at);
    });
    w.bool(limits.hit_despawned);
    write_option(w, limits.cover, |w, rule| {
        write_duration(w, rule.grace);
        write_duration(w, rule.max_exempt_age);
    });
}

fn read_limits(r: &mut BitReader<'_>) -> Result<RewindLimits, WireError> {
    Ok(RewindLimits {
        mode: if r.bool()? { RewindMode::On } else { RewindMode::Off },
        max_age: read_duration(r)?,
        refuse_beyond: read_duration(r)?,
        max_distance: read_option(r, read_f32)?.unwrap_or(f32::INFINITY),
        high_ping: read_option(r, |r| {
            Ok(HighPing { fade_from: read_duration(r)?, stop_at: read_duration(r)? })
        })?,
        hit_despawned: r.bool()?,
        cover: read_option(r, |r| {
            Ok(CoverProtection { grace: read_duration(r)?, max_exempt_age: read_duration(r)? })
        })?,
    })
}

fn write_override(w: &mut BitWriter, named: &StampOverride) {
    write_id(w, named.target);
    named.from.write(w);
    named.to.write(w);
    w.signed(i32::from(named.shift), 16);
}

fn read_override(r: &mut BitReader<'_>) -> Result<StampOverride, WireError> {
    let (target, from) = (read_id(r)?, Tick::read(r)?);
    Ok(StampOverride { target, from, to: Option::<Tick>::read(r)?, shift: r.signed(16)? as i16 })
}

fn write_pose(w: &mut BitWriter, pose: &PoseSample) {
    for vector in [pose.position, pose.velocity, pose.acceleration] {
        write_vec(w, vector);
    }
    write_quat(w, pose.rotation);
    for value in [pose.spin, pose.pitch, pose.crouch] {
        write_f32(w, value);
    }
    for flag in [pose.alive, pose.grounded, pose.falling] {
        w.bool(flag);
    }
}

fn read_pose(r: &mut BitReader<'_>) -> Result<PoseSample, WireError> {
    Ok(PoseSample {
        position: read_vec(r)?,
        velocity: read_vec(r)?,
        acceleration: read_vec(r)?,
        rotation: read_quat(r)?,
        spin: read_f32(r)?,
        pitch: read_f32(r)?,
        crouch: read_f32(r)?,
        alive: r.bool()?,
        grounded: r.bool()?,
        falling: r.bool()?,
    })
}

const MODES: [ProxySmoothing; 5] = [
    ProxySmoothing::Raw,
    ProxySmoothing::Linear,
    ProxySmoothing::Hermite,
    ProxySmoothing::Simulate,
    ProxySmoothing::Exponential,
];

fn write_mode(w: &mut BitWriter, mode: ProxySmoothing) {
    w.bits(MODES.iter().position(|known| *known == mode).unwrap_or(2) as u32, 3);
}

fn read_mode(r: &mut BitReader<'_>) -> Result<ProxySmoothing, WireError> {
    MODES.get(r.bits(3)? as usize).copied().ok_or(WireError::Invalid)
}

fn write_candidate(w: &mut BitWriter, candidate: &CandidateEvidence, tick: Tick) {
    write_entity(w, candidate.entity);
    write_id(w, candidate.target);
    write_option(w, candidate.mode, write_mode);
    write_all(w, &candidate.snapshots, |w, snapshot| ProxyUpdate::from(*snapshot).write(tick, w));
    write_option(w, candidate.live.as_ref(), write_pose);
    for (set, limbs) in [(candidate.set, &candidate.limbs), (candidate.live_set, &candidate.live_limbs)] {
        write_index(w, set);
        write_all(w, limbs, write_isometry);
    }
}

fn read_candidate(r: &mut BitReader<'_>, tick: Tick) -> Result<CandidateEvidence, WireError> {
    let (entity, target) = (read_entity(r)?, read_id(r)?);
    let mode = read_option(r, read_mode)?;
    let snapshots = read_all(r, |r| ProxyUpdate::read(tick, r).map(|update| update.snapshot))?;
    // Unordered snapshots would make the sampler choose another pair than the server did.
    let ordered = snapshots.windows(2).all(|pair: &[Snapshot]| pair[1].tick.is_newer_than(pair[0].tick));
    let live = read_option(r, read_pose)?;
    let (set, limbs) = (read_index(r)?, read_all(r, read_isometry)?);
    let (live_set, live_limbs) = (read_index(r)?, read_all(r, read_isometry)?);
    if !ordered {
        return Err(WireError::Invalid);
    }
    Ok(CandidateEvidence { entity, target, mode, snapshots, live, set, limbs, live_set, live_limbs })
}

fn write_hit(w: &mut BitWriter, hit: &TargetHit) {
    write_entity(w, hit.entity);
    write_id(w, hit.target);
    w.bits(u32::from(hit.hit_box), 8);
    w.bits(hit.group as u32, 2);
    write_f32(w, hit.factor);
    write_f32(w, hit.distance);
    write_vec(w, hit.point);
}

fn read_hit(r: &mut BitReader<'_>) -> Result<TargetHit, WireError> {
    Ok(TargetHit {
        entity: read_entity(r)?,
        target: read_id(r)?,
        hit_box: r.bits(8)? as u8,
        group: read_group(r)?,
        factor: read_f32(r)?,
        distance: read_f32(r)?,
        point: read_vec(r)?,
    })
}

fn write_answer(w: &mut BitWriter, answer: &Result<TargetHit, Miss>) {
    let (kind, id) = match answer {
        Ok(_) => (0, None),
        Err(Miss::InvalidQuery) => (1, None),
        Err(Miss::NoTarget) => (2, None),
        Err(Miss::Blocked { .. }) => (3, None),
        Err(Miss::NearMiss(id)) => (4, Some(*id)),
        Err(Miss::NotPresent(id)) => (5, Some(*id)),
        Err(Miss::NotSent(id)) => (6, Some(*id)),
        Err(Miss::MovedTooFar(id)) => (7, Some(*id)),
        Err(Miss::InCover(id)) => (8, Some(*id)),
    };
    w.bits(kind, 4);
    id.into_iter().for_each(|id| write_id(w, id));
    match answer {
        Ok(hit) => write_hit(w, hit),
        Err(Miss::Blocked { hit, distance, by }) => {
            write_hit(w, hit);
            write_f32(w, *distance);
            write_option(w, *by, write_entity);
        }
        Err(_) => {}
    }
}

fn read_answer(r: &mut BitReader<'_>) -> Result<Result<TargetHit, Miss>, WireError> {
    Ok(Err(match r.bits(4)? {
        0 => return Ok(Ok(read_hit(r)?)),
        1 => Miss::InvalidQuery,
        2 => Miss::NoTarget,
        3 => Miss::Blocked { hit: read_hit(r)?, distance: read_f32(r)?, by: read_option(r, read_entity)? },
        4 => Miss::NearMiss(read_id(r)?),
        5 => Miss::NotPresent(read_id(r)?),
        6 => Miss::NotSent(read_id(r)?),
        7 => Miss::MovedTooFar(read_id(r)?),
        8 => Miss::InCover(read_id(r)?),
        _ => return Err(WireError::Invalid),
    }))
}

fn write_notes(w: &mut BitWriter, notes: &EvidenceNotes) {
    notes.claimed.write(w);
    write_option(w, notes.claim.as_ref(), |w, (claim, hit)| {
        write_id(w, claim.target);
        // Clamped, so that any value from a client or a game can be read back.
        write_f32(w, if claim.padding.is_nan() { 0.0 } else { claim.padding.clamp(0.0, LARGEST) });
        write_option(w, hit.as_ref(), write_hit);
    });
    write_option(w, notes.refused, |w, why| w.bits(u32::from(why), 8));
}

fn read_notes(r: &mut BitReader<'_>) -> Result<EvidenceNotes, WireError> {
    let claimed = Option::<ViewTime>::read(r)?;
    let claim = read_option(r, |r| {
        let (target, padding) = (read_id(r)?, read_f32(r)?);
        Ok((ClaimedTarget { target, padding }, read_option(r, read_hit)?))
    })?;
    let refused = read_option(r, |r| r.bits(8))?.map(|why| why as u8);
    Ok(EvidenceNotes { claimed, claim, refused })
}

impl Wire for ShotEvidence {
    fn write(&self, w: &mut BitWriter) {
        write_option(w, self.shooter, write_id);
        w.bits(self.shot, 32);
        self.tick.write(w);
        self.arrived.write(w);
        self.time.asked.write(w);
        self.time.used.write(w);
        self.oldest.write(w);
        write_all(w, &self.overrides, write_override);
        write_limits(w, &self.limits);
        write_vec(w, self.origin);
        write_vec(w, self.direction);
        write_f32(w, self.max_distance);
        write_all(w, &self.bases, |w, base| {
            w.bits(u32::from(base.base), 16);
            write_isometry(w, &base.pose);
            write_isometry(w, &base.before);
        });
        let mut exact = true;
        write_all(w, &self.sets, |w, set: &HitBoxes| exact &= write_set(w, set));
        w.bool(self.approximate || !exact);
        write_all(w, &self.candidates, |w, candidate| write_candidate(w, candidate, self.tick));
        write_all(w, &self.left_out, |w, id| write_id(w, *id));
        write_option(w, self.wall, write_f32);
        write_all(w, &self.occluders, |w, occluder: &OccluderEvidence| {
            write_entity(w, occluder.entity);
            write_isometry(w, &occluder.pose);
            write_f32(w, occluder.distance);
            write_shape(w, occluder.shape.as_ref());
        });
        write_option(w, self.hidden, |w, ticks| w.golomb(ticks, 3));
        write_answer(w, &self.answer);
        write_option(w, Some(&self.notes).filter(|notes| **notes != EvidenceNotes::default()), write_notes);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shooter = read_option(r, read_id)?;
        let (shot, tick, arrived) = (r.bits(32)?, Tick::read(r)?, Tick::read(r)?);
        let (asked, used) = (Option::<ViewTime>::read(r)?, Option::<ViewTime>::read(r)?);
        Ok(Self {
            shooter,
            shot,
            tick,
            arrived,
            time: RewoundTime { asked, used },
            oldest: Option::<ViewTime>::read(r)?,
            overrides: read_all(r, read_override)?,
            limits: read_limits(r)?,
            origin: read_vec(r)?,
            direction: read_vec(r)?,
            max_distance: read_f32(r)?,
            bases: read_all(r, |r| {
                let (base, pose) = (r.bits(16)? as u16, read_isometry(r)?);
                Ok(BaseEvidence { base, pose, before: read_isometry(r)? })
            })?,
            sets: read_all(r, read_set)?,
            approximate: r.bool()?,
            candidates: read_all(r, |r| read_candidate(r, tick))?,
            left_out: read_all(r, read_id)?,
            wall: read_option(r, read_f32)?,
            occluders: read_all(r, |r| {
                let (entity, pose, distance) = (read_entity(r)?, read_isometry(r)?, read_f32(r)?);
                Ok(OccluderEvidence { entity, pose, distance, shape: read_shape(r)? })
            })?,
            hidden: read_option(r, |r| r.golomb(3))?,
            answer: read_answer(r)?,
            notes: read_option(r, read_notes)?.unwrap_or_default(),
        })
    }
}
