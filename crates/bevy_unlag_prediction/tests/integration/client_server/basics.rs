//! One tick of the owner's client, from the input to the published state.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{
    CurrentTick, DrawnPose, MoveInput, MoveSystems, PublishedState, StepEvent, Tick, TickPlugin,
};
use bevy_unlag_prediction::{
    AuthorityPawn, AutonomousPawn, HostPawn, IncomingMoves, OutgoingMoves, PredictionPlugin, SavedMoves,
};

use crate::client_server::common::*;

#[test]
fn own_pawn_reacts_in_the_frame_of_its_input() {
    let mut pair = Pair::new(1, LinkProfile::late(0.15));
    pair.run(2.0);
    pair.play(|_| WalkerInput::EAST);
    pair.run_client_frame();
    assert!(pair.mine().at.x > 0.07, "{:?}", pair.mine());
    assert_eq!(pair.theirs().at.x, 0.0, "the server receives the move 150 ms later");
}

#[test]
fn own_pawn_is_drawn_with_the_live_input_between_ticks() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.client.frame = Duration::from_secs_f64(1.0 / 300.0);
    pair.run(2.0);
    // A frame without a tick.
    loop {
        let before = pair.client.tick();
        pair.client.edit::<MoveInput<Walker>>().0 = WalkerInput::EAST;
        pair.run_client_frame();
        if pair.client.tick() == before {
            break;
        }
    }
    assert_eq!(pair.mine().at.x, 0.0);
    let drawn = pair.client.get::<DrawnPose>().pose.position.x;
    assert!(drawn > 0.0, "{drawn}");
}

#[test]
fn input_is_sampled_simulated_saved_and_sent_in_one_tick() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.run(1.0);
    pair.play(|_| WalkerInput::EAST);
    pair.sent = Some(Default::default());
    pair.run_client_frame();
    let newest = pair.client.get::<SavedMoves<Walker>>().iter().next_back().expect("a move").clone();
    assert_eq!((newest.tick, newest.input), (pair.client.tick(), WalkerInput::EAST));
    assert_eq!(newest.result, pair.mine());
    assert!(newest.sent_at.is_some());
    assert_eq!(pair.sent.as_ref().map(|(up, _)| up.len()), Some(1));
}

#[test]
fn host_pawn_steps_without_prediction() {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins)
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(TICK))
        .add_plugins(PredictionPlugin::<Walker>::default());
    Walker::install(&mut app);
    MessageLog::<Walker>::install(&mut app);
    let pawn = app.world_mut().spawn((HostPawn::<Walker>::default(), WalkerState::default())).id();
    app.world_mut().get_mut::<MoveInput<Walker>>(pawn).expect("input").0 = WalkerInput::EAST;
    for _ in 0..65 {
        app.update();
    }
    let place = *app.world().get::<WalkerState>(pawn).expect("state");
    assert!((place.at.x - 5.0).abs() < 0.01 && place.steps == 64, "{place:?}");
    assert_eq!(app.world().resource::<MessageLog<Walker>>().events.len(), 6, "one event in every tenth step");
}

#[test]
fn input_sources_add_up_and_are_consumed_once_per_tick() {
    fn adds<const MORE: i8>(mut pawns: Query<&mut MoveInput<Walker>>) {
        for mut input in &mut pawns {
            input.0.x += MORE;
        }
    }
    let mut pair = Pair::new(1, LinkProfile::late(0.02));
    pair.client.app.add_systems(FixedUpdate, (adds::<10>, adds::<30>).chain().in_set(MoveSystems::Extend));
    pair.play(|tick| WalkerInput { x: (tick % 50) as i8, ..WalkerInput::NOTHING });
    for frame in [0.001, 0.0625, 0.016, 0.003] {
        pair.client.frame = Duration::from_secs_f64(frame);
        pair.run(1.0);
        let saved = pair.client.get::<SavedMoves<Walker>>();
        assert!(saved.len() > 1);
        for one in saved.iter() {
            assert_eq!(i32::from(one.input.x), (one.tick.0 % 50) as i32 + 40, "frames of {frame} s");
        }
        let read = pair.client.get::<MoveInput<Walker>>().0;
        let last = saved.iter().next_back().map(|one| one.input);
        assert_eq!(last, Some(read), "the last input can be read");
    }
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn input_length_is_clamped_and_speed_depends_on_the_mode() {
    let distance = |wish: WalkerInput| {
        let mut pair = Pair::new(1, LinkProfile::late(0.02));
        pair.run(1.0);
        pair.play(move |_| wish);
        pair.run(1.0);
        assert_eq!(pair.corrections(), 0);
        pair.theirs().at.length()
    };
    let straight = distance(WalkerInput::EAST);
    let diagonal = distance(WalkerInput { x: 127, z: 127, buttons: 0 });
    assert!((diagonal - straight).abs() < 1e-3, "{diagonal} and {straight}");
    assert!((distance(WalkerInput { x: 64, ..WalkerInput::NOTHING }) / straight - 0.504).abs() < 0.01);
    assert!((distance(WalkerInput::EAST.with(WalkerInput::RUN)) / straight - 1.5).abs() < 0.01);
}

#[test]
fn ticks_follow_game_time_at_any_frame_rate() {
    let mut pair = Pair::new(1, LinkProfile::late(0.02));
    pair.steers = false;
    pair.run(1.0);
    let (began, from) = (pair.client.tick(), pair.seconds());
    for frame in (0..400).map(|i| 0.001 + f64::from(i * 37 % 100) * 0.001) {
        pair.client.frame = Duration::from_secs_f64(frame);
        pair.run_client_frame();
    }
    let passed = (pair.seconds() - from) / DT;
    let ticks = f64::from(pair.client.tick().since(began));
    assert!((ticks - passed).abs() < 7.0, "{ticks} ticks in a time of {passed} ticks");
    let made = pair.client.stats().moves;
    let twice = pair.log.client.windows(2).filter(|two| two[1].tick.since(two[0].tick) != 1).count();
    assert!(twice == 0 && made > 1_000, "{twice} of {made} moves do not follow the previous tick");
}

#[test]
fn move_runs_on_both_sides_is_acknowledged_and_published() {
    let mut pair = Pair::new(1, LinkProfile::late(0.06));
    pair.run(2.0);
    let shown_before = pair.server.get::<PublishedState<Walker>>().state.at.x;
    pair.play(|_| WalkerInput::EAST);
    pair.run_client_frame();
    let (tick, result) = (pair.client.tick(), pair.mine());
    let made = pair.seconds();
    while !pair.log.server.contains_key(&tick) {
        assert!(pair.client.get::<SavedMoves<Walker>>().iter().any(|one| one.tick == tick));
        pair.run_server_frame();
    }
    let ran = pair.seconds() - made;
    assert!((0.06..0.12).contains(&ran), "the server ran it after {ran} s");
    assert_eq!(pair.log.server[&tick].at, result.at, "the server's result has the same bits");
    assert!(
        pair.server.get::<PublishedState<Walker>>().state.at.x > shown_before,
        "the result is published at once"
    );
    while pair.client.get::<SavedMoves<Walker>>().iter().any(|one| one.tick == tick) {
        pair.run_client_frame();
    }
    let answered = pair.seconds() - made;
    assert!((0.12..0.24).contains(&answered), "the acknowledgement took {answered} s");
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn owner_counts_its_moves_from_the_servers_tick() {
    // The server has run for a day.
    let mut pair = Pair::new(3, LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE });
    pair.server.app.insert_resource(CurrentTick(Tick(5_529_600)));
    pair.play(zigzag);
    pair.run(5.0);
    let behind = pair.server.tick().since(pair.client.tick());
    assert!((0..32).contains(&behind), "the owner is {behind} ticks behind");
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn pawns_without_the_plugin_do_not_move() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TickPlugin))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(TICK))
        .add_message::<StepEvent<Walker>>();
    Walker::install(&mut app);
    let own = app.world_mut().spawn(AutonomousPawn::<Walker>::default()).id();
    let pawn = app.world_mut().spawn((AuthorityPawn::<Walker>::default(), WalkerState::default())).id();
    for _ in 0..100 {
        app.world_mut().get_mut::<IncomingMoves>(pawn).expect("mailbox").deliver(vec![0; 20]);
        app.update();
    }
    assert_eq!(app.world().get::<OutgoingMoves>(own).map(|sent| sent.0.len()), Some(0));
    assert_eq!(app.world().get::<WalkerState>(pawn), Some(&WalkerState::default()));
}

#[test]
fn second_movement_model_is_predicted_and_corrected() {
    let mut pair = Pair::<Barge>::of(Tick(0), 4, LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE });
    // Not among the values that the server reads.
    pair.play(|tick| BargeInput { throttle: 0.8, rudder: if tick / 90 % 2 == 0 { 0.63 } else { -0.78 } });
    pair.run(20.0);
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
    assert_eq!(pair.log.largest_error(0.0), 0.0);
    // Something moves the pawn on the server: the client is corrected and both continue as one.
    pair.server.edit::<<Barge as bevy_unlag_core::MoveModel>::State>().at.x += 1.3;
    let from = pair.seconds();
    pair.run(4.0);
    assert_eq!((pair.client.stats().server_changes(), pair.corrections()), (1, 0));
    assert!(pair.log.seconds_to_convergence(from) < 0.3, "{}", pair.log.seconds_to_convergence(from));
}
