//! Seeds of game messages and component changes.

use bevy_unlag_core::{BitWriter, Tick, Wire};

/// Returns scripts of `game_message`: the first byte selects server or client; then the lowest three bits are
/// the operation, the others its amount. The target adds each type's key itself: a key depends on the type's
/// path, which would differ here.
pub fn game_messages() -> Vec<(&'static str, Vec<u8>)> {
    let (server, client): (&[u8], &[u8]) = (&[0], &[1]);
    let (guest, frame) = ([6_u8], |time: u8| [7 | time << 3]);
    let message = |kind: u8, about: Option<u16>, number: u32| {
        let mut w = BitWriter::default();
        w.bool(about.is_some());
        if let Some(id) = about {
            w.golomb(id, 4);
        }
        w.bits(number, 32);
        let bytes = w.finish();
        [&[2 + kind | (bytes.len() as u8) << 3][..], &bytes].concat()
    };
    let say = [message(0, None, 7), message(0, Some(1), 8), message(1, None, 9)].concat();
    let strange = [message(0, Some(2), 1), message(0, Some(9), 1), message(0, None, 1_001)].concat();
    let wrong =
        [message(2, None, 1), message(3, Some(1), 2), vec![0, 1, 8, 255, 1 | 3 << 3, 1, 2, 3]].concat();
    let tell = [message(2, Some(1), 7), message(3, None, 8), message(3, Some(2), 9)].concat();
    let early: Vec<u8> = (0..6).flat_map(|number| message(2, Some(3), number)).collect();
    vec![
        ("say", [server, &say, &frame(0), &say, &frame(1)].concat()),
        ("strange", [server, &strange, &guest, &message(0, Some(3), 1), &frame(0)].concat()),
        ("wrong_way", [server, &wrong, &frame(0)].concat()),
        ("waves", [server, &message(1, None, 3).repeat(60), &frame(0), &message(1, None, 4)].concat()),
        ("tell", [client, &tell, &frame(0), &say, &frame(1)].concat()),
        ("early", [client, &early, &frame(0), &guest, &frame(0), &guest, &early, &frame(3)].concat()),
    ]
}

/// Returns scripts of `component_change`: the lowest two bits are the operation, the others its amount.
pub fn changes() -> Vec<(&'static str, Vec<u8>)> {
    let change = |tick: u32, tilt: f32, kind: u32| {
        let mut w = BitWriter::default();
        Tick(tick).write(&mut w);
        w.f32(tilt);
        w.bits(kind, 3);
        let bytes = w.finish();
        [&[(bytes.len() as u8) << 2][..], &bytes].concat()
    };
    let honest = |much: u8| vec![2 | much << 2];
    let frame = vec![3];
    let junk = vec![1 | 4 << 2, 255, 255, 255, 255];
    let new = [change(9, 0.5, 2), change(8, 0.25, 3), change(10, f32::NAN, 1), change(11, 1.0, 7)].concat();
    vec![
        ("honest", [honest(0), frame.clone(), honest(5), honest(3), frame.clone()].concat()),
        ("newest", [new.clone(), frame.clone(), change(7, 0.75, 1), frame.clone()].concat()),
        ("around", [change(u32::MAX, 1.0, 1), frame.clone(), change(2, 2.0, 2), frame.clone()].concat()),
        ("junk", [junk.clone(), new, frame.clone(), junk, vec![0], frame.clone()].concat()),
        ("flood", [vec![0; 270], change(9, 0.5, 2), frame.clone(), change(9, 0.5, 2), frame].concat()),
    ]
}
