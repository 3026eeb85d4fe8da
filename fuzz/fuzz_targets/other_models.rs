//! Decoders of move packets and acknowledgements of a kart and of a character with abilities, of a derived
//! type with every kind of field, and of schedules of movement bases. The first byte selects the kind.

#![no_main]

use core::fmt::Debug;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, NetId, Wire};
use bevy_unlag_movement::{
    BaseAnnouncement, CapsulePush, CapsuleWith, KartModel,
    abilities::{Dash, Teleport},
};
use bevy_unlag_prediction::{MAX_MOVES, MAX_PUSHES, MoveAck, MovePacket};
use libfuzzer_sys::fuzz_target;

type Able = CapsuleWith<(Dash, Teleport)>;

fn again<T: Wire>(value: &T) -> T {
    let mut w = BitWriter::default();
    value.write(&mut w);
    T::read(&mut BitReader::new(&w.finish())).expect("an encoded value can be decoded")
}

fn packet<M: MoveModel>(bytes: &[u8])
where
    M::Input: PartialEq + Debug,
{
    let Ok(packet) = MovePacket::<M::Input>::read(&mut BitReader::new(bytes)) else { return };
    let moves: usize = packet.runs.iter().map(|run| usize::from(run.length)).sum();
    assert!((1..=MAX_MOVES).contains(&moves), "{moves} moves");
    assert_eq!(again(&packet), packet);
}

fn ack<M: MoveModel>(bytes: &[u8])
where
    M::State: Debug,
    M::Push: Debug,
{
    let Ok(ack) = MoveAck::<M::State, M::Push>::read(&mut BitReader::new(bytes)) else { return };
    assert!(ack.pushes.len() <= MAX_PUSHES);
    if let Some(adjustment) = &ack.adjustment {
        assert!(M::position(&adjustment.state).is_finite());
    }
    let printed = format!("{ack:?}");
    assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");
    // A float at the end of its range may be rounded once.
    let once = format!("{:?}", again(&ack).adjustment);
    assert_eq!(format!("{:?}", again(&again(&ack)).adjustment), once);
}

/// A derived type with every kind of field.
#[derive(Wire, Clone, PartialEq, Debug)]
enum Derived {
    Empty,
    Floats {
        whole: f32,
        #[wire(range = -1.0..=1.0, bits = 8)]
        stick: Vec2,
        #[wire(range = -500.0..=500.0, step = 0.01)]
        place: Vec3,
        #[wire(angle, bits = 16)]
        yaw: f32,
        #[wire(unit, bits = 32)]
        aim: Dir3,
    },
    Integers(#[wire(bits = 5)] i32, #[wire(range = 1..=6)] u8, i64, [Option<NetId>; 2]),
    Lists {
        #[wire(max = 40, range = -1.0..=1.0, bits = 12)]
        points: Vec<Vec3>,
        #[wire(max = 9)]
        pushes: Vec<CapsulePush>,
        #[wire(max = 30)]
        text: String,
    },
    Nested(Option<Extents>, bool),
}

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct Extents {
    half: [f32; 3],
}

fn derived(bytes: &[u8]) {
    let mut r = BitReader::new(bytes);
    let Ok(base) = Derived::read(&mut r) else { return };
    assert_eq!(again(&base), base);
    assert_eq!(base.clone().quantised(), base);
    let Ok(value) = Derived::read_delta(&base, &mut r) else { return };
    assert_eq!(again(&value), value);
    let mut w = BitWriter::default();
    value.write_delta(&base, &mut w);
    assert_eq!(Derived::read_delta(&base, &mut BitReader::new(&w.finish())), Ok(value));
}

fn base_announcement(bytes: &[u8]) {
    let Ok(announced) = BaseAnnouncement::read(&mut BitReader::new(bytes)) else { return };
    assert_eq!(again(&announced), announced);
    let printed = format!("{announced:?}");
    assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((what, bytes)) = bytes.split_first() else { return };
    match what % 6 {
        0 => packet::<KartModel>(bytes),
        1 => ack::<KartModel>(bytes),
        2 => packet::<Able>(bytes),
        3 => ack::<Able>(bytes),
        4 => derived(bytes),
        _ => base_announcement(bytes),
    }
});
