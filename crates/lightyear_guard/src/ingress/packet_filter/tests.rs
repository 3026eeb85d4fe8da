use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

const NOW: Duration = Duration::from_secs(1);
const MTU: (usize, Option<usize>) = (1_200, fragment_size_for_min_mtu(1_200));

fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, 0, 7, 0, 6, 255, 255, 255, 255, 0, 0, 1, 2], body].concat()
}

fn check(gate: &mut PacketFilter, limits: &IngressLimits, packet: &[u8]) -> Result<(), IngressRefusal> {
    gate.check(packet, &ChannelRules::example(), limits, MTU, NOW).map(|_| ())
}

#[test]
fn each_budget_admits_its_burst_and_refuses_with_its_own_reason() {
    let limits = IngressLimits::default();
    let data = packet(0, &[0, 1, 0, 3, 0, 9, 9]);
    let crowded = packet(0, &[&[0, 200][..], &[0, 3, 0, 9, 9].repeat(200)].concat());
    let pings = packet(0, &[&[2, 60][..], &[0, 3, 1, 9, 9].repeat(60)].concat());
    let long = packet(0, &[&[0, 1, 0, 0x44, 0, 0][..], &[7; 1_023]].concat());
    for (bytes, refusal, let_in) in [
        (&data, IngressRefusal::Packets, 1_024),
        (&crowded, IngressRefusal::Messages, 20),
        (&pings, IngressRefusal::ServiceMessages, 2),
        (&long, IngressRefusal::Bytes, 262_144 / long.len()),
    ] {
        let mut gate = PacketFilter::default();
        gate.advance(&limits, Duration::from_millis(1));
        for _ in 0..let_in {
            assert_eq!(check(&mut gate, &limits, bytes), Ok(()), "{refusal:?}");
        }
        assert_eq!(check(&mut gate, &limits, bytes), Err(refusal));
        gate.advance(&limits, Duration::from_secs(1));
        assert_eq!(check(&mut gate, &limits, bytes), Ok(()), "refilled over time: {refusal:?}");
    }
}

#[test]
fn refused_packet_leaves_no_reassembly_state() {
    let limits = IngressLimits::default();
    let mut gate = PacketFilter::default();
    // A message of a reliable channel, followed by one on a closed channel.
    let half = packet(0, &[1, 1, 1, 0, 0, 2, 0, 9, 9, 1, 0, 1, 0]);
    assert_eq!(check(&mut gate, &limits, &half), Err(IngressRefusal::Channel));
    let far = packet(0, &[1, 1, 1, 1, 0, 2, 0, 9]);
    assert_eq!(
        check(&mut gate, &limits, &far),
        Err(IngressRefusal::BeyondWindow),
        "number 0 is still missing"
    );
    assert_eq!(check(&mut gate, &limits, &packet(0, &[1, 1, 1, 0, 0, 2, 0, 9])), Ok(()));
    assert_eq!(check(&mut gate, &limits, &far), Ok(()));
}

#[test]
fn fragments_are_accepted_only_in_the_size_that_lightyear_cuts() {
    let limits = IngressLimits::default();
    let size = MTU.1.expect("the MTU is large enough");
    let part = |index: u8, parts: u8, length: usize| {
        let compression: &[u8] = if index == 0 { &[0] } else { &[] };
        let length_bytes = (length as u16 | 0x4000).to_be_bytes();
        let head = [&[1, 0, 5, index, parts][..], compression, &length_bytes].concat();
        packet(1, &[&head[..], &vec![0; length]].concat())
    };
    let mut gate = PacketFilter::default();
    assert_eq!(check(&mut gate, &limits, &part(0, 3, size - 1)), Err(IngressRefusal::Fragments));
    assert_eq!(check(&mut gate, &limits, &part(2, 3, size + 1)), Err(IngressRefusal::Fragments));
    for (index, length) in [(2, 100), (0, size), (1, size)] {
        assert_eq!(check(&mut gate, &limits, &part(index, 3, length)), Ok(()));
    }
    assert_eq!(check(&mut gate, &limits, &packet(0, &[0; 1_188])), Err(IngressRefusal::Size));
}

#[test]
fn random_packets_never_panic_the_gate() {
    let limits = IngressLimits { packets_per_second: f32::INFINITY, ..default() };
    let mut rng = SmallRng::seed_from_u64(1);
    let mut random = || rng.random::<u64>();
    let mut gate = PacketFilter::default();
    let mut admitted = 0;
    for _ in 0..200_000 {
        gate.advance(&limits, Duration::from_millis(1));
        let length = random() as usize % 40;
        let body: Vec<u8> =
            (0..length).map(|_| (random() % 8) as u8 * (random() % 3 / 2 * 30 + 1) as u8).collect();
        admitted += u32::from(check(&mut gate, &limits, &packet(random() as u8 % 5, &body)).is_ok());
    }
    assert!(admitted > 1_000, "{admitted}: too few packets are admitted to test anything");
}
