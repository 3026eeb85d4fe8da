//! Decoders of a server's messages about shots. The first byte selects the kind.

#![no_main]

use core::fmt::Debug;

use bevy_unlag_core::{BitReader, BitWriter, Tick, ViewTime, Wire};
use bevy_unlag_weapons::{
    Bounce, FireRules, HeldWeapon, HitList, Projectile, ProjectileEnd, ProjectileLaunch, ScreenRules,
    ShotDetail, ShotResult, ShotTimes, ShotVerdict, Tracer, Trajectory,
};
use libfuzzer_sys::fuzz_target;

#[cfg_attr(not(test), expect(dead_code, reason = "the server uses more of it"))]
#[path = "../../crates/bevy_unlag_lightyear/src/shot_effects/tracer_message.rs"]
mod tracer_message;

/// Checks that a decoded value survives encoding: a float at the end of its range may be rounded once.
fn read<T: Wire + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let again = |value: &T| {
        let mut w = BitWriter::default();
        value.write(&mut w);
        T::read(&mut BitReader::new(&w.finish())).expect("an encoded value can be decoded")
    };
    let once = again(&T::read(&mut BitReader::new(bytes)).ok()?);
    assert_eq!(again(&once), once);
    Some(once)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((what, bytes)) = bytes.split_first() else { return };
    match what % 7 {
        0 => {
            if let Some(ShotVerdict { result: ShotResult::Hit(list), .. }) = read(bytes) {
                assert!(list.iter().len() <= HitList::MAX_TARGETS);
            }
        }
        1 => {
            assert!(tracer_message::read(bytes).count() <= bytes.len());
            let Some(tracer) = read::<Tracer>(bytes) else { return };
            let from = bevy::math::Vec3::new(3.0, 1.5, -20.0);
            assert!(tracer.directions(from, 12).all(bevy::prelude::Vec3::is_normalized), "{tracer:?}");
        }
        2 => {
            let Some(launch) = read::<ProjectileLaunch>(bytes) else { return };
            let bounce = Some(Bounce { times: 3, keep: 0.5, off_pawns: true });
            let projectile =
                Projectile { speed: 20.0, radius: 0.1, life: 4.0, gravity: 9.8, bounce, splash: None };
            let mut path = Trajectory::new(&launch, &projectile, 1.0 / 64.0);
            for _ in 0..300 {
                path.advance(|_, _, _, _| None);
            }
            let (place, velocity) = path.at(200.0);
            assert!(place.is_finite() && velocity.is_finite(), "{launch:?}");
        }
        3 => {
            let Some(end) = read::<ProjectileEnd>(bytes) else { return };
            assert!(end.point.is_finite());
        }
        4 => _ = read::<HeldWeapon>(bytes),
        5 => {
            let time = Some(ViewTime { tick: Tick(u32::from(*what)), fraction: *what });
            let times = ShotTimes { own: Tick(3), seen: time.filter(|_| what & 8 != 0), used: time };
            let Ok(detail) = ShotDetail::unpack(bytes, &times) else { return };
            let again =
                ShotDetail::unpack(&detail.pack(&times), &times).expect("a packed detail can be read");
            assert!(again.pack(&times) == detail.pack(&times), "{detail:?}");
        }
        _ => {
            let Some(rules) = read::<ScreenRules>(bytes) else { return };
            assert!(rules.within(&FireRules::default()).eye_tolerance.is_finite());
        }
    }
});
