//! Decoder of a soldier's move packets.

#![no_main]

use bevy::math::Vec3;
use bevy_unlag_core::{BitReader, BitWriter, ExtendedInput, Tick, Wire};
use bevy_unlag_movement::CapsuleInput;
use bevy_unlag_prediction::{MAX_MOVES, MovePacket};
use bevy_unlag_weapons::WeaponInput;
use libfuzzer_sys::fuzz_target;

type Packet = MovePacket<ExtendedInput<CapsuleInput, WeaponInput>>;

fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = Packet::read(&mut BitReader::new(bytes)) else { return };
    assert!(packet.epoch < 8);
    assert!(packet.runs.capacity() < 2 * MAX_MOVES, "too much memory is allocated");
    let (mut moves, mut end) = (0, 0);
    for run in &packet.runs {
        assert!(run.length > 0 && run.age >= end && run.age - end < 128, "{run:?} after {end}");
        end = run.age + run.length;
        moves += usize::from(run.length);
        assert!(run.input.body.wish().is_finite() && run.input.body.look().is_finite());
        if let Some(fire) = run.input.extension.fire {
            let near = Vec3::new(-70.0, 3.0, 8_000.0);
            assert!((fire.view(Tick(9), Tick(u32::MAX), near).eye - near).abs().max_element() <= 4.01);
        }
    }
    assert!((1..=MAX_MOVES).contains(&moves) && packet.runs[0].age == 0, "{packet:?}");

    let mut w = BitWriter::default();
    packet.write(&mut w);
    assert_eq!(Packet::read(&mut BitReader::new(&w.finish())), Ok(packet));
});
