//! Server that receives arbitrary messages at arbitrary times: no pawn moves further than the elapsed time
//! permits.
//!
//! The input is a script: one byte selects the operation and its amount; the bytes of a message follow. The
//! server and the checks are those of the property tests.

#![no_main]

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use bevy_unlag_prediction::PredictionConfig;
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/bevy_unlag_prediction/tests/integration/properties/monitored_server.rs"]
mod monitored_server;
#[path = "../../crates/bevy_unlag_prediction/tests/integration/properties/walker.rs"]
mod walker;

use monitored_server::{Server, TICK};

/// Maximum number of frames per script, small enough to run thousands of scripts.
const MAX_FRAMES: u32 = 400;

/// Sets the epoch and the tick of a packet to match the server's timeline, which stored bytes cannot do.
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
    let mut left = MAX_FRAMES;
    let mut last = Vec::new();
    let mut script = bytes;
    while let Some((first, rest)) = script.split_first() {
        script = rest;
        let much = first >> 3;
        match first & 7 {
            // An unchanged message.
            0 => {
                let (message, rest) = script.split_at(script.len().min(usize::from(much)));
                script = rest;
                server.deliver(message.to_vec());
            }
            // A message that fits the timeline, up to three seconds early or late.
            1 | 2 => {
                let Some((lead, rest)) = script.split_first() else { break };
                let (message, rest) = rest.split_at(rest.len().min(usize::from(much)));
                script = rest;
                last = on_time(message, &server, lead.cast_signed());
                server.deliver(last.clone());
            }
            // Copies of the last message.
            3 => (0..=much).for_each(|_| server.deliver(last.clone())),
            // Copies of the last message with increasing ticks.
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
