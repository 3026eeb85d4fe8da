//! Who says something again.

use std::sync::{Arc, Mutex};

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, Wire};
use bevy_unlag_prediction::MovePacket;
use bevy_unlag_rewind::ViewTrust;
use bevy_unlag_weapons::{FireInput, ShotRefusal, ShotResult, ShotVerdict, Weapon};

use crate::{
    cheat::Input,
    stage::Duel,
    stamps::{gullible, stride},
};

#[test]
fn a_packet_that_comes_again_fires_nothing_again() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    let from = duel.packets.len();
    assert!(matches!(duel.tap(), ShotResult::Hit(_)));
    let fires = |bytes: &Vec<u8>| {
        let packet = MovePacket::<Input>::read(&mut BitReader::new(bytes)).expect("a packet");
        packet.runs.iter().any(|run| run.input.extension.fire.is_some())
    };
    let again: Vec<_> = duel.packets[from..].iter().filter(|bytes| fires(bytes)).cloned().collect();
    assert!(!again.is_empty());
    // At once, after a second, and after a while, in either order.
    for wait in [0, 64, 400] {
        duel.run(wait);
        for bytes in again.iter().chain(again.iter().rev()) {
            duel.deliver(bytes.clone());
        }
        duel.run(20);
    }
    assert_eq!((duel.damage.len(), duel.verdicts.len()), (1, 1));
    assert!(matches!(duel.tap(), ShotResult::Hit(_)), "it is served as before");
}

/// Shoots honestly at somebody who walks by, and fires the very same bits again in a later move. Says what became of
/// that.
fn again(later: u32, trust: ViewTrust) -> ShotVerdict {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.server.insert_resource(trust);
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
    // It goes on looking where it looked.
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
    assert!(matches!(duel.verdicts[0].result, ShotResult::Hit(_)), "the honest one: {:?}", duel.verdicts);
    duel.verdicts[1]
}

#[test]
fn an_old_shot_in_a_new_move_is_a_new_shot_of_now() {
    let after = again(14, ViewTrust::default());
    assert_eq!(after.result, ShotResult::Miss);
    assert!(after.clamped, "it was judged at another moment");
    // Where everything is believed it hits the past.
    let believed = again(14, gullible());
    assert!(matches!(believed.result, ShotResult::Hit(_)), "{believed:?}");
    // A second later nobody believes it.
    assert_eq!(again(70, ViewTrust::default()).result, ShotResult::Miss);
    assert_eq!(again(70, gullible()).result, ShotResult::Refused(ShotRefusal::TooOld));
}
