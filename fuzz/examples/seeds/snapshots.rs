//! Seeds of proxy updates and snapshot messages.

use bevy::prelude::*;
use bevy_unlag_core::{Arrival, BitWriter, NetId, ProxyUpdate, Snapshot, Tick, Up};

use crate::message;

/// Returns updates of a runner, of a pawn that has just landed, of one on a lift, one with unusual values, and one that
/// brings the update before.
fn updates() -> [(&'static str, ProxyUpdate); 5] {
    let at = |tick: u32, x: f32| {
        let place = Vec3::new(x, 0.02, -12.5);
        let snapshot = Snapshot::new(Tick(tick), place, Vec3::new(6.0, 0.0, 0.5));
        Snapshot { yaw: 40_000, pitch: -9, grounded: true, ..snapshot }
    };
    let came = |velocity: [i16; 3]| Some(Arrival { velocity, spin: None });
    let landed = Snapshot { arrival: came([192, -140, 16]), ..at(1_001, 3.1) };
    let lift = Snapshot { base: 3, crouch: 255, ..at(1_003, 1.0) };
    let odd = Snapshot {
        up: Up::new(Vec3::new(0.3, -1.0, 0.2)),
        spin: Some(-7_000),
        acceleration: [-40, 20, 3],
        arrival: Some(Arrival { velocity: [-4_000, 4_095, 12], spin: Some(30_000) }),
        alive: false,
        teleports: 5,
        falling: true,
        ..at(1_003, -8_000.0)
    };
    let before = ProxyUpdate::new(at(1_002, 3.2), &[landed]);
    [
        ("runner", at(1_003, 3.3).into()),
        ("landed", ProxyUpdate::new(at(1_003, 3.3), &[landed])),
        ("lift", ProxyUpdate::new(lift, &[at(1_000, 4.0), Snapshot { tick: Tick(1_001), ..lift }])),
        ("odd", ProxyUpdate::new(odd, &[landed, Snapshot { tick: Tick(1_002), ..odd }])),
        ("resent", ProxyUpdate::from(at(1_003, 3.3)).resending(&before)),
    ]
}

/// Base tick of the encoded updates.
const BASE: Tick = Tick(1_004);

fn written(update: &ProxyUpdate) -> BitWriter {
    let mut w = BitWriter::default();
    update.write(BASE, &mut w);
    w
}

/// Returns seeds with the base tick first, then the update.
pub fn proxy_updates() -> Vec<(&'static str, Vec<u8>)> {
    let seed = |update: &ProxyUpdate| [&BASE.0.to_le_bytes()[..], &written(update).finish()].concat();
    updates().iter().map(|(name, update)| (*name, seed(update))).collect()
}

pub fn snapshot_messages() -> Vec<(&'static str, Vec<u8>)> {
    let message = |pawns: &[(u16, BitWriter)]| {
        let mut bytes = Vec::new();
        message::write(BASE, pawns.iter().map(|(id, w)| (NetId(*id), w)), |message| bytes = message);
        bytes
    };
    let all = updates();
    let of = |ids: &[u16]| -> Vec<_> {
        ids.iter().enumerate().map(|(i, id)| (*id, written(&all[i % all.len()].1))).collect()
    };
    vec![
        ("one", message(&of(&[1]))),
        ("four", message(&of(&[1, 2, 3, 4]))),
        ("apart", message(&of(&[0, 900, 40_000, 65_535]))),
        ("crowd", message(&of(&(1..18).collect::<Vec<_>>()))),
    ]
}
