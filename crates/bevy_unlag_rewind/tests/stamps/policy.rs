//! Every rule and every policy, one by one.

use core::time::Duration;

use bevy_unlag_core::{Heard, HeardPacket, SUB_TICKS, Tick, ViewTime};
use bevy_unlag_rewind::{Admitted, Mismatch, ViewClaim, ViewFault, ViewLedger, ViewTrust};

/// The server's tick; the client counts the same.
const NOW: Tick = Tick(3);
/// Ticks: the way up and down, and what the screen needs to glide.
const WAY: i32 = 3;
const PLAYOUT: i32 = 4;

/// A client 94 ms away whose packets were heard for ten seconds, at three ticks a snapshot.
fn known() -> ViewLedger {
    let (mut ledger, mut heard) = (ViewLedger::default(), Heard::default());
    for ago in (0..640).rev() {
        let own = NOW.offset(-ago - WAY);
        let newest = own.offset(-WAY);
        heard.begin();
        let newest = newest.offset(-((newest.0 % 3).cast_signed()));
        heard.take(HeardPacket { own, arrived: NOW.offset(-ago), heard: Some(newest) }, 0);
        ledger.listen(&heard);
    }
    ledger
}

/// A shot so many ticks after now, of a screen that many ticks behind the client's moves.
fn claim(after: i32, behind: f64) -> ViewClaim {
    let arrived = NOW.offset(after);
    let own = arrived.offset(-WAY);
    ViewClaim {
        time: ViewTime::at(own).later((-behind * SUB_TICKS as f64) as i64),
        own,
        arrived,
        heard: Some(own.offset(-WAY)),
        rtt: Some(Duration::from_secs_f64(f64::from(2 * WAY) / 64.0)),
        interval: 3,
        mixed: 0,
        late: 0,
        left_out: false,
        tick_seconds: 1.0 / 64.0,
    }
}

const HONEST: f64 = (WAY + PLAYOUT) as f64;

fn behind(claim: &ViewClaim, admitted: Admitted) -> f64 {
    ViewTime::at(claim.own).since(admitted.time) as f64 / SUB_TICKS as f64
}

fn judge(ledger: &mut ViewLedger, claim: ViewClaim, mismatch: Mismatch) -> (Option<ViewFault>, f64) {
    let admitted = ledger.admit(&claim, &ViewTrust { mismatch, ..ViewTrust::default() });
    (admitted.fault, behind(&claim, admitted))
}

#[test]
fn each_rule_has_its_name() {
    let clamp = Mismatch::Clamp;
    let mut ledger = known();
    assert_eq!(judge(&mut ledger, claim(0, HONEST), clamp), (None, HONEST));
    assert_eq!(judge(&mut ledger, claim(6, 14.0), clamp).0, Some(ViewFault::SteppedBack));
    assert_eq!(judge(&mut ledger, claim(24, 16.0), clamp).0, Some(ViewFault::FellBehind));
    assert_eq!(judge(&mut ledger, claim(200, 30.0), clamp).0, Some(ViewFault::TooFarBack));
    // Three ticks behind the present is what it hears of; sixteen more are carried on.
    assert_eq!(judge(&mut ledger, claim(206, -3.1), clamp), (Some(ViewFault::FromTheFuture), -3.0));
    let stale = ViewClaim { heard: None, ..claim(230, -2.0) };
    assert_eq!(judge(&mut ledger, stale, clamp).0, Some(ViewFault::Unheard));
    let deaf = ViewClaim { heard: None, ..claim(0, 9.0) };
    assert_eq!(judge(&mut ViewLedger::default(), deaf, clamp), (Some(ViewFault::NothingHeard), 6.0));
    let counts = ledger.counts();
    assert_eq!((counts.claims, counts.faults()), (6, 5));
    assert!([ViewFault::SteppedBack, ViewFault::Unheard].into_iter().all(|fault| counts.of(fault) == 1));
}

#[test]
fn each_policy_does_what_it_says() {
    let after = |mismatch| {
        let mut ledger = known();
        judge(&mut ledger, claim(0, HONEST), mismatch);
        judge(&mut ledger, claim(64, 28.0), mismatch)
    };
    let (fault, clamped) = after(Mismatch::Clamp);
    assert!(fault.is_some() && (5.0..=9.0).contains(&clamped), "{clamped}");
    let (fault, estimated) = after(Mismatch::ServerEstimate);
    assert!(fault.is_some() && (5.0..=9.0).contains(&estimated), "{estimated}");

    // A refused claim leaves nothing behind.
    let (mut ledger, refuse) = (known(), ViewTrust { mismatch: Mismatch::Refuse, ..ViewTrust::default() });
    assert!(!ledger.admit(&claim(0, HONEST), &refuse).refused);
    assert!(ledger.admit(&claim(6, -2.9), &ViewTrust { carried_on: 0, ..refuse }).refused);
    assert_eq!(ledger.admit(&claim(12, HONEST), &refuse).fault, None);
}

#[test]
fn a_view_may_fall_behind_as_slowly_as_playout_does() {
    let mut ledger = known();
    let honest = ViewClaim { left_out: true, ..claim(0, HONEST) };
    judge(&mut ledger, honest, Mismatch::Clamp);
    // It may use the whole playout delay, for its screen waits for somebody; but not at once.
    let later = |ticks: i32, behind: f64| ViewClaim { left_out: true, ..claim(ticks, behind) };
    for (ticks, more, fault) in [(16, 5.0, None), (32, 9.0, Some(ViewFault::FellBehind)), (96, 13.0, None)] {
        assert_eq!(judge(&mut ledger, later(ticks, HONEST + more), Mismatch::Clamp).0, fault, "{ticks}");
    }
}

#[test]
fn a_new_count_of_moves_is_no_way_back() {
    let mut ledger = known();
    judge(&mut ledger, claim(0, HONEST), Mismatch::Clamp);
    let mut heard = Heard::default();
    let arrived = NOW.offset(6);
    let packet = HeardPacket { own: arrived.offset(-40), arrived, heard: Some(NOW) };
    heard.take(packet, 1);
    ledger.listen(&heard);
    let again = ViewClaim { own: packet.own, ..claim(6, 20.0) };
    let (fault, _) = judge(&mut ledger, again, Mismatch::Clamp);
    assert_eq!(fault, Some(ViewFault::SteppedBack));
}

#[test]
fn without_the_transports_word_a_fixed_round_trip_is_the_bound() {
    let mut ledger = ViewLedger::default();
    let unknown = |behind| ViewClaim { rtt: None, ..claim(0, behind) };
    let trust = ViewTrust::default();
    let most = f64::from(-WAY)
        + (trust.assumed_rtt + trust.initial_playout + trust.frame).as_secs_f64() * 64.0
        + 1.0;
    let admitted = ledger.admit(&unknown(most - 0.1), &trust);
    assert_eq!(admitted.fault, None);
    let admitted = ViewLedger::default().admit(&unknown(most + 0.1), &trust);
    assert_eq!(admitted.fault, Some(ViewFault::TooFarBack));
}
