//! Packet filter: the packets that it accepts from a client stay within its rate limits and within what
//! lightyear may store.
//!
//! The input is a script: two bytes give the length of a packet and the time before it; the packet follows.

#![no_main]

use core::time::Duration;
use std::collections::{HashMap, HashSet};

use libfuzzer_sys::fuzz_target;
use lightyear_guard::{IngressRefusal, check_packet, fuzzing::PacketFilterProbe};

/// Independent model of what lightyear stores for a client.
#[derive(Default)]
struct LightyearState {
    /// Received messages of the reliable channel after the first missing one.
    received: HashSet<u64>,
    /// First missing message, counted on beyond 65,535.
    missing: u64,
    /// Incomplete fragmented messages of the reliable channel: their number of fragments, and the received
    /// ones.
    open: HashMap<u64, (u64, HashSet<u64>)>,
}

/// Byte reader that is independent of the filter's.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u64 {
        let (first, rest) = self.0.split_first().expect("the filter has checked the length");
        self.0 = rest;
        u64::from(*first)
    }

    fn word(&mut self) -> u64 {
        self.byte() << 8 | self.byte()
    }

    fn varint(&mut self) -> u64 {
        let first = self.byte();
        (1..1 << (first >> 6)).fold(first & 63, |number, _| number << 8 | self.byte())
    }

    fn skip(&mut self) {
        let length = usize::try_from(self.varint()).expect("the filter has checked the length");
        self.0 = &self.0[length..];
    }
}

/// Maximum distance of a message of the reliable channel from the first missing one.
const AHEAD: u64 = 256;

impl LightyearState {
    /// Converts a message id into one that does not wrap; `None` for an old one.
    fn whole(&self, id: u64) -> Option<u64> {
        let ahead = id.wrapping_sub(self.missing) & 0xFFFF;
        (ahead < 1 << 15).then_some(self.missing + ahead)
    }

    fn take(&mut self, id: u64) {
        let Some(id) = self.whole(id) else { return };
        assert!(id - self.missing < AHEAD, "{id} is stored while {} is missing", self.missing);
        self.received.insert(id);
        while self.received.remove(&self.missing) {
            self.missing += 1;
        }
        assert!(self.received.len() < AHEAD as usize);
    }

    fn take_part(&mut self, id: u64, index: u64, parts: u64) {
        let Some(whole) = self.whole(id).filter(|whole| !self.received.contains(whole)) else { return };
        let (known, indices) = self.open.entry(whole).or_insert((parts, HashSet::new()));
        assert!(*known == parts && index < parts, "fragment {index} of {parts}, or of {known}");
        indices.insert(index);
        if indices.len() as u64 == parts {
            self.open.remove(&whole);
            self.take(id);
        }
        // All channels together may have four incomplete messages.
        assert!(self.open.len() <= 4, "{} incomplete messages are stored", self.open.len());
    }

    fn read(&mut self, packet: &[u8]) {
        let mut rest = Bytes(&packet[13..]);
        if packet[0] == 1 {
            let (channel, id) = (rest.varint(), rest.word());
            let (index, parts) = (rest.varint(), rest.varint());
            if index == 0 {
                rest.byte();
            }
            rest.skip();
            if channel == 1 {
                self.take_part(id, index, parts);
            }
        }
        while !rest.0.is_empty() {
            let (channel, count) = (rest.varint(), rest.byte());
            for _ in 0..count {
                let id = (rest.byte() == 1).then(|| rest.word());
                rest.skip();
                if channel == 1 {
                    self.take(id.expect("the filter has checked the id"));
                }
            }
        }
    }
}

fuzz_target!(|script: &[u8]| {
    let mut gate = PacketFilterProbe::default();
    let (mut kept, mut script) = (LightyearState::default(), script);
    let (mut seconds, mut packets, mut bytes, mut messages) = (0.0, 0, 0, 0);
    while let [length, time, rest @ ..] = script {
        let length = usize::from(*length) | usize::from(time & 7) << 8;
        let (packet, rest) = rest.split_at(length.min(rest.len()));
        script = rest;
        // Mostly one packet per tick, at times several or seconds of silence.
        let passed = Duration::from_millis([0, 0, 1, 15, 15, 16, 100, 4_000][usize::from(time >> 3 & 7)]);
        gate.advance(passed);
        seconds += passed.as_secs_f32();
        let Ok(items) = gate.check(packet) else { continue };
        assert_eq!(check_packet(packet), Ok(items as usize), "an accepted packet has an invalid form");
        assert!(packet.len() <= 1_200);
        packets += 1;
        bytes += packet.len();
        messages += items;
        kept.read(packet);
    }
    let limits = gate.limits();
    // A burst, then one second's worth per second.
    let most = |rate: f32| rate * (seconds + limits.burst.as_secs_f32()) * 1.001 + 1.0;
    assert!(packets as f32 <= most(limits.packets_per_second), "{packets} packets in {seconds} s");
    assert!(bytes as f32 <= most(limits.bytes_per_second), "{bytes} bytes in {seconds} s");
    assert!(messages as f32 <= most(limits.messages_per_second), "{messages} messages in {seconds} s");
    assert_ne!(gate.check(&[]), Err(IngressRefusal::PendingKick));
});
