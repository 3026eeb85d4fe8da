//! Clients that repeat packets or shots.

use std::sync::{Arc, Mutex};

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, Wire};
use bevy_unlag_prediction::MovePacket;
use bevy_unlag_rewind::ViewValidationConfig;
use bevy_unlag_weapons::{FireInput, ShotRefusal, ShotResult, ShotVerdict, Weapon};

use crate::adversaries::{
    cheat::Input,
    stage::Duel,
    view_time::{gullible, stride},
};

#[test]
fn repeated_packet_fires_no_second_shot() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    let from = duel.packets.len();
    assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)));
    let fires = |bytes: &Vec<u8>| {
        let packet = MovePacket::<Input>::read(&mut BitReader::new(bytes)).expect("a packet");
        packet.runs.iter().any(|run| run.input.extension.fire.is_some())
    };
    let again: Vec<_> = duel.packets[from..].iter().filter(|bytes| fires(bytes)).cloned().collect();
    assert!(!again.is_empty());
    // Immediately, after a second, and later, in either order.
    for wait in [0, 64, 400] {
        duel.run(wait);
        for bytes in again.iter().chain(again.iter().rev()) {
            duel.deliver(bytes.clone());
        }
        duel.run(20);
    }
    assert_eq!((duel.damage.len(), duel.verdicts.len()), (1, 1));
    assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)), "the client is served as before");
}

/// Fires an honest shot at a walking target, repeats the same bits in a later move, and returns the verdict
/// on the repetition.
fn again(later: u32, config: ViewValidationConfig) -> ShotVerdict {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.server.insert_resource(config);
    let known = Arc::new(Mutex::new(None::<FireInput>));
    let heard = known.clone();
    let mut walk = stride(Vec3::X * 5.0);
    walk(&mut duel, 400);
    duel.modify(move |knows, input, _| {
        let mut known = heard.lock().expect("one thread");
        if known.is_none() {
            *known = Some(knows.shot(input));
            input.extension.fire = *known;
        }
    });
    // The view direction is kept.
    duel.aside = None;
    walk(&mut duel, later);
    assert!(duel.verdicts.len() <= 1);
    let mut done = false;
    duel.modify(move |_, input, _| {
        if !core::mem::replace(&mut done, true) {
            input.extension.fire = *known.lock().expect("one thread");
        }
    });
    walk(&mut duel, 40);
    assert_eq!(duel.verdicts.len(), 2, "{:?}", duel.verdicts);
    assert!(matches!(duel.verdicts[0].result, ShotResult::Hit(_)), "the honest shot: {:?}", duel.verdicts);
    duel.verdicts[1]
}

#[test]
fn old_shot_in_a_new_move_is_evaluated_as_a_new_shot() {
    let after = again(14, ViewValidationConfig::default());
    assert_eq!(after.result, ShotResult::Miss);
    assert!(after.clamped, "the view time was clamped");
    // With view validation disabled it hits the past.
    let believed = again(14, gullible());
    assert!(matches!(believed.result, ShotResult::Hit(_)), "{believed:?}");
    // A second later its view time is implausible.
    assert_eq!(again(70, ViewValidationConfig::default()).result, ShotResult::Miss);
    assert_eq!(again(70, gullible()).result, ShotResult::Refused(ShotRefusal::TooOld));
}
