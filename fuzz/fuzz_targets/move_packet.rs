//! Any bytes are a packet of a soldier's moves that a server can work with, or an error.

#![no_main]

use bevy_unlag_core::{BitReader, BitWriter, ExtendedInput, Wire};
use bevy_unlag_movement::CapsuleInput;
use bevy_unlag_prediction::{MAX_MOVES, MovePacket};
use bevy_unlag_weapons::FireInput;
use libfuzzer_sys::fuzz_target;

type Packet = MovePacket<ExtendedInput<CapsuleInput, Option<FireInput>>>;

fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = Packet::read(&mut BitReader::new(bytes)) else { return };
    assert!(packet.epoch < 8);
    assert!(packet.runs.capacity() < 2 * MAX_MOVES, "a list that grows doubles its memory");
    let (mut moves, mut end) = (0, 0);
    for run in &packet.runs {
        assert!(run.length > 0 && run.age >= end && run.age - end < 128, "{run:?} after {end}");
        end = run.age + run.length;
        moves += usize::from(run.length);
        assert!(run.input.body.wish().is_finite() && run.input.body.look().is_finite());
        assert!(run.input.extension.is_none_or(|fire| fire.eye().is_finite()));
    }
    assert!((1..=MAX_MOVES).contains(&moves) && packet.runs[0].age == 0, "{packet:?}");

    let mut w = BitWriter::default();
    packet.write(&mut w);
    assert_eq!(Packet::read(&mut BitReader::new(&w.finish())), Ok(packet));
});
