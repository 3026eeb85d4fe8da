//! Seeds of packet scripts, operation scripts and connect tokens.

use lightyear_guard::{ConnectTokenRequest, ServerKey};

use crate::traffic::RecordedTraffic;

/// Returns one step of a `packet_filter` script: the time that passes, and a packet.
fn step(time: u8, packet: &[u8]) -> Vec<u8> {
    [&[packet.len() as u8, (packet.len() >> 8) as u8 | time << 3][..], packet].concat()
}

/// Returns scripts of packets for the channels of the probe: a ping, reliable messages in and out of order, a
/// large message in fragments.
pub fn packet_scripts(packets: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let packet = |kind: u8, body: &[u8]| [&[kind, 0, 7, 0, 6, 255, 255, 255, 255, 0, 0, 1, 2], body].concat();
    let reliable = |id: u8| packet(0, &[1, 1, 1, 0, id, 2, 0, 9]);
    let part = |index: u8, parts: u8, length: usize| {
        let compression: &[u8] = if index == 0 { &[0] } else { &[] };
        let length_bytes = (length as u16 | 0x4000).to_be_bytes();
        let head = [&[1, 0, 5, index, parts][..], compression, &length_bytes].concat();
        packet(1, &[&head[..], &vec![0; length]].concat())
    };
    let play =
        [packet(0, &[0, 2, 0, 3, 0, 9, 9, 0, 2, 0, 1]), packet(0, &[2, 1, 0, 3, 1, 0, 7]), packet(4, &[])];
    let size = lightyear::transport::packet::fragment_size_for_min_mtu(1_200).unwrap_or(1_000);
    let scripts = [
        ("play", play.concat_steps(3)),
        ("reliable", [2, 0, 1, 3, 3, 5].map(reliable).concat_steps(2)),
        ("parts", [part(2, 3, 40), part(0, 3, size), part(1, 3, size)].concat_steps(3)),
        ("flood", vec![packet(0, &[0, 1, 0, 3, 0, 9, 9]); 60].concat_steps(0)),
        ("received", packets.concat_steps(3)),
    ];
    scripts.into_iter().map(|(name, script)| (name.to_owned(), script)).collect()
}

trait Script {
    /// Concatenates packets into a script with the same time before each.
    fn concat_steps(&self, time: u8) -> Vec<u8>;
}

impl Script for [Vec<u8>] {
    fn concat_steps(&self, time: u8) -> Vec<u8> {
        self.iter().flat_map(|packet| step(time, packet)).collect()
    }
}

/// Returns scripts of `op_script`: the lowest four bits are the operation, the others its amount.
pub fn scripts(traffic: &RecordedTraffic) -> Vec<(&'static str, Vec<u8>)> {
    let pass = |steps: u8| vec![(steps - 1) << 4];
    let op = |what: u8, much: u8| vec![what | much << 4];
    let datagram = |bytes: &[u8]| [&op(10, 0), &(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let packet = |bytes: &[u8]| {
        let much = (bytes.len().saturating_sub(13) / 4).min(15) as u8;
        [&op(11, much), &bytes[..13 + usize::from(much) * 4]].concat()
    };
    let message = |what: u8, channel: u8, kind: u8, body: &[u8]| {
        [&op(what, (body.len() / 2) as u8), &[channel, kind][..], body].concat()
    };
    let long = |bytes: &&Vec<u8>| bytes.len() >= 13 + 16;
    let garbage: Vec<u8> =
        traffic.packets.iter().filter(long).take(3).flat_map(|bytes| packet(bytes)).collect();
    let strangers: Vec<u8> = traffic.datagrams.iter().take(3).flat_map(|bytes| datagram(bytes)).collect();
    let every: Vec<u8> =
        (0..16).flat_map(|kind| message(13, kind % 12, kind, &[7; 8])).chain(pass(4)).collect();
    vec![
        ("play", [pass(16), pass(16), pass(16)].concat()),
        ("outage", [pass(9), op(4, 15), op(5, 15), pass(16), pass(16), op(15, 0), pass(16)].concat()),
        ("loss", [op(4, 5), op(5, 5), op(6, 5), op(7, 6), pass(16), pass(16)].concat()),
        ("hitch", [pass(9), op(8, 15), pass(16), op(9, 15), pass(16)].concat()),
        ("leave", [pass(9), op(15, 15), pass(9), garbage.clone(), pass(9)].concat()),
        ("garbage", [pass(9), garbage, pass(9)].concat()),
        ("strangers", [pass(9), strangers, pass(9)].concat()),
        ("messages", [pass(4), every, pass(16)].concat()),
    ]
}

/// Returns scripts of connection requests, bytes of tokens, and texts of keys, each preceded by its kind.
pub fn tokens() -> Vec<(&'static str, Vec<u8>)> {
    let key = ServerKey::development();
    let token = |server: &str, data: &[u8]| {
        let server = server.parse().expect("a valid address");
        let request = ConnectTokenRequest::new(5, server, 9);
        let request = ConnectTokenRequest { data: data.to_vec(), ..request };
        let mut token = request.issue(&key).expect("a token can be issued");
        // A far expiry keeps the seed valid; a client cannot verify the time of creation.
        token[29..37].copy_from_slice(&4_102_444_800_u64.to_be_bytes());
        [&[1][..], &token].concat()
    };
    vec![
        // One link joins and another shows the same token; then the first one leaves.
        ("twice", vec![0, 0, 5, 8, 0, 7, 0, 8]),
        ("two", vec![0, 0, 9, 5, 13, 1, 8, 15, 9]),
        ("not_good", vec![0, 2, 3, 10, 11, 1]),
        // Changed bytes of the protocol, the expiry, the nonce, the body and the end of the seal.
        (
            "forged",
            [
                &[0][..],
                &[0x10, 0, 14, 1],
                &[0x10, 0, 29, 1],
                &[0x10, 0, 40, 1],
                &[0x10, 1, 0, 255],
                &[0x11, 4, 53, 1],
            ]
            .concat(),
        ),
        ("junk", vec![0, 4, 0, 3, 1, 2, 3, 4, 0, 0]),
        ("token", token("10.0.0.7:5000", b"team blue")),
        ("address", token("[2001:db8::7]:5001", b"")),
        ("key", [&[2][..], key.to_hex().as_bytes(), b"\n"].concat()),
        ("zero_key", [&[2][..], &[b'0'; 64]].concat()),
    ]
}
