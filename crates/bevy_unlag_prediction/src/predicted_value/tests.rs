use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

/// One direction of a bad link at 64 Hz: 94 to 203 ms latency, 10 % loss, with reordering.
struct Way<T> {
    under_way: Vec<(u32, T)>,
    random: SmallRng,
}

impl<T> Way<T> {
    fn new(seed: u64) -> Self {
        Self { under_way: Vec::new(), random: SmallRng::seed_from_u64(seed) }
    }

    fn send(&mut self, now: u32, packet: T) {
        if self.random.random_bool(0.9) {
            self.under_way.push((now + self.random.random_range(6..14), packet));
        }
    }

    fn arrived(&mut self, now: u32) -> Vec<T> {
        self.under_way.extract_if(.., |(at, _)| *at <= now).map(|(_, packet)| packet).collect()
    }
}

const TICKS: u32 = 20_000;
/// First client tick; the count wraps during the test.
const FIRST: Tick = Tick(u32::MAX - 5_000);

/// A value, the client's tick that it acknowledges, and the server's tick.
type Answer<A> = (A, Tick, Tick);

/// A client and a server that run one tick each at the same time.
struct Link<I, A> {
    up: Way<(usize, Vec<I>)>,
    down: Way<Answer<A>>,
    inputs: Vec<I>,
    taken: usize,
}

impl<I: Copy, A> Link<I, A> {
    fn new(seed: u64) -> Self {
        Self { up: Way::new(seed), down: Way::new(seed + 1_000), inputs: Vec::new(), taken: 0 }
    }

    fn now(&self) -> u32 {
        self.inputs.len() as u32
    }

    /// The client's next tick.
    fn tick(&self) -> Tick {
        FIRST.offset(self.inputs.len() as i32)
    }

    /// Sends the client's input of this tick, with those of the previous ticks as redundancy. Returns the
    /// inputs that the server learns by now: each tick exactly once and in order.
    fn up(&mut self, input: I) -> Vec<I> {
        self.inputs.push(input);
        let (now, from) = (self.now(), self.inputs.len().saturating_sub(40));
        self.up.send(now, (from, self.inputs[from..].to_vec()));
        let mut learnt = Vec::new();
        for (from, inputs) in self.up.arrived(now) {
            assert!(from <= self.taken, "the redundancy of moves does not cover this link");
            learnt.extend(inputs.iter().skip(self.taken - from));
            self.taken = self.taken.max(from + inputs.len());
        }
        learnt
    }

    /// Sends the server's value. Returns the confirmations that reach the client.
    fn down(&mut self, answer: A) -> Vec<Answer<A>> {
        let now = self.now();
        if self.taken > 0 {
            self.down.send(now, (answer, FIRST.offset(self.taken as i32 - 1), Tick(now)));
        }
        self.down.arrived(now)
    }
}

#[test]
fn quick_taps_never_flicker_over_a_bad_link() {
    let mut naive_wrong = 0;
    for seed in 0..5 {
        let (mut link, mut random) = (Link::new(seed), SmallRng::seed_from_u64(seed + 77));
        let (mut button, mut next, mut server) = (false, 10, false);
        let (mut value, mut naive) = (PredictedValue::new(false), false);
        for now in 0..TICKS {
            if now == next {
                button = !button;
                // Pressed for 2 to 5 ticks, released for 10 to 59.
                next += if button { random.random_range(2..6) } else { random.random_range(10..60) };
                value.set_local(button, link.tick());
                naive = button;
            }
            server = link.up(button).into_iter().next_back().unwrap_or(server);
            for (answer, acknowledged, sent) in link.down(server) {
                value.confirm(answer, acknowledged, sent);
                naive = answer;
            }
            assert_eq!(value.get(), button, "tick {now} of link {seed}");
            naive_wrong += u32::from(naive != button);
        }
        // Without further changes, both sides agree.
        for _ in 0..200 {
            server = link.up(button).into_iter().next_back().unwrap_or(server);
            for (answer, acknowledged, sent) in link.down(server) {
                value.confirm(answer, acknowledged, sent);
            }
        }
        assert!(!value.is_pending() && value.get() == server);
    }
    assert!(naive_wrong > 10_000, "the link is too good for this test: {naive_wrong}");
}

#[test]
fn refused_change_is_reverted_exactly_once() {
    let (mut link, mut random) = (Link::new(5), SmallRng::seed_from_u64(9));
    let mut value = PredictedValue::new(false);
    let (mut refused, mut presses, mut changes, mut cut_short) = (Vec::new(), 0_usize, 0, 0);
    let (mut shown, mut server) = (false, false);
    for now in 0..TICKS {
        // Held for 60 of 120 ticks; the server refuses about every third press completely.
        let press = now / 120;
        let button = now % 120 >= 60;
        if now % 120 == 60 {
            refused.push(random.random_range(0..3) == 0);
            presses += 1;
        }
        if now % 60 == 0 && now > 0 {
            value.set_local(button, link.tick());
        }
        for (press, down) in link.up((press, button)) {
            server = down && !refused[press as usize];
        }
        for (answer, acknowledged, sent) in link.down(server) {
            value.confirm(answer, acknowledged, sent);
        }
        if value.get() != shown {
            shown = value.get();
            changes += 1;
            cut_short += usize::from(!shown && button);
        }
    }
    let all = refused.iter().filter(|refused| **refused).count();
    assert!(all > 20);
    assert!(cut_short == all || cut_short + 1 == all, "{cut_short} of {all}: only those go back early");
    assert!(changes <= presses * 2, "{changes} changes for {presses} presses");
}

#[test]
fn outdated_confirmations_and_changes_are_ignored() {
    let mut value = PredictedValue::new(1);
    value.confirm(2, Tick(20), Tick(70));
    value.confirm(3, Tick(15), Tick(65));
    // The server changed the value by itself, and packets were reordered.
    value.confirm(3, Tick(20), Tick(69));
    assert_eq!(value.get(), 2);
    value.set_local(9, Tick(18));
    assert!(!value.is_pending(), "that tick has already been acknowledged");
    value.set_local(5, Tick(30));
    value.set_local(6, Tick(29));
    value.set_local(7, Tick(30));
    assert_eq!((value.get(), value.server()), (7, 2));
    value.confirm(4, Tick(29), Tick(80));
    assert_eq!((value.get(), value.server()), (7, 4));
}

#[test]
fn displayed_ammunition_never_flickers_over_a_bad_link() {
    let (mut naive_wrong, mut counter_wrong) = (0, 0);
    for seed in 0..5 {
        let (mut link, mut random) = (Link::new(seed), SmallRng::seed_from_u64(seed + 77));
        let (mut truth, mut server) = (30_i32, 30_i32);
        let mut count = PredictedCount::new(30);
        let mut naive = 30;
        // For comparison: a counter of requests in flight, with one reply each.
        let (mut counter, mut under_way) = (30_i32, 0_i32);
        let mut calls = Way::new(seed + 500);
        for now in 0..TICKS + 200 {
            let quiet = now >= TICKS;
            let mut by = 0;
            if count.get() == 0 {
                by = 30;
            } else if !quiet && random.random_range(0..6) == 0 {
                by = -1;
                under_way += 1;
                counter -= 1;
            }
            if by != 0 {
                truth += by;
                count.change(by, link.tick());
                naive += by;
                counter += if by > 0 { by } else { 0 };
            }
            for by in link.up(by) {
                server += by;
                if by < 0 {
                    calls.send(now, server);
                }
            }
            for (answer, acknowledged, sent) in link.down(server as u16) {
                count.confirm(answer, acknowledged, sent);
                naive = i32::from(answer);
            }
            for answer in calls.arrived(now) {
                under_way -= 1;
                counter = answer - under_way;
            }
            assert_eq!(i32::from(count.get()), truth, "tick {now} of link {seed}");
            naive_wrong += u32::from(naive != truth);
        }
        assert!(!count.is_pending() && truth == server);
        counter_wrong += u32::from(counter != truth);
    }
    assert!(naive_wrong > 10_000, "the link is too good for this test: {naive_wrong}");
    assert_eq!(counter_wrong, 5, "a counter of requests never recovers from a lost reply");
}

#[test]
fn count_increases_only_by_pickups_that_arrive_with_a_confirmation() {
    let (mut link, mut random) = (Link::new(3), SmallRng::seed_from_u64(4));
    let (mut server, mut pickups, mut fired) = (1_000_u16, 0, 0);
    let mut count = PredictedCount::new(server);
    for now in 0..TICKS {
        let before = count.get();
        let fires = before > 0 && random.random_range(0..10) == 0;
        if fires {
            count.change(-1, link.tick());
            fired += 1;
            assert_eq!(count.get(), before - 1, "immediately");
        }
        server -= link.up(fires).into_iter().filter(|fires| *fires).count() as u16;
        server += if now % 500 == 499 { 50 } else { 0 };
        let before = count.get();
        for (answer, acknowledged, sent) in link.down(server) {
            count.confirm(answer, acknowledged, sent);
        }
        let added = count.get() - before;
        assert!(added.is_multiple_of(50), "{added} at tick {now}");
        pickups += added / 50;
    }
    for _ in 0..200 {
        server -= link.up(false).into_iter().filter(|fires| *fires).count() as u16;
        for (answer, acknowledged, sent) in link.down(server) {
            count.confirm(answer, acknowledged, sent);
        }
    }
    assert!(pickups >= 39 && fired > 1_000);
    assert_eq!(count.get(), server);
    assert!(!count.is_pending());
}

#[test]
fn unconfirmed_count_stays_correct_and_its_memory_bounded() {
    let mut count = PredictedCount::new(1_000);
    for tick in 0..900 {
        count.change(-1, FIRST.offset(tick * 2));
    }
    assert_eq!(count.get(), 100);
    (0..200).for_each(|_| count.change(-1, FIRST.offset(1_798)));
    assert_eq!(count.get(), 0, "never negative");
    count.change(-1, FIRST);
    count.confirm(0, FIRST.offset(1_797), Tick(10));
    assert!(count.is_pending());
    count.confirm(900, FIRST.offset(1_798), Tick(11));
    assert_eq!((count.get(), count.is_pending()), (900, false));
    count.confirm(4, FIRST.offset(50), Tick(9));
    count.change(-1, FIRST.offset(60));
    assert_eq!(count.get(), 900, "outdated confirmations are ignored");
    count.change(i32::MAX, FIRST.offset(1_900));
    count.change(i32::MAX, FIRST.offset(1_901));
    assert_eq!(count.get(), u16::MAX);
}
