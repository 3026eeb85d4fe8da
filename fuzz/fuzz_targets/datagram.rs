//! Datagram filter: accepted datagrams have a form that netcode handles safely.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightyear_guard::check_datagram;

fuzz_target!(|bytes: &[u8]| {
    if !check_datagram(bytes) {
        return;
    }
    let prefix = bytes[0];
    if prefix == 0 {
        assert!(bytes.len() == 1_078 && bytes[1..].starts_with(b"NETCODE 1.02\0"));
        return;
    }
    let (kind, length) = (prefix & 15, usize::from(prefix >> 4));
    assert!((3..=6).contains(&kind), "clients send no packets of kind {kind}");
    assert!((1..=8).contains(&length), "a sequence number of {length} bytes");
    assert!((1 + length + 16..=1_300).contains(&bytes.len()), "a packet of {} bytes", bytes.len());
    let sequence = bytes[1..=length].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    // netcode adds 256 to the sequence number.
    assert!(sequence < 1 << 63, "sequence number {sequence} may overflow");
});
