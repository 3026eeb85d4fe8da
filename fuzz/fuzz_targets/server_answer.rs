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
type Answer = MoveAck<State, Push>;

fuzz_target!(|bytes: &[u8]| {
    let Ok(answer) = Answer::read(&mut BitReader::new(bytes)) else { return };
    assert!(answer.epoch < 8 && answer.waiting < 16 && (-512..512).contains(&answer.lag));
    assert!(answer.held < Duration::from_millis(1_024));
    assert!(answer.pushes.len() <= MAX_PUSHES && answer.pushes.capacity() <= 2 * MAX_PUSHES);
    // All floats are finite.
    let printed = format!("{answer:?}");
    assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");

    let mut w = BitWriter::default();
    answer.write(&mut w);
    let again = Answer::read(&mut BitReader::new(&w.finish())).expect("an encoded value can be decoded");
    // The holding time on the server is rounded to 1/4,000 s.
    assert!(again.held.abs_diff(answer.held) <= Duration::from_micros(251), "{:?}", again.held);
    assert_eq!(Answer { held: answer.held, ..again }, answer);
});
