//! Tests of schedules, of their planning on a server, and of a client that follows.

use bevy::time::TimeUpdateStrategy;
use bevy_unlag_core::{
    BaseScheduleMailbox, BitReader, BitWriter, CurrentTick, MatchReset, RoundTrip, ServerLeft, Wire,
    WireError, check_wire_value,
};

use super::*;
use crate::{
    base::{BaseId, BaseTrack, MovementBase},
    plugin::MovementPlugin,
};

const TICK: f64 = 1.0 / 64.0;
const LIFT: BaseId = BaseId(5);

fn at(height: f32) -> Isometry3d {
    Isometry3d::from_xyz(0.0, height, 0.0)
}

fn height(pose: Isometry3d) -> f32 {
    pose.translation.y
}

/// A door that has turned by this angle.
fn turned(angle: f32) -> Isometry3d {
    Isometry3d::new(Vec3::X, Quat::from_rotation_y(angle))
}

/// A path that was interrupted twice.
fn winding_path() -> SchedulePath {
    let mut path = SchedulePath::at(at(1.0));
    assert!(path.push(Tick(100), 128, at(9.0)));
    assert!(path.push(Tick(164), 200, turned(2.0)));
    assert!(path.push(Tick(300), 0, at(-3.0)));
    path
}

fn read<T: Wire>(bytes: &[u8]) -> Result<T, WireError> {
    T::read(&mut BitReader::new(bytes))
}

#[test]
fn motion_starts_and_stops_softly_and_an_interruption_continues_from_there() {
    let path = winding_path();
    assert_eq!(path.pose(99.5), at(1.0));
    assert_eq!(path.pose(100.0), at(1.0));
    assert!(height(path.pose(110.0)) - 1.0 < 0.2, "a soft start");
    let before = path.pose(164.0 - 1e-6);
    assert!((height(before) - 5.0).abs() < 1e-3, "half of the way: {before:?}");
    assert!(height(path.pose(164.0)) - height(before) < 1e-3, "no jump");
    let half = path.pose(264.0);
    assert!(half.rotation.angle_between(Quat::from_rotation_y(1.0)) < 1e-2, "{half:?}");
    assert_ne!(path.pose(299.9), at(-3.0));
    assert_eq!(path.pose(300.0), at(-3.0), "a jump");
    assert_eq!(path.pose(1e7), at(-3.0));
    assert!(path.pose(f64::NAN).translation.is_finite() && path.pose(f64::INFINITY).translation.is_finite());
}

#[test]
fn reader_of_a_path_gets_the_same_bits_at_any_time() {
    let mut path = winding_path();
    path.remove_before(Tick(200));
    let announced = BaseAnnouncement { base: LIFT, number: 3, path: path.clone() };
    assert_eq!(check_wire_value(announced), Ok(()));
    let bytes = BaseAnnouncement::encoded(LIFT, 3, &path);
    let read = read::<BaseAnnouncement>(&bytes).expect("it is valid");
    assert_eq!((read.base, read.number), (LIFT, 3));
    for tenth in 1_000..4_000 {
        let now = f64::from(tenth) * 0.1;
        let bits = |pose: Isometry3d| {
            (
                Vec3::from(pose.translation).to_array().map(f32::to_bits),
                pose.rotation.to_array().map(f32::to_bits),
            )
        };
        assert_eq!(bits(read.path.pose(now)), bits(path.pose(now)), "at tick {now}");
    }
    let mut called_once = SchedulePath::at(at(1.0));
    assert!(called_once.push(Tick(70_000), 128, at(6.0)));
    let bytes = BaseAnnouncement::encoded(LIFT, 1, &called_once).len();
    assert!(bytes <= 38, "{bytes} bytes for a lift that was called once");
}

#[test]
fn invalid_paths_are_errors() {
    let encoded = |path: &SchedulePath| BaseAnnouncement::encoded(LIFT, 1, path);
    let bytes = encoded(&winding_path());
    for cut in 0..bytes.len() {
        assert!(read::<BaseAnnouncement>(&bytes[..cut]).is_err(), "cut to {cut} bytes");
    }
    let far = SchedulePath::at(Isometry3d::from_translation(Vec3::X * 1e9));
    assert_eq!(read::<BaseAnnouncement>(&encoded(&far)), Err(WireError::Invalid));
    assert_eq!(
        read::<BaseAnnouncement>(&BaseAnnouncement::encoded(BaseId::NONE, 1, &winding_path())),
        Err(WireError::Invalid)
    );
    // Two legs that start in one tick.
    let mut w = BitWriter::default();
    w.bits(0, 2);
    w.bits(2, 5);
    for _ in 0..2 {
        w.bits(7, 32);
        w.bits(64, 16);
        w.bits(0, 2);
    }
    assert_eq!(read::<SchedulePath>(&w.finish()), Err(WireError::Invalid));
}

#[test]
fn path_continues_across_the_wrap_of_the_tick() {
    let mut path = SchedulePath::at(at(0.0));
    assert!(path.push(Tick(u32::MAX - 31), 64, at(8.0)));
    assert_eq!(path.pose(f64::from(u32::MAX - 32)), at(0.0));
    assert!((height(path.pose(0.0)) - 4.0).abs() < 1e-3, "{:?}", path.pose(0.0));
    assert_eq!(path.pose(32.0), at(8.0));
    assert!(path.push(Tick(100), 64, at(0.0)));
    assert_eq!(path.pose(164.0), at(0.0));
}

#[test]
fn full_path_forgets_its_oldest_legs_only() {
    let mut path = SchedulePath::at(at(0.0));
    for leg in 0..40u16 {
        assert!(path.push(Tick(u32::from(leg) * 16), 8, at(f32::from(leg % 2) * 3.0)));
    }
    assert!(!path.push(Tick(39 * 16), 8, at(1.0)), "not after the last one");
    let first = 40 - SchedulePath::MAX_LEGS as u32;
    assert_eq!(path.pose(0.0), path.pose(f64::from(first * 16)), "older poses are forgotten");
    assert_eq!(height(path.pose(f64::from(31 * 16 + 8))), 3.0);
    assert_eq!(height(path.pose(f64::from(32 * 16 + 8))), 0.0);
}

#[test]
fn command_without_meaning_changes_nothing() {
    let mut schedule = BaseSchedule::at(at(2.0));
    schedule.move_to(at(2.0), 1.0);
    for speed in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        schedule.move_to(at(5.0), speed);
    }
    schedule.jump_to(at(f32::NAN));
    schedule.jump_to(Isometry3d::from_translation(Vec3::X * 1e9));
    schedule.move_within(Isometry3d::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), Duration::ZERO);
    assert!(!schedule.was_commanded() && schedule.is_at_rest(7.0));
    assert_eq!((schedule.destination(), schedule.pose(7.0)), (at(2.0), at(2.0)));
    schedule.move_to(at(5.0), 1.0);
    assert_eq!(schedule.destination(), at(5.0));
    assert!(!schedule.is_at_rest(7.0), "it has not started yet");
}

#[test]
fn hammered_button_keeps_the_past_of_three_seconds() {
    let mut schedule = BaseSchedule::at(at(0.0));
    let mut past: Vec<Isometry3d> = Vec::new();
    for tick in 0..2_000u32 {
        schedule.move_to(at(if tick % 2 == 0 { 4.0 } else { 0.0 }), 3.0);
        if schedule.needs_planning(Tick(tick + 10), TICK) {
            schedule.plan(tick, (Tick(tick), Tick(tick + 10)), TICK);
        }
        past.push(schedule.pose(f64::from(tick) * TICK));
        let oldest = tick.saturating_sub(192);
        for old in (oldest..=tick).step_by(17) {
            let now = schedule.pose(f64::from(old) * TICK);
            assert_eq!(now, past[old as usize], "tick {old} at tick {tick}");
        }
    }
    assert!(BaseAnnouncement::encoded(LIFT, 1, &schedule.path).len() < 600);
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(TICK)));
    app.world_mut().spawn(MovementBase::scheduled(LIFT, at(1.0)));
    run(&mut app, 8);
    app
}

fn run(app: &mut App, ticks: u32) {
    let end = now(app).offset(ticks.cast_signed());
    while end.is_newer_than(now(app)) {
        app.update();
    }
}

fn now(app: &App) -> Tick {
    app.world().resource::<CurrentTick>().0
}

fn lift(app: &mut App) -> Mut<'_, MovementBase> {
    let lift = lift_entity(app);
    app.world_mut().get_mut::<MovementBase>(lift).expect("it is a base")
}

fn lift_entity(app: &mut App) -> Entity {
    let world = app.world_mut();
    world.query_filtered::<Entity, With<MovementBase>>().single(world).expect("one lift")
}

fn pose_at(app: &mut App, tick: Tick) -> Isometry3d {
    lift(app).track.pose(f64::from(tick.0) * TICK)
}

fn mailbox(app: &mut App) -> Mut<'_, BaseScheduleMailbox> {
    app.world_mut().resource_mut::<BaseScheduleMailbox>()
}

/// Carries all messages from a server to a client.
fn deliver(from: &mut App, to: &mut App) -> usize {
    let due = mailbox(from).take_due();
    let count = due.len();
    due.into_iter().for_each(|message| mailbox(to).deliver(message));
    count
}

#[test]
fn without_a_network_the_motion_starts_at_once() {
    let mut app = app();
    lift(&mut app).move_to(at(3.0), 4.0);
    let start = now(&app).offset(1);
    run(&mut app, 1);
    assert_eq!(pose_at(&mut app, start), at(1.0));
    assert!(height(pose_at(&mut app, start.offset(4))) > 1.05);
    assert_eq!(pose_at(&mut app, start.offset(32)), at(3.0), "2 m at 4 m/s");
    run(&mut app, 40);
    let lift = lift_entity(&mut app);
    assert_eq!(app.world().get::<Transform>(lift).map(|drawn| drawn.translation.y), Some(3.0));
}

#[test]
fn start_waits_for_the_slowest_client_up_to_the_maximum() {
    let mut app = app();
    for (round_trip, most, expected) in [(100, 250, 9), (2_000, 250, 16), (100, 0, 0), (0, 250, 5)] {
        app.insert_resource(BaseScheduleConfig { max_lead: Duration::from_millis(most) });
        let mut trip = RoundTrip::first(Duration::from_millis(round_trip));
        (0..400).for_each(|_| trip.sample(Duration::from_millis(round_trip)));
        let link = app.world_mut().spawn(trip).id();
        run(&mut app, 64);
        let tick = now(&app);
        let from = height(pose_at(&mut app, tick));
        lift(&mut app).move_to(at(if from > 2.0 { 1.0 } else { 3.0 }), 4.0);
        run(&mut app, 1);
        let planned = now(&app);
        let waited = (0..100)
            .find(|wait| (height(pose_at(&mut app, planned.offset(wait + 1))) - from).abs() > 1e-4)
            .expect("it moves");
        assert_eq!(waited, expected, "{round_trip} ms, at most {most} ms");
        app.world_mut().despawn(link);
    }
}

#[test]
fn client_moves_its_base_as_the_server_announces() {
    let (mut server, mut client) = (app(), app());
    mailbox(&mut client).follows_server = true;
    deliver(&mut server, &mut client);
    run(&mut client, 2);
    lift(&mut server).move_to(at(6.0), 2.0);
    let mut messages = 0;
    for _ in 0..20 {
        run(&mut server, 1);
        messages += deliver(&mut server, &mut client);
    }
    assert_eq!(messages, 3, "it is announced three times");
    run(&mut client, 1);
    let start = now(&server);
    for tick in (0..400).map(|ahead| start.offset(ahead - 60)) {
        assert_eq!(pose_at(&mut client, tick), pose_at(&mut server, tick), "at {tick:?}");
    }
    // A command of the client counts for nothing, nor does anything that is invalid or old.
    let pose = pose_at(&mut client, start.offset(90));
    lift(&mut client).move_to(at(-5.0), 2.0);
    let old = BaseAnnouncement::encoded(LIFT, 1, &SchedulePath::at(at(50.0)));
    for message in [old, Vec::new(), vec![0xff; 300], vec![7]] {
        mailbox(&mut client).deliver(message);
    }
    run(&mut client, 2);
    assert_eq!(pose_at(&mut client, start.offset(90)), pose);
    assert_eq!(lift(&mut client).schedule().map(BaseSchedule::destination), Some(at(6.0)));
}

#[test]
fn base_that_is_spawned_after_its_announcement_follows_it() {
    let (mut server, mut client) = (app(), app());
    mailbox(&mut client).follows_server = true;
    lift(&mut server).move_to(at(6.0), 2.0);
    run(&mut server, 3);
    let published: Vec<Vec<u8>> = mailbox(&mut server).published().map(<[u8]>::to_vec).collect();
    assert_eq!(published.len(), 1);
    let early = lift_entity(&mut client);
    client.world_mut().despawn(early);
    published.into_iter().for_each(|message| mailbox(&mut client).deliver(message));
    run(&mut client, 2);
    client.world_mut().spawn(MovementBase::scheduled(LIFT, at(1.0)));
    run(&mut client, 1);
    let later = now(&server).offset(70);
    assert_eq!(pose_at(&mut client, later), pose_at(&mut server, later));
    assert!(height(pose_at(&mut client, later)) > 2.0);
    // Another server numbers its own announcements.
    client.world_mut().trigger(ServerLeft);
    let other = BaseAnnouncement::encoded(LIFT, 1, &SchedulePath::at(at(8.0)));
    mailbox(&mut client).deliver(other);
    run(&mut client, 1);
    assert_eq!(pose_at(&mut client, later), at(8.0));
}

#[test]
fn new_match_begins_with_all_bases_at_home() {
    let (mut server, mut client) = (app(), app());
    mailbox(&mut client).follows_server = true;
    lift(&mut server).move_to(at(6.0), 2.0);
    run(&mut server, 1);
    deliver(&mut server, &mut client);
    run(&mut server, 100);
    run(&mut client, 1);
    let tick = now(&server);
    assert!(height(pose_at(&mut client, tick)) > 3.0);
    server.world_mut().trigger(MatchReset { tick });
    client.world_mut().trigger(MatchReset { tick });
    run(&mut server, 1);
    deliver(&mut server, &mut client);
    run(&mut client, 1);
    for app in [&mut server, &mut client] {
        assert_eq!(pose_at(app, tick.offset(50)), at(1.0));
        assert!(matches!(&lift(app).track, BaseTrack::Scheduled(schedule) if !schedule.was_commanded()));
    }
    lift(&mut server).move_to(at(6.0), 2.0);
    run(&mut server, 1);
    deliver(&mut server, &mut client);
    run(&mut client, 1);
    let later = tick.offset(400);
    assert_eq!(pose_at(&mut client, later), at(6.0));
    assert_eq!(pose_at(&mut server, later), at(6.0));
}
