//! Decoders of move packets and acknowledgements of a kart and of a character with abilities. The first byte
//! selects the kind.

#![no_main]

use core::fmt::Debug;

use bevy_unlag_core::{BitReader, BitWriter, MoveModel, Wire};
use bevy_unlag_movement::{
    CapsuleWith, KartModel,
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

fuzz_target!(|bytes: &[u8]| {
    let Some((what, bytes)) = bytes.split_first() else { return };
    match what % 4 {
        0 => packet::<KartModel>(bytes),
        1 => ack::<KartModel>(bytes),
        2 => packet::<Able>(bytes),
        _ => ack::<Able>(bytes),
    }
});
