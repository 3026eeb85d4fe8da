use core::time::Duration;

use bevy::time::TimeUpdateStrategy;
use bevy_unlag_core::{ProxyUpdate, Snapshot, Tick};

use super::*;
use crate::plugin::SmoothingPlugin;

const FIRST: Tick = Tick(u32::MAX - 40);
const RADIUS: f32 = 5.0;
/// Angular speed: 6 m/s on the circle.
const TURN: f32 = 1.2;
const LATENCY: f32 = 0.04;

/// Returns position and velocity of the proxy `seconds` after the first tick.
fn truth(seconds: f32) -> (Vec3, Vec3) {
    let (sin, cos) = (TURN * seconds).sin_cos();
    (Vec3::new(cos, 0.0, sin) * RADIUS, Vec3::new(-sin, 0.0, cos) * (RADIUS * TURN))
}

fn app() -> (App, Entity) {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, SmoothingPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(10)));
    let proxy = app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy)).id();
    (app, proxy)
}

/// Puts the snapshots that arrive until `now` into the inbox: 20 per second.
fn deliver(app: &mut App, proxy: Entity, now: f32, sent: &mut u32) {
    loop {
        let ticks = (*sent as f32 * 3.2) as u32;
        let seconds = ticks as f32 / 64.0;
        if seconds + LATENCY > now {
            return;
        }
        let (position, velocity) = truth(seconds);
        let tick = Tick(FIRST.0.wrapping_add(ticks));
        if let Some(mut inbox) = app.world_mut().get_mut::<SnapshotInbox>(proxy) {
            inbox.0.push(Snapshot::new(tick, position, velocity).into());
        }
        *sent += 1;
    }
}

#[test]
fn proxy_follows_the_true_path_at_its_view_time() {
    let (mut app, proxy) = app();
    let mut sent = 0;
    let mut last: Option<Vec3> = None;
    for frame in 0..1_000u32 {
        let now = frame as f32 * 0.01;
        deliver(&mut app, proxy, now, &mut sent);
        app.update();
        let drawn = app.world().get::<DrawnPose>(proxy).copied().unwrap_or_default();
        if now < 1.0 {
            continue;
        }
        assert!(drawn.pose.alive, "frame {frame}");
        let view = app.world().resource::<DrawnViewTime>().0.expect("snapshots have arrived");
        let seconds = view.ticks_since(FIRST) / 64.0;
        let behind = now - seconds;
        assert!(behind > LATENCY && behind < LATENCY + 0.1, "frame {frame}: {behind} s behind");
        let error = drawn.pose.position.distance(truth(seconds).0);
        assert!(error < 0.01, "frame {frame}: {error} m beside the truth");
        if let Some(last) = last {
            let moved = drawn.pose.position.distance(last);
            assert!(moved > 0.05 && moved < 0.07, "frame {frame}: moved {moved} m");
        }
        last = Some(drawn.pose.position);
    }
    let stats = app.world().resource::<SmoothingStats>();
    assert!(stats.drawn > 950 && stats.extrapolated < 20, "{stats:?}");
    assert_eq!((stats.late, stats.duplicates), (0, 0));
}

#[test]
fn proxy_is_not_drawn_before_the_moment_of_its_first_snapshot() {
    let (mut app, proxy) = app();
    let late = app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy)).id();
    let mut sent = 0;
    for frame in 0..100u32 {
        deliver(&mut app, proxy, frame as f32 * 0.01, &mut sent);
        app.update();
    }
    let newest = app.world().get::<SnapshotHistory>(proxy).and_then(|h| h.newest().copied());
    let newest = newest.expect("snapshots have arrived");
    let mut appeared = None;
    if let Some(mut inbox) = app.world_mut().get_mut::<SnapshotInbox>(late) {
        inbox.0.extend([ProxyUpdate::from(Snapshot { tick: newest.tick.offset(3), ..newest }); 2]);
    }
    for frame in 100..130u32 {
        deliver(&mut app, proxy, frame as f32 * 0.01, &mut sent);
        app.update();
        let drawn = app.world().get::<DrawnPose>(late).copied().unwrap_or_default();
        let view = app.world().resource::<DrawnViewTime>().0.expect("snapshots have arrived");
        assert_eq!(drawn.pose.alive, view.ticks_since(newest.tick.offset(3)) >= 0.0, "frame {frame}");
        appeared = appeared.or(drawn.pose.alive.then_some(frame));
    }
    assert!(appeared.is_some_and(|frame| frame > 101), "{appeared:?}");
    assert_eq!(app.world().resource::<SmoothingStats>().duplicates, 1);
}

#[test]
fn only_simulated_proxies_are_drawn_from_snapshots() {
    let (mut app, proxy) = app();
    app.world_mut().entity_mut(proxy).insert(NetRole::AutonomousProxy);
    let mut sent = 0;
    for frame in 0..100u32 {
        deliver(&mut app, proxy, frame as f32 * 0.01, &mut sent);
        app.update();
    }
    let drawn = app.world().get::<DrawnPose>(proxy).copied().unwrap_or_default();
    assert!(!drawn.pose.alive);
}

#[test]
fn pawn_out_of_sight_is_not_drawn_in_any_mode() {
    use ProxySmoothing::*;
    for mode in [Hermite, Linear, Simulate, Raw, Exponential] {
        let (mut app, proxy) = app();
        app.world_mut().entity_mut(proxy).insert(mode);
        let mut sent = 0;
        for frame in 0..200u32 {
            // Snapshots of the first second only.
            deliver(&mut app, proxy, (frame as f32 * 0.01).min(1.0), &mut sent);
            app.update();
        }
        let is_drawn = |app: &App| app.world().get::<DrawnPose>(proxy).is_some_and(|drawn| drawn.pose.alive);
        assert!(is_drawn(&app), "{mode:?}, control");
        let newest = app.world().get::<SnapshotHistory>(proxy).and_then(|h| h.newest().copied());
        let since = newest.expect("snapshots have arrived").tick;
        app.world_mut().entity_mut(proxy).insert(OutOfSight { since });
        app.update();
        assert!(!is_drawn(&app), "{mode:?}");
        sent = 40;
        for frame in 200..240u32 {
            deliver(&mut app, proxy, frame as f32 * 0.01, &mut sent);
            app.update();
        }
        assert!(is_drawn(&app), "{mode:?}, back in sight");
    }
}

#[test]
fn pawn_out_of_sight_is_not_drawn_and_reappears_on_its_path_without_a_longer_delay() {
    let (mut app, proxy) = app();
    // Keeps the clock running.
    let other = app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy)).id();
    let (mut sent, mut also_sent) = (0, 0);
    let (mut hidden, mut delay) = (0, 0.0);
    for frame in 0..500u32 {
        let now = frame as f32 * 0.01;
        // The server withholds the snapshots of a second.
        if !(2.0..3.0).contains(&(now - LATENCY)) {
            deliver(&mut app, proxy, now, &mut sent);
        } else {
            let newest = app.world().get::<SnapshotHistory>(proxy).and_then(|h| h.newest().copied());
            let since = newest.expect("snapshots have arrived").tick;
            app.world_mut().entity_mut(proxy).insert(OutOfSight { since });
            sent = ((now - LATENCY) * 20.0) as u32;
        }
        deliver(&mut app, other, now, &mut also_sent);
        app.update();
        if now < 1.0 {
            continue;
        }
        let view = app.world().resource::<DrawnViewTime>().0.expect("snapshots have arrived");
        let seconds = view.ticks_since(FIRST) / 64.0;
        let drawn = app.world().get::<DrawnPose>(proxy).copied().unwrap_or_default();
        hidden += u32::from(!drawn.pose.alive);
        if drawn.pose.alive {
            let error = drawn.pose.position.distance(truth(seconds).0);
            assert!(error < 0.01, "frame {frame}: {error} m beside the truth");
        } else {
            assert!((1.9..3.2).contains(&seconds), "hidden at {seconds} s");
        }
        let stats = app.world().resource::<SmoothingStats>();
        if now < 1.9 {
            delay = stats.delay_ms;
        }
        assert!(now < 1.9 || stats.delay_ms < delay + 10.0, "{} ms, {delay} ms before", stats.delay_ms);
    }
    assert!((80..130).contains(&hidden), "hidden in {hidden} frames");
    assert!(app.world().get::<OutOfSight>(proxy).is_none());
}
