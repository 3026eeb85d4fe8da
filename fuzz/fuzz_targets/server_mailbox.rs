//! A server that is sent anything, at any time: nobody walks further than there was time for.
//!
//! The bytes are a script: one says what happens and how much of it, and those of a message follow.
//! The server and what is watched are those of the property tests.

#![no_main]

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use bevy_unlag_prediction::PredictionConfig;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/bevy_unlag_prediction/tests/properties/server.rs"]
mod server;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/bevy_unlag_prediction/tests/properties/walker.rs"]
mod walker;

use server::{Server, TICK};

/// Frames that one script may take, so that thousands of scripts are run.
const MOST_FRAMES: u32 = 400;

/// Puts a packet on the server's time line: its epoch and its tick, which bytes that were made up
/// long ago cannot know.
fn on_time(bytes: &[u8], server: &Server, lead: i8) -> Vec<u8> {
    const EPOCH_BITS: u32 = 3;
    const SEQUENCE_BITS: u32 = 8;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(8), 0);
    let mut head = [0; 8];
    head.copy_from_slice(&bytes[..8]);
    let newest = server.now().offset(1 + i32::from(lead) * 2).0 as u16;
    let mut bits = u64::from_le_bytes(head);
    let newest_at = EPOCH_BITS + SEQUENCE_BITS;
    bits &= !(7 | 0xffff << newest_at);
    bits |= u64::from(server.epoch & 7) | u64::from(newest) << newest_at;
    bytes[..8].copy_from_slice(&bits.to_le_bytes());
    bytes
}

fn frames(server: &mut Server, left: &mut u32, count: u32, length: Duration) {
    for _ in 0..count.min(*left) {
        *left -= 1;
        if let Err(why) = server.frame(length) {
            panic!("{why}");
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut server = Server::new(PredictionConfig::default(), Tick(u32::MAX - 100));
    let mut left = MOST_FRAMES;
    let mut last = Vec::new();
    let mut script = bytes;
    while let Some((first, rest)) = script.split_first() {
        script = rest;
        let much = first >> 3;
        match first & 7 {
            // As it is.
            0 => {
                let (message, rest) = script.split_at(script.len().min(usize::from(much)));
                script = rest;
                server.deliver(message.to_vec());
            }
            // On the time line, up to three seconds early or late.
            1 | 2 => {
                let Some((lead, rest)) = script.split_first() else { break };
                let (message, rest) = rest.split_at(rest.len().min(usize::from(much)));
                script = rest;
                last = on_time(message, &server, lead.cast_signed());
                server.deliver(last.clone());
            }
            // The same again.
            3 => (0..=much).for_each(|_| server.deliver(last.clone())),
            // The same with other ticks, each newer than the one before.
            4 => {
                let Some((lead, rest)) = script.split_first() else { break };
                script = rest;
                for i in 0..=much {
                    let lead = lead.wrapping_add(i).cast_signed();
                    server.deliver(on_time(&last, &server, lead));
                }
            }
            5 => frames(&mut server, &mut left, u32::from(much) + 1, TICK),
            6 => frames(&mut server, &mut left, 1, Duration::from_millis(u64::from(much) * 100)),
            _ => server.push(Vec3::new(f32::from(much) / 16.0, 0.0, 0.1)),
        }
    }
    frames(&mut server, &mut left, 40, TICK);
});
