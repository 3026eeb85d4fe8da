use super::*;

const PERFECT: LinkConditions = LinkConditions::PERFECT;

fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// Pushes `count` packets `gap` ms apart and pops them in steps of 1 ms. Returns (arrival in ms, packet).
fn expect_drained_run(seed: u64, conditions: &LinkConditions, count: u32, gap: u64) -> Vec<(u64, u32)> {
    let mut link = Conditioner::new(seed);
    let mut arrived = Vec::new();
    let end = u64::from(count) * gap + 5_000;
    for now in 0..end {
        let packet = (now / gap) as u32;
        if now % gap == 0 && packet < count {
            link.push(ms(now), conditions, packet);
        }
        while let Some(packet) = link.pop(ms(now)) {
            arrived.push((now, packet));
        }
    }
    assert!(link.is_empty());
    arrived
}

#[test]
fn perfect_link_delivers_immediately_and_in_order() {
    let arrived = expect_drained_run(1, &PERFECT, 100, 1);
    assert_eq!(arrived, (0..100).map(|i| (u64::from(i), i)).collect::<Vec<_>>());

    let mut link = Conditioner::new(1);
    for packet in 0..100 {
        link.push(ms(7), &PERFECT, packet);
    }
    let burst: Vec<u32> = std::iter::from_fn(|| link.pop(ms(7))).collect();
    assert_eq!(burst, (0..100).collect::<Vec<_>>(), "ties keep the push order");
}

#[test]
fn packet_is_due_exactly_after_its_latency() {
    let conditions = LinkConditions { latency: Duration::from_micros(12_345), ..PERFECT };
    let mut link = Conditioner::new(1);
    link.push(ms(1_000), &conditions, ());
    assert_eq!(link.pop(Duration::from_micros(1_012_344)), None);
    assert_eq!(link.pop(Duration::from_micros(1_012_345)), Some(()));
}

#[test]
fn equal_seeds_give_equal_output_and_different_seeds_do_not() {
    let conditions = LinkConditions {
        latency: ms(50),
        jitter: ms(20),
        loss: 0.1,
        burst: 3.0,
        duplication: 0.1,
        reorder: 0.1,
        reorder_delay: ms(30),
        bytes_per_second: 0,
        pulse: Some(Pulse { period: ms(500), length: ms(100), latency: ms(20), loss: 0.5 }),
    };
    let first = expect_drained_run(42, &conditions, 2_000, 5);
    assert_eq!(first, expect_drained_run(42, &conditions, 2_000, 5));
    assert_ne!(first, expect_drained_run(43, &conditions, 2_000, 5));
}

#[test]
fn losses_do_not_depend_on_the_other_conditions() {
    let lost = |conditions: &LinkConditions| {
        let arrived = expect_drained_run(9, conditions, 2_000, 2);
        let mut seen: Vec<u32> = arrived.into_iter().map(|(_, packet)| packet).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    let plain = LinkConditions { loss: 0.2, ..PERFECT };
    let rough = LinkConditions { latency: ms(80), jitter: ms(40), duplication: 0.5, ..plain };
    assert_eq!(lost(&plain), lost(&rough));
}

#[test]
fn jitter_stays_in_range_and_keeps_the_order() {
    let conditions = LinkConditions { latency: ms(100), jitter: ms(30), ..PERFECT };
    let arrived = expect_drained_run(3, &conditions, 2_000, 10);
    assert_eq!(arrived.len(), 2_000);
    assert!(arrived.is_sorted_by_key(|&(_, packet)| packet));
    let delays: Vec<u64> = arrived.iter().map(|&(now, packet)| now - u64::from(packet) * 10).collect();
    assert!(delays.iter().all(|delay| (70..=130).contains(delay)));
    assert!(delays.iter().any(|&delay| delay < 85) && delays.iter().any(|&delay| delay > 115));
}

#[test]
fn packet_with_jitter_above_latency_never_arrives_before_it_was_sent() {
    let conditions = LinkConditions { latency: ms(5), jitter: ms(50), ..PERFECT };
    let mut link = Conditioner::new(3);
    for packet in 0..500_u32 {
        link.push(ms(1_000), &conditions, packet);
    }
    assert_eq!(link.pop(ms(999)), None);
    assert_eq!(std::iter::from_fn(|| link.pop(ms(1_055))).count(), 500);
}

#[test]
fn measured_loss_and_burst_length_match_the_conditions() {
    for (loss, burst) in [(0.05, 1.0), (0.5, 1.0), (0.03, 8.0), (0.2, 4.0)] {
        let conditions = LinkConditions { loss, burst, ..PERFECT };
        let mut link = Conditioner::new(11);
        let count = 400_000_u32;
        let (mut runs, mut was_lost) = (0_u32, false);
        for _ in 0..count {
            link.push(ms(0), &conditions, ());
            let is_lost = link.pop(ms(0)).is_none();
            runs += u32::from(is_lost && !was_lost);
            was_lost = is_lost;
        }
        let lost = link.counters().lost as f32;
        let rate = lost / count as f32;
        assert!((rate / loss - 1.0).abs() < 0.1, "loss {loss}: got {rate}");
        let expected = burst.max(1.0 / (1.0 - loss));
        let length = lost / runs as f32;
        assert!((length / expected - 1.0).abs() < 0.1, "burst {expected}: got {length}");
    }
}

#[test]
fn total_loss_loses_every_packet_and_ends_immediately() {
    let mut link = Conditioner::new(1);
    for _ in 0..1_000 {
        link.push(ms(0), &LinkConditions { loss: 1.0, ..PERFECT }, ());
    }
    assert_eq!((link.len(), link.counters().lost), (0, 1_000));
    link.push(ms(0), &PERFECT, ());
    assert_eq!(link.pop(ms(0)), Some(()));
}

#[test]
fn duplication_delivers_every_packet_once_or_twice() {
    let conditions = LinkConditions { latency: ms(20), jitter: ms(10), duplication: 0.25, ..PERFECT };
    let arrived = expect_drained_run(5, &conditions, 4_000, 3);
    let copies = arrived.len() - 4_000;
    assert!((800..1_200).contains(&copies), "got {copies}");
    let mut counts = vec![0_u32; 4_000];
    for (_, packet) in arrived {
        counts[packet as usize] += 1;
    }
    assert!(counts.iter().all(|count| (1..=2).contains(count)));
}

#[test]
fn reorder_lets_packets_be_overtaken() {
    let conditions = LinkConditions { latency: ms(20), reorder: 0.1, reorder_delay: ms(25), ..PERFECT };
    let arrived = expect_drained_run(6, &conditions, 4_000, 10);
    assert_eq!(arrived.len(), 4_000);
    assert!(!arrived.is_sorted_by_key(|&(_, packet)| packet));
    let late = arrived.iter().filter(|&&(now, packet)| now - u64::from(packet) * 10 == 45).count();
    assert!((300..500).contains(&late), "got {late}");
    let normal = arrived.iter().filter(|&&(now, packet)| now - u64::from(packet) * 10 == 20).count();
    assert_eq!(late + normal, 4_000);
}

#[test]
fn pulse_delays_the_end_of_every_period_without_reordering() {
    let pulse = Pulse { period: ms(1_000), length: ms(200), latency: ms(50), loss: 0.0 };
    let conditions = LinkConditions { latency: ms(10), pulse: Some(pulse), ..PERFECT };
    let expected: Vec<(u64, u32)> = (0..300)
        .map(|packet| {
            let sent = u64::from(packet) * 10;
            let since = sent % 1_000;
            let due = match since {
                800.. => sent + 60,
                // Behind the last packet of the pulse, sent 10 ms before its end.
                _ if sent > since => (sent + 10).max(sent - since + 50),
                _ => sent + 10,
            };
            (due, packet)
        })
        .collect();
    assert_eq!(expect_drained_run(1, &conditions, 300, 10), expected);
}

#[test]
fn pulse_loses_packets_only_within_its_window() {
    let packets = |pulse: Option<Pulse>| {
        let arrived = expect_drained_run(9, &LinkConditions { loss: 0.2, pulse, ..PERFECT }, 2_000, 2);
        arrived.into_iter().map(|(_, packet)| packet).collect::<Vec<_>>()
    };
    let plain = packets(None);
    let pulse = Pulse { period: ms(1_000), length: ms(200), latency: ms(0), loss: 1.0 };
    let calm: Vec<u32> = plain.iter().copied().filter(|packet| packet * 2 % 1_000 < 800).collect();
    assert_eq!(packets(Some(pulse)), calm, "the other packets have the same fate");
    assert_eq!(packets(Some(Pulse { loss: 0.1, ..pulse })), plain, "a pulse never lowers the loss");
    let always = Pulse { length: Duration::MAX, ..pulse };
    assert_eq!(packets(Some(always)), [0_u32; 0], "a pulse longer than its period fills it");
    assert_eq!(packets(Some(Pulse { length: ms(0), ..pulse })), plain);
}

#[test]
fn change_of_conditions_applies_to_the_next_packet() {
    let slow = LinkConditions { latency: ms(200), ..PERFECT };
    let mut link = Conditioner::new(1);
    link.push(ms(0), &PERFECT, 'a');
    assert_eq!(link.pop(ms(0)), Some('a'));
    link.push(ms(1), &slow, 'b');
    assert_eq!(link.pop(ms(1)), None);
    // The next packet does not wait for the slow one, which keeps its due time.
    link.push(ms(2), &PERFECT, 'c');
    assert_eq!(link.pop(ms(2)), Some('c'));
    assert_eq!(link.pop(ms(200)), None);
    assert_eq!(link.pop(ms(201)), Some('b'));
    assert!(link.is_empty());
}

#[test]
fn queue_is_bounded_and_counts_overflow() {
    let slow = LinkConditions { latency: ms(200), ..PERFECT };
    let mut link = Conditioner::new(1);
    for _ in 0..MAX_QUEUED + 10 {
        link.push(ms(0), &slow, ());
    }
    assert_eq!((link.len(), link.counters().overflowed), (MAX_QUEUED, 10));
    link.clear();
    assert!(link.is_empty());
    assert_eq!(link.pop(ms(1_000)), None);
}

#[test]
fn values_out_of_range_are_sanitised() {
    let nonsense = LinkConditions {
        latency: Duration::MAX,
        jitter: Duration::MAX,
        loss: f32::NAN,
        burst: f32::NEG_INFINITY,
        duplication: -1.0,
        reorder: f32::INFINITY,
        reorder_delay: Duration::MAX,
        bytes_per_second: 7,
        pulse: Some(Pulse {
            period: Duration::MAX,
            length: Duration::MAX,
            latency: Duration::MAX,
            loss: f32::NAN,
        }),
    };
    let expected = LinkConditions {
        latency: MAX_DELAY,
        jitter: MAX_DELAY,
        loss: 0.0,
        burst: 1.0,
        duplication: 0.0,
        reorder: 1.0,
        reorder_delay: MAX_DELAY,
        bytes_per_second: 7,
        pulse: Some(Pulse { period: Duration::MAX, length: Duration::MAX, latency: MAX_DELAY, loss: 0.0 }),
    };
    assert_eq!(nonsense.sanitised(), expected);
    assert_eq!(expected.sanitised(), expected);
    let mut link = Conditioner::new(1);
    link.push(Duration::MAX, &nonsense, ());
    assert_eq!(link.pop(Duration::MAX), Some(()));

    let pulse = Pulse { period: ms(0), length: ms(10), latency: ms(10), loss: 1.0 };
    let never = LinkConditions { pulse: Some(pulse), ..PERFECT };
    assert_eq!(never.sanitised(), PERFECT);
    let longer = LinkConditions { pulse: Some(Pulse { period: ms(5), ..pulse }), ..PERFECT };
    assert_eq!(longer.sanitised().pulse.map(|pulse| pulse.length), Some(ms(5)));
}

#[test]
fn rate_limited_link_queues_for_a_second_and_then_drops() {
    let line = LinkConditions { latency: ms(20), bytes_per_second: 10_000, ..PERFECT };
    let mut link = Conditioner::new(1);
    for packet in 0..3_u32 {
        link.push_sized(ms(5), &line, packet, 500);
    }
    // 50 ms per packet, one after the other.
    assert_eq!([74, 75, 124, 125, 175].map(|at| link.pop(ms(at))), [None, Some(0), None, Some(1), Some(2)]);
    link.push_sized(ms(500), &line, 3, 500);
    assert_eq!(link.pop(ms(570)), Some(3), "the queue was empty again");
    for packet in 0..1_000 {
        link.push_sized(ms(1_000), &line, packet, 500);
    }
    assert_eq!(link.counters().overflowed, 1_000 - 21);
    link.clear();
    link.push(ms(1_000), &PERFECT, 7);
    assert_eq!(link.pop(ms(1_000)), Some(7));
}
