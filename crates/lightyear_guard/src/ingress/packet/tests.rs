use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

const DATA: [u8; HEADER] = [0, 0, 7, 0, 6, 255, 255, 255, 255, 0, 0, 1, 2];

fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = [&DATA, body].concat();
    bytes[0] = kind;
    bytes
}

fn items(packet: &[u8]) -> Result<Vec<Item<'_>>, IngressRefusal> {
    let mut items = Vec::new();
    walk(packet, |item| {
        items.push(item);
        Ok(())
    })?;
    Ok(items)
}

#[test]
fn messages_are_parsed_with_and_without_ids() {
    let bytes = packet(0, &[3, 2, 0, 2, 8, 9, 1, 1, 0, 1, 7, 0x40, 70, 1, 0, 0]);
    let found = items(&bytes).unwrap();
    let expected = [
        Item::Message { channel: 3, id: None, bytes: &[8, 9] },
        Item::Message { channel: 3, id: Some(256), bytes: &[7] },
        Item::Message { channel: 70, id: None, bytes: &[] },
    ];
    assert_eq!(found, expected);
    assert_eq!(items(&packet(0, &[])), Ok(vec![]));
    assert_eq!(items(&packet(4, &[])), Ok(vec![]));
}

#[test]
fn fragment_followed_by_batches_is_parsed() {
    let bytes = packet(1, &[2, 0, 9, 0, 3, 0, 2, 5, 6, 3, 1, 0, 1, 4]);
    let found = items(&bytes).unwrap();
    assert_eq!(found[0], Item::Fragment { channel: 2, id: 9, index: 0, parts: 3, bytes: &[5, 6] });
    assert_eq!(found[1], Item::Message { channel: 3, id: None, bytes: &[4] });
    // Only the first fragment has a compression byte.
    let later = packet(1, &[2, 0, 9, 1, 3, 2, 5, 6]);
    assert_eq!(
        items(&later).unwrap(),
        [Item::Fragment { channel: 2, id: 9, index: 1, parts: 3, bytes: &[5, 6] }]
    );
}

#[test]
fn packets_that_lightyear_reads_differently_or_not_at_all_are_refused() {
    for (name, body, kind, refusal) in [
        ("compressed", &[3, 1, 0, 0][..], 2, IngressRefusal::PacketKind),
        ("a compressed fragment", &[2, 0, 9, 0, 3, 0, 1, 5], 3, IngressRefusal::PacketKind),
        ("an unknown kind", &[], 5, IngressRefusal::PacketKind),
        ("acknowledgements with trailing bytes", &[3, 1, 0, 0], 4, IngressRefusal::Malformed),
        ("an empty batch", &[3, 0], 0, IngressRefusal::Malformed),
        ("a message count beyond the end", &[3, 2, 0, 0], 0, IngressRefusal::Malformed),
        ("a message longer than the packet", &[3, 1, 0, 2, 8], 0, IngressRefusal::Malformed),
        (
            "a length of 2^62 - 1",
            &[3, 1, 0, 255, 255, 255, 255, 255, 255, 255, 255],
            0,
            IngressRefusal::Malformed,
        ),
        ("an id flag other than 0 and 1", &[3, 1, 2, 0, 0, 0], 0, IngressRefusal::Malformed),
        ("a channel that truncates to 3 in 16 bits", &[0x80, 1, 0, 3, 1, 0, 0], 0, IngressRefusal::Malformed),
        ("a fragment that is compressed", &[2, 0, 9, 0, 3, 1, 1, 5], 1, IngressRefusal::Malformed),
        ("a fragment longer than the packet", &[2, 0, 9, 1, 3, 9, 5], 1, IngressRefusal::Malformed),
    ] {
        assert_eq!(items(&packet(kind, body)), Err(refusal), "{name}");
    }
    assert_eq!(items(&DATA[..12]), Err(IngressRefusal::Size));
    assert_eq!(items(&[]), Err(IngressRefusal::Size));
}

#[test]
fn varints_of_every_length_are_read_as_lightyear_writes_them() {
    use lightyear_serde::writer::{WriteInteger, Writer};
    for number in [0, 1, 63, 64, 16_383, 16_384, 1_073_741_823, 1_073_741_824, 4_611_686_018_427_387_903] {
        let mut w = Writer::default();
        w.write_varint(number).unwrap();
        let written = w.into_bytes();
        let mut bytes = Bytes(&written);
        assert_eq!(bytes.varint(), Some(number));
        assert!(bytes.0.is_empty());
        assert_eq!(Bytes(&written[..written.len() - 1]).varint(), None);
    }
}

#[test]
fn random_packets_never_panic_and_visits_are_bounded_by_length() {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut random = || rng.random::<u64>();
    for _ in 0..200_000 {
        let length = random() as usize % 80;
        let mut bytes: Vec<u8> =
            (0..length).map(|_| (random() % 256) as u8 & (random() % 256) as u8).collect();
        if let Some(kind) = bytes.first_mut() {
            *kind %= 6;
        }
        let mut visits = 0;
        let _ = walk(&bytes, |_| {
            visits += 1;
            Ok(())
        });
        assert!(visits * 2 <= length, "{visits} in {length} bytes");
    }
}
