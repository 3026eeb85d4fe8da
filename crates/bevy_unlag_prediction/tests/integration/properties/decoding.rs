//! Decoding of messages from arbitrary bytes.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError};
use bevy_unlag_prediction::{
    AckedMove, ClientAdjustment, CorrectionCause, LossLevel, MAX_MOVES, MAX_PUSHES, MoveAck, MovePacket,
    MoveRun, RanMoves, StateCheck,
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::properties::{
    cases,
    walker::{Mode, Shove, Walker, WalkerInput, WalkerState},
};

type Packet = MovePacket<WalkerInput>;
type Ack = MoveAck<WalkerState, Shove>;

/// Resolution of an acknowledgement's time on the server, 1/4,000 s, and a margin for float rounding.
const ACK_DELAY_UNIT: Duration = Duration::from_micros(251);

pub(crate) fn encoded(value: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    value.write(&mut w);
    w.finish()
}

fn decoded<T: Wire>(bytes: &[u8]) -> Result<T, WireError> {
    T::read(&mut BitReader::new(bytes))
}

/// Any finite float: most are components of directions, some are extreme.
fn float() -> impl Strategy<Value = f32> {
    use proptest::num::f32::{NORMAL, SUBNORMAL, ZERO};
    prop_oneof![3 => -1.5f32..1.5, 1 => NORMAL | SUBNORMAL | ZERO, 1 => Just(f32::MAX), 1 => Just(f32::MIN)]
}

pub(crate) fn vector() -> impl Strategy<Value = Vec3> {
    [float(), float(), float()].prop_map(Vec3::from)
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(&Mode::ALL)
}

pub(crate) fn wish() -> impl Strategy<Value = WalkerInput> {
    (mode(), vector()).prop_map(|(mode, towards)| WalkerInput { mode, towards })
}

/// Runs up to the maximum length of a packet, and gaps up to the longest one.
pub(crate) fn runs(most: usize) -> impl Strategy<Value = Vec<MoveRun<WalkerInput>>> {
    let gap = prop_oneof![3 => Just(0u16), 1 => 0..128u16];
    let length = prop_oneof![3 => 1..4u16, 1 => 1..=MAX_MOVES as u16];
    vec((gap, length, wish()), 1..=most).prop_map(|planned| {
        let (mut age, mut left) = (0, MAX_MOVES as u16);
        let mut runs: Vec<MoveRun<WalkerInput>> = Vec::new();
        for (gap, length, input) in planned {
            let length = length.min(left);
            age += if runs.is_empty() { 0 } else { gap };
            if length > 0 {
                runs.push(MoveRun { age, length, input });
            }
            age += length;
            left -= length;
        }
        runs
    })
}

fn place() -> impl Strategy<Value = WalkerState> {
    (vector(), vector(), mode(), any::<u32>()).prop_map(|(position, velocity, mode, pushed)| WalkerState {
        position,
        velocity,
        mode,
        pushed,
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    ((0..8u8, any::<u8>(), any::<u16>()), any::<Option<u8>>(), place(), runs(40)).prop_map(
        |((epoch, sequence, newest), ack_bits, place, runs)| {
            let check = StateCheck::of::<Walker>(&place, Tick(newest.into()), Packet::is_coarse(sequence));
            Packet { epoch, sequence, newest, ack_bits, check, runs }
        },
    )
}

fn ack() -> impl Strategy<Value = Ack> {
    let acked = prop_oneof![
        1 => any::<u32>().prop_map(|now| AckedMove::Start { now: Tick(now) }),
        4 => any::<u16>().prop_map(AckedMove::Move),
    ];
    let ran = prop_oneof![
        Just(RanMoves::All),
        Just(RanMoves::None),
        (any::<u16>(), any::<u64>(), 0..64u32)
            .prop_map(|(ran, bits, shift)| RanMoves::Newest { ran, missed: bits >> shift }),
    ];
    let pushes = vec((any::<u16>(), vector().prop_map(Shove)), 0..=MAX_PUSHES);
    let cause = prop::sample::select(&CorrectionCause::ALL);
    let adjustment =
        (cause, any::<u16>(), any::<u16>(), place()).prop_map(|(cause, config, surroundings, state)| {
            ClientAdjustment { cause, config, surroundings, state }
        });
    (
        ((0..8u8, any::<u8>()), acked, 0..16u8, 0..1_023_750_000u32, -512..512i16),
        (0.0..1.0f32, any::<bool>(), (any::<u64>(), ran), pushes, prop::option::of(adjustment)),
    )
        .prop_map(
            |(
                ((epoch, sequence), acked, queued_moves, ack_delay, lag),
                (loss, resolving, (outcomes, ran), pushes, adjustment),
            )| {
                let (ack_delay, loss) = (Duration::from_nanos(ack_delay.into()), LossLevel::of(loss));
                Ack {
                    epoch,
                    sequence,
                    acked,
                    queued_moves,
                    ack_delay,
                    lag,
                    delay: lag / 2,
                    loss,
                    resolving,
                    outcomes,
                    ran,
                    pushes,
                    adjustment,
                }
            },
        )
}

/// Random bytes, or damaged bytes of a real message.
fn corrupted(real: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let damaged = (real, vec((any::<Index>(), any::<u8>()), 0..6), any::<Index>(), vec(any::<u8>(), 0..9))
        .prop_map(|(mut bytes, flips, end, more)| {
            for (at, flip) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            bytes.truncate(end.index(bytes.len() * 2 + 1));
            bytes.extend(more);
            bytes
        });
    prop_oneof![1 => vec(any::<u8>(), 0..400), 3 => damaged]
}

/// Returns whether two acknowledgements are equal except for the rounding of a time.
fn same(a: &Ack, b: &Ack) -> bool {
    a.ack_delay.abs_diff(b.ack_delay) <= ACK_DELAY_UNIT && *a == Ack { ack_delay: a.ack_delay, ..b.clone() }
}

fn is_finite(place: &WalkerState) -> bool {
    place.position.is_finite() && place.velocity.is_finite()
}

/// Returns whether a decoded packet is within all bounds that the server relies on.
pub(crate) fn is_bounded(packet: &Packet) -> bool {
    let mut end = 0;
    let mut moves = 0;
    let in_order = packet.runs.iter().enumerate().all(|(i, run)| {
        let follows = if i == 0 { run.age == 0 } else { run.age >= end && run.age - end < 128 };
        end = run.age + run.length;
        moves += usize::from(run.length);
        follows && run.length > 0 && run.input.towards.is_finite()
    });
    // A growing list doubles its memory.
    let memory = packet.runs.capacity() < 2 * MAX_MOVES;
    in_order && packet.epoch < 8 && (1..=MAX_MOVES).contains(&moves) && memory
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn encoded_packet_decodes_to_the_same_packet(packet in packet()) {
        prop_assert_eq!(decoded::<Packet>(&encoded(&packet)), Ok(packet));
    }

    #[test]
    fn encoded_acknowledgement_decodes_to_the_same_one(ack in ack()) {
        let arrived = decoded::<Ack>(&encoded(&ack)).expect("it was encoded");
        prop_assert!(same(&arrived, &ack), "{:?}", arrived);
    }

    #[test]
    fn any_bytes_decode_to_a_bounded_packet_or_fail(bytes in corrupted(packet().prop_map(|p| encoded(&p)))) {
        if let Ok(packet) = decoded::<Packet>(&bytes) {
            prop_assert!(is_bounded(&packet), "{:?}", packet);
            prop_assert_eq!(decoded::<Packet>(&encoded(&packet)), Ok(packet));
        }
    }

    #[test]
    fn any_bytes_decode_to_a_bounded_ack_or_fail(bytes in corrupted(ack().prop_map(|a| encoded(&a)))) {
        if let Ok(ack) = decoded::<Ack>(&bytes) {
            prop_assert!(ack.epoch < 8 && ack.queued_moves < 16 && (-512..512).contains(&ack.lag));
            prop_assert!(ack.ack_delay < Duration::from_millis(1_024), "{:?}", ack.ack_delay);
            prop_assert!(ack.pushes.len() <= MAX_PUSHES && ack.pushes.capacity() <= 2 * MAX_PUSHES);
            prop_assert!(ack.pushes.iter().all(|(_, push)| push.0.is_finite()));
            prop_assert!(ack.adjustment.is_none_or(|adjustment| is_finite(&adjustment.state)));
            let again = decoded::<Ack>(&encoded(&ack)).expect("it was encoded");
            prop_assert!(same(&again, &ack), "{:?} and {:?}", ack, again);
        }
    }

    #[test]
    fn truncated_messages_are_rejected(packet in packet(), ack in ack(), cut in any::<Index>()) {
        let (packet, ack) = (encoded(&packet), encoded(&ack));
        let short = &packet[..cut.index(packet.len())];
        prop_assert_eq!(decoded::<Packet>(short), Err(WireError::Ended));
        let short = &ack[..cut.index(ack.len())];
        prop_assert_eq!(decoded::<Ack>(short), Err(WireError::Ended));
    }

    #[test]
    fn packet_with_too_many_moves_is_rejected(
        mut packet in packet(),
        length in 1..=u16::MAX - 1,
        input in wish(),
    ) {
        let last = packet.runs.last().map_or(0, |run| run.age + run.length);
        let moves: usize = packet.runs.iter().map(|run| usize::from(run.length)).sum();
        let length = length.max((MAX_MOVES + 1 - moves) as u16);
        packet.runs.push(MoveRun { age: last, length, input });
        prop_assert_eq!(decoded::<Packet>(&encoded(&packet)), Err(WireError::Invalid));
    }

    #[test]
    fn non_finite_floats_are_rejected(
        packet in packet(),
        ack in ack(),
        place in place(),
        axis in 0..3usize,
        which in any::<Index>(),
        bits in any::<u32>(),
    ) {
        let bad = f32::from_bits(bits | 0x7f80_0000);
        let mut corrupted = packet;
        let run = which.index(corrupted.runs.len());
        corrupted.runs[run].input.towards[axis] = bad;
        prop_assert_eq!(decoded::<Packet>(&encoded(&corrupted)), Err(WireError::Invalid));

        let mut state = place;
        let vector = if bits & 1 == 0 { &mut state.position } else { &mut state.velocity };
        vector[axis] = bad;
        let cause = CorrectionCause::Unknown;
        let adjustment = Some(ClientAdjustment { cause, config: 0, surroundings: 0, state });
        let corrupted = Ack { adjustment, ..ack.clone() };
        prop_assert_eq!(decoded::<Ack>(&encoded(&corrupted)), Err(WireError::Invalid));

        let mut push = Shove(Vec3::ZERO);
        push.0[axis] = bad;
        let corrupted = Ack { pushes: vec![(7, push)], ..ack };
        prop_assert_eq!(decoded::<Ack>(&encoded(&corrupted)), Err(WireError::Invalid));
    }
}
