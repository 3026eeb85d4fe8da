//! Who lies gains next to nothing.

use core::time::Duration;

use bevy_unlag_rewind::ViewTrust;

use crate::client::{Cheat, Judged, Setup, play};

/// How much older than its own screen a client's shots were judged, in ticks.
#[derive(Clone, Copy, Debug)]
struct Gain {
    mean: f64,
    most: f64,
}

/// The worst of what a cheat gains, over links.
fn gain(cheat: Cheat, bursts: bool, trust: &ViewTrust) -> Gain {
    let mut worst = Gain { mean: f64::MIN, most: f64::MIN };
    for rtt in [0.0, 0.05, 0.15, 0.3] {
        for (jitter, loss) in [(0.0, 0.0), (0.01, 0.05), (0.03, 0.05)] {
            let setup = Setup { rtt, jitter, loss, bursts, cheat, seconds: 600.0, ..Setup::default() };
            let played = play(&setup, trust);
            let older: Vec<f64> = played.shots.iter().map(Judged::older).collect();
            let mean = older.iter().sum::<f64>() / older.len() as f64;
            let most = older.iter().copied().fold(f64::MIN, f64::max);
            println!(
                "{cheat:?}, bursts {bursts}, {:3.0} ms ± {:2.0}, {:1.0} %: {mean:5.2} ticks older on average, \
                 {most:5.2} at most, {} shots, {} faults",
                rtt * 1e3,
                jitter * 1e3,
                loss * 1e2,
                older.len(),
                played.counts.faults(),
            );
            worst = Gain { mean: worst.mean.max(mean), most: worst.most.max(most) };
        }
    }
    worst
}

/// Believes anything.
fn gullible() -> ViewTrust {
    let long = Duration::from_secs(3);
    ViewTrust { frame: long, max_playout: long, rtt_slack: long, ..ViewTrust::default() }
}

#[test]
fn a_backtracker_gains_nothing_on_average_and_a_frame_at_most() {
    for bursts in [true, false] {
        let gain = gain(Cheat::Backtrack(28.0), bursts, &ViewTrust::default());
        assert!(gain.mean < 0.75 && gain.most < 5.0, "{gain:?}");
    }
    // The monotony of views alone lets a burst keep up with the time, but not its beginning.
    let believed = gain(Cheat::Backtrack(28.0), false, &gullible());
    assert!(believed.mean > 13.0 && believed.most > 27.0, "{believed:?}");
}

#[test]
fn who_holds_acknowledgements_back_gains_a_few_ticks_at_most() {
    for seconds in [0.1, 0.2, 0.3] {
        let gain = gain(Cheat::HoldAcks(seconds), true, &ViewTrust::default());
        assert!(gain.mean < 3.5 && gain.most < 10.0, "{gain:?}");
    }
    let believed = gain(Cheat::HoldAcks(0.3), true, &gullible());
    assert!(believed.mean > 19.0, "{believed:?}");
}

#[test]
fn who_pretends_a_bad_way_down_gains_no_more_than_the_longest_playout() {
    let trust = ViewTrust::default();
    for bursts in [true, false] {
        let gain = gain(Cheat::Stall(0.6), bursts, &trust);
        let most = (trust.max_playout + trust.rtt_slack + trust.frame).as_secs_f64() * 64.0 + 1.0;
        assert!(gain.most < most, "{gain:?}, {most} ticks");
        // In every second shot; who fires in bursts cannot come and go so fast.
        assert!(gain.mean < if bursts { 4.5 } else { most / 2.0 }, "{gain:?}");
    }
}
