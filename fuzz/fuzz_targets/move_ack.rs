//! Decoder of acknowledgements for a soldier's owner.

#![no_main]

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, MoveModel, Wire};
use bevy_unlag_movement::CapsuleModel;
use bevy_unlag_prediction::{MAX_PUSHES, MoveAck};
use bevy_unlag_weapons::WithWeapons;
use libfuzzer_sys::fuzz_target;

type Soldier = WithWeapons<CapsuleModel>;
type State = <Soldier as MoveModel>::State;
type Push = <Soldier as MoveModel>::Push;
type Ack = MoveAck<State, Push>;

fuzz_target!(|bytes: &[u8]| {
    let Ok(ack) = Ack::read(&mut BitReader::new(bytes)) else { return };
    assert!(ack.epoch < 8 && ack.queued_moves < 16 && (-512..512).contains(&ack.lag));
    assert!(ack.ack_delay < Duration::from_millis(1_024));
    assert!(ack.pushes.len() <= MAX_PUSHES && ack.pushes.capacity() <= 2 * MAX_PUSHES);
    // All floats are finite.
    let printed = format!("{ack:?}");
    assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");

    let mut w = BitWriter::default();
    ack.write(&mut w);
    let again = Ack::read(&mut BitReader::new(&w.finish())).expect("an encoded value can be decoded");
    // The holding time on the server is rounded to 1/4,000 s.
    assert!(again.ack_delay.abs_diff(ack.ack_delay) <= Duration::from_micros(251), "{:?}", again.ack_delay);
    assert_eq!(Ack { ack_delay: ack.ack_delay, ..again }, ack);
});
