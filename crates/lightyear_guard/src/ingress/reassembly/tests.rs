use super::*;

const ORDER: Retention = Retention::Windowed(0);
const NOW: Duration = Duration::from_secs(9);

fn part(id: u16, index: u64, parts: u64) -> FragmentHeader {
    FragmentHeader { channel: 3, id, index, parts }
}

fn give(
    kept: &mut ReassemblyState,
    retention: Retention,
    part: FragmentHeader,
    now: Duration,
) -> Result<(), IngressRefusal> {
    kept.admits_fragment(retention, part, 8, now).inspect(|()| kept.record_fragment(retention, part, now))
}

#[test]
fn reordered_reliable_messages_are_admitted_across_the_id_wrap() {
    let mut kept = ReassemblyState::new(1);
    for id in 0..200_000_u32 {
        // Blocks of ten, each in reverse order.
        let id = (id / 10 * 10 + 9 - id % 10) as u16;
        assert_eq!(kept.admits(ORDER, Some(id)), Ok(()));
        kept.record(ORDER, Some(id), 1);
        assert!(kept.has(ORDER, id) && kept.admits(ORDER, Some(id)).is_ok(), "a duplicate is no offence");
    }
}

#[test]
fn messages_beyond_the_window_are_refused_until_the_missing_one_arrives() {
    let mut kept = ReassemblyState::new(1);
    let admitted = (1..=u16::MAX).filter(|id| {
        let admits = kept.admits(ORDER, Some(*id)).is_ok();
        if admits {
            kept.record(ORDER, Some(*id), 1);
        }
        // Ids behind the window count as received.
        admits && *id < 1 << 15
    });
    assert_eq!(admitted.count(), MAX_AHEAD - 1);
    assert_eq!(kept.admits(ORDER, Some(300)), Err(IngressRefusal::BeyondWindow));
    kept.record(ORDER, Some(0), 1);
    assert_eq!(kept.admits(ORDER, Some(300)), Ok(()), "the missing message has arrived");
}

#[test]
fn fragments_are_admitted_in_any_order_and_with_duplicates() {
    for retention in [ORDER, Retention::Temporary] {
        let mut kept = ReassemblyState::new(1);
        for id in 0..1_000 {
            for index in [2, 0, 0, 1] {
                assert_eq!(give(&mut kept, retention, part(id, index, 3), NOW), Ok(()), "{id} {index}");
            }
            if retention == ORDER {
                // A retransmission whose acknowledgement was lost.
                assert_eq!(give(&mut kept, retention, part(id, 1, 3), NOW), Ok(()));
            }
            assert!(kept.open.iter().all(Option::is_none));
        }
    }
}

#[test]
fn at_most_four_messages_are_incomplete_and_unreliable_ones_expire() {
    let mut kept = ReassemblyState::new(1);
    for id in 0..4 {
        assert_eq!(give(&mut kept, Retention::Temporary, part(id, 0, 8), NOW), Ok(()));
    }
    assert_eq!(give(&mut kept, Retention::Temporary, part(4, 0, 8), NOW), Err(IngressRefusal::BeyondWindow));
    assert_eq!(
        give(&mut kept, Retention::Temporary, part(3, 1, 8), NOW),
        Ok(()),
        "an incomplete message continues"
    );
    let later = NOW + Duration::from_secs(5);
    assert_eq!(give(&mut kept, Retention::Temporary, part(4, 0, 8), later), Ok(()));
    // Reliable messages do not expire: lightyear keeps them.
    let mut kept = ReassemblyState::new(1);
    for id in 0..4 {
        assert_eq!(give(&mut kept, ORDER, part(id, 0, 8), NOW), Ok(()));
    }
    assert_eq!(give(&mut kept, ORDER, part(4, 0, 8), NOW * 100), Err(IngressRefusal::BeyondWindow));
}

#[test]
fn inconsistent_or_huge_fragment_counts_are_refused() {
    let mut kept = ReassemblyState::new(1);
    for parts in [0, 9, 1 << 20, 1 << 53, u64::MAX] {
        assert_eq!(
            give(&mut kept, Retention::Temporary, part(0, 0, parts), NOW),
            Err(IngressRefusal::Fragments),
            "{parts}"
        );
    }
    assert_eq!(give(&mut kept, Retention::Temporary, part(0, 3, 3), NOW), Err(IngressRefusal::Fragments));
    assert_eq!(give(&mut kept, Retention::Temporary, part(0, 0, 3), NOW), Ok(()));
    assert_eq!(
        give(&mut kept, Retention::Temporary, part(0, 1, 4), NOW),
        Err(IngressRefusal::Fragments),
        "the fragment count changed"
    );
    assert_eq!(
        kept.admits_fragment(Retention::Superseded, part(0, 0, 3), 8, NOW),
        Err(IngressRefusal::Fragments)
    );
    assert_eq!(
        kept.admits_fragment(Retention::Temporary, part(0, 0, 3), 0, NOW),
        Err(IngressRefusal::Fragments),
        "fragments are disabled"
    );
}

#[test]
fn bytes_waiting_for_a_missing_message_are_bounded() {
    let mut kept = ReassemblyState::new(1);
    let mut waiting_bytes = 0;
    // Message 0 never arrives.
    for id in 1..256 {
        if kept.admits(ORDER, Some(id)).is_ok() {
            kept.record(ORDER, Some(id), 9_000);
            waiting_bytes += 9_000;
        }
    }
    assert!((MAX_WAITING_BYTES..MAX_WAITING_BYTES + 9_000).contains(&waiting_bytes), "{waiting_bytes}");
    assert_eq!(kept.admits(ORDER, Some(200)), Err(IngressRefusal::BeyondWindow));
    // In order, one by one, they are all admitted.
    for id in 0..300 {
        assert_eq!(kept.admits(ORDER, Some(id)), Ok(()), "{id}");
        kept.record(ORDER, Some(id), 9_000);
    }
    assert_eq!(kept.admits(ORDER, Some(400)), Ok(()), "no message is waiting any more");
}
