//! Details of a shot on which its verdict depends, and their packing for recordings.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, ViewTime, Wire, WireError, wire_format};
use bevy_unlag_rewind::StampOverride;

use crate::{
    aim::Aim,
    fire_input::FireInput,
    spread::{SpreadCone, UpFormat},
    weapon_extension::PredictedShot,
};

/// Details of a shot on which its verdict depends, beside its eye, its claimed view and the pawns: the move of the
/// shot, and the view at which the server resolved it.
#[derive(Clone, PartialEq, Debug)]
pub struct ShotDetail {
    /// Number of the shot, counted per pawn from 1.
    pub number: u32,
    /// The shot as its move carried it.
    pub fire: FireInput,
    /// Look direction of the move.
    pub look: Aim,
    /// Aim with the spread around it.
    pub cone: SpreadCone,
    /// Up direction of the shooter.
    pub up: Vec3,
    /// Seed of the pellets on the shooter's client.
    pub seed: u16,
    /// Seed of the pellets on the server.
    pub server_seed: u16,
    /// Charge, 0 to 255.
    pub power: u8,
    /// View at which the server resolved it; `None` for the present, and for a shot that was refused before.
    pub view: Option<UsedView>,
    /// Whether the screen showed no pawns, so that the shot cannot hit any.
    pub is_blind: bool,
}

/// View at which the server resolved a shot.
#[derive(Clone, PartialEq, Debug)]
pub struct UsedView {
    /// View time of most pawns.
    pub time: ViewTime,
    /// View time of movement bases, on the shooter's own time line.
    pub bases: ViewTime,
    /// Targets that the screen drew from other snapshots.
    pub overrides: Vec<StampOverride>,
    /// Ticks for which the shot waited on the server after its arrival.
    pub queued_ticks: u32,
    /// Round trip of the shooter, if it was known.
    pub round_trip: Option<Duration>,
}

/// Times and view of a shot in a recording, relative to which its [`ShotDetail`] is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShotTimes {
    /// Tick of the move, on the shooter's count: the identifier of the shot.
    pub own: Tick,
    /// View time of the shooter's screen, as the shot claims.
    pub seen: Option<ViewTime>,
    /// View time at which the server resolved it; `None` for the present, and for a shot that was refused before.
    pub used: Option<ViewTime>,
}

/// Bits of the number of named targets.
const OVERRIDE_BITS: u32 = 5;

impl ShotDetail {
    /// Creates the detail of a shot that has not been examined yet.
    pub(crate) fn new(round: &PredictedShot) -> Self {
        let PredictedShot { number, fire, look, cone, up, seed, power, .. } = *round;
        Self { number, fire, look, cone, up, seed, server_seed: seed, power, view: None, is_blind: false }
    }

    /// Packs the detail, about 20 bytes for a usual shot. The time of [`view`](Self::view) is left out, because
    /// [`ShotTimes::used`] has it.
    #[must_use]
    pub fn pack(&self, times: &ShotTimes) -> Vec<u8> {
        let mut w = BitWriter::default();
        write_number(self.number.into(), &mut w);
        self.fire.write(&mut w);
        self.look.write(&mut w);
        self.cone.aim.write_delta(&self.fire.aim(self.look), &mut w);
        w.golomb(self.cone.half_angle, 5);
        wire_format::WireFormat::write(&UpFormat, &self.cone.up, &mut w);
        self.up.write_delta(&Vec3::Y, &mut w);
        self.seed.write(&mut w);
        self.server_seed.write_delta(&self.seed, &mut w);
        self.power.write_delta(&0, &mut w);
        w.bool(self.is_blind);
        w.bool(self.view.is_some());
        if let Some(view) = &self.view {
            view.write(&self.fire, times, &mut w);
        }
        w.finish()
    }

    /// Reads what [`pack`](Self::pack) has packed with the same times.
    ///
    /// # Errors
    /// Returns a [`WireError`] for bytes that are no detail, or one with a view for times without
    /// [`ShotTimes::used`].
    pub fn unpack(bytes: &[u8], times: &ShotTimes) -> Result<Self, WireError> {
        let r = &mut BitReader::new(bytes);
        let number = u32::try_from(read_number(r)?).map_err(|_| WireError::Invalid)?;
        let (fire, look) = (FireInput::read(r)?, Aim::read(r)?);
        let aim = Aim::read_delta(&fire.aim(look), r)?;
        let cone =
            SpreadCone { aim, half_angle: r.golomb(5)?, up: wire_format::WireFormat::read(&UpFormat, r)? };
        let up = Vec3::read_delta(&Vec3::Y, r)?;
        let seed = u16::read(r)?;
        let server_seed = u16::read_delta(&seed, r)?;
        let (power, is_blind) = (u8::read_delta(&0, r)?, r.bool()?);
        let view = if r.bool()? { Some(UsedView::read(&fire, times, r)?) } else { None };
        Ok(Self { number, fire, look, cone, up, seed, server_seed, power, view, is_blind })
    }
}

impl UsedView {
    fn write(&self, fire: &FireInput, times: &ShotTimes, w: &mut BitWriter) {
        self.bases.write_delta(&fire.bases_time(times.own).unwrap_or_default(), w);
        let is_usual = times.seen.is_some_and(|seen| fire.named_at(seen).eq(self.overrides.iter().copied()));
        w.bool(is_usual);
        if !is_usual {
            let most = (1 << OVERRIDE_BITS) - 1;
            w.bits(self.overrides.len().min(most) as u32, OVERRIDE_BITS);
            for one in self.overrides.iter().take(most) {
                one.target.write(w);
                one.from.write(w);
                one.to.write(w);
                one.shift.write(w);
            }
        }
        write_number(self.queued_ticks.into(), w);
        w.bool(self.round_trip.is_some());
        if let Some(time) = self.round_trip {
            write_number(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), w);
        }
    }

    fn read(fire: &FireInput, times: &ShotTimes, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let time = times.used.ok_or(WireError::Invalid)?;
        let bases = ViewTime::read_delta(&fire.bases_time(times.own).unwrap_or_default(), r)?;
        let overrides = if r.bool()? {
            times.seen.map(|seen| fire.named_at(seen).collect()).unwrap_or_default()
        } else {
            let one = |r: &mut BitReader<'_>| {
                let (target, from) = (NetId::read(r)?, Tick::read(r)?);
                Ok(StampOverride { target, from, to: Option::read(r)?, shift: i16::read(r)? })
            };
            (0..r.bits(OVERRIDE_BITS)?).map(|_| one(r)).collect::<Result<_, _>>()?
        };
        let queued_ticks = u32::try_from(read_number(r)?).map_err(|_| WireError::Invalid)?;
        let round_trip = if r.bool()? { Some(Duration::from_nanos(read_number(r)?)) } else { None };
        Ok(Self { time, bases, overrides, queued_ticks, round_trip })
    }
}

/// Appends a number as the number of its bits, and those.
fn write_number(number: u64, w: &mut BitWriter) {
    let count = u64::BITS - number.leading_zeros();
    w.golomb(count as u16, 2);
    w.bits(number as u32, count.min(32));
    if count > 32 {
        w.bits((number >> 32) as u32, count - 32);
    }
}

fn read_number(r: &mut BitReader<'_>) -> Result<u64, WireError> {
    let count = u32::from(r.golomb(2)?);
    if count > u64::BITS {
        return Err(WireError::Invalid);
    }
    let low = u64::from(r.bits(count.min(32))?);
    Ok(if count > 32 { low | u64::from(r.bits(count - 32)?) << 32 } else { low })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::fire_input::ShooterView;

    fn usual() -> (ShotDetail, ShotTimes) {
        let (own, seen) = (Tick(1_000), ViewTime { tick: Tick(990), fraction: 77 });
        let named = StampOverride { target: NetId(4), from: Tick(986), to: Some(Tick(989)), shift: 0 };
        let mut view = ShooterView::new(Some(seen), Vec3::Y).with([named]);
        view.bases = Some(ViewTime::at(Tick(995)));
        let fire = FireInput::new(&view, own);
        let look = Aim { yaw: 9, pitch: -3 };
        let detail = ShotDetail {
            number: 77,
            fire,
            look,
            cone: SpreadCone { aim: fire.aim(look), half_angle: 40, up: default() },
            up: Vec3::Y,
            seed: 5,
            server_seed: 5,
            power: 0,
            view: Some(UsedView {
                time: seen,
                bases: ViewTime::at(Tick(995)),
                overrides: vec![named],
                queued_ticks: 2,
                round_trip: Some(Duration::from_nanos(123_456_789)),
            }),
            is_blind: false,
        };
        (detail, ShotTimes { own, seen: Some(seen), used: Some(seen) })
    }

    #[test]
    fn usual_detail_is_small_and_every_detail_exact() {
        let (detail, times) = usual();
        let packed = detail.pack(&times);
        assert!(packed.len() <= 34, "{} bytes", packed.len());
        assert_eq!(ShotDetail::unpack(&packed, &times), Ok(detail.clone()));
        let view = detail.view.as_ref().expect("set above");
        let odd = StampOverride { target: NetId(9), from: Tick(u32::MAX), to: None, shift: -70 };
        let unusual = ShotDetail {
            number: u32::MAX,
            cone: SpreadCone { aim: Aim { yaw: 1, pitch: 1 }, half_angle: u16::MAX, ..detail.cone },
            up: Vec3::new(0.6, 0.8, 0.0),
            server_seed: 6,
            power: 255,
            is_blind: true,
            view: Some(UsedView {
                time: ViewTime::at(Tick(3)),
                bases: ViewTime::at(Tick(40)),
                overrides: vec![odd; 16],
                queued_ticks: u32::MAX,
                round_trip: Some(Duration::from_nanos(u64::MAX)),
            }),
            ..detail.clone()
        };
        let without = ShotDetail { view: None, ..detail.clone() };
        let times_of = |used| ShotTimes { used, ..times };
        for (detail, times) in [
            (unusual, times_of(Some(ViewTime::at(Tick(3))))),
            (without, times_of(None)),
            // Nobody claims a view on a machine with authority.
            (ShotDetail { view: Some(UsedView { overrides: vec![], ..view.clone() }), ..detail.clone() }, {
                ShotTimes { seen: None, ..times }
            }),
        ] {
            assert_eq!(ShotDetail::unpack(&detail.pack(&times), &times), Ok(detail));
        }
        assert_eq!(ShotDetail::unpack(&packed, &times_of(None)), Err(WireError::Invalid));
    }

    #[test]
    fn any_bytes_are_a_detail_or_an_error() {
        let mut rng = SmallRng::seed_from_u64(3);
        let (_, times) = usual();
        let mut read = 0;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..rng.random_range(0..80)).map(|_| rng.random()).collect();
            if let Ok(detail) = ShotDetail::unpack(&bytes, &times) {
                assert_eq!(ShotDetail::unpack(&detail.pack(&times), &times), Ok(detail));
                read += 1;
            }
        }
        assert!(read > 500, "{read}");
    }
}
