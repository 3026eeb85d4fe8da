//! Switches of the techniques: each changes the number that is shown beside it.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    core::{Interpolation, PoseSampler},
    link_conditioner::LinkPreset,
    prediction::PredictionDebug,
    prelude::*,
    rewind::RewindMode,
    weapons::{CatchUp, ProjectileRules},
};
use lightyear::prelude::Client;
use unlag_examples::{
    app::ServerOptions,
    server_debug::ServerDebugHandle,
    stepped_match::{Match, MatchOptions},
    techniques::{self, Technique, Techniques, measures::Measures},
    timeline,
    tour::{self, STOPS, Tour},
};

/// Starts a match of four whose first player has switches, on a preset's link.
fn play(preset: &str) -> (Match, ServerDebugHandle) {
    let preset = LinkPreset::named(preset).expect("a preset");
    let server = ServerOptions { interest: true, ..default() };
    let options = MatchOptions { conditions: preset.conditions(), server, ..default() };
    let mut game = Match::start(&options).expect("everybody joins");
    let handle = ServerDebugHandle::default();
    let client = &mut game.clients[0];
    timeline::plugin::<Soldier>(client);
    techniques::plugin(client);
    techniques::measures::plugin::<Soldier>(client);
    client.insert_resource(handle.clone());
    (game, handle)
}

/// Sets a switch, fights for some seconds, and returns the number beside the switch.
fn number(
    (game, handle): &mut (Match, ServerDebugHandle),
    technique: Technique,
    state: usize,
    seconds: u64,
) -> f64 {
    game.clients[0].world_mut().resource_mut::<Techniques>().set(technique, state);
    game.set_firing(true);
    // The server takes the switches between two of its frames.
    for _ in 0..seconds * 10 {
        game.run(Duration::from_millis(100));
        handle.apply(game.server.world_mut());
    }
    let measures = game.clients[0].world().resource::<Measures>();
    measures.value(technique).expect("a number")
}

#[test]
fn prediction_off_shows_moves_a_round_trip_later() {
    let mut game = play("Average (UE)");
    let on = number(&mut game, Technique::Prediction, 0, 3);
    let off = number(&mut game, Technique::Prediction, 1, 3);
    assert!(on < 1.0 && (80.0..250.0).contains(&off), "{on} ms, {off} ms");
}

#[test]
fn replay_off_throws_the_player_back() {
    let mut game = play("Average (UE)");
    game.1.force_corrections(0.1);
    let on = number(&mut game, Technique::Replay, 0, 5);
    let off = number(&mut game, Technique::Replay, 1, 5);
    assert!(on < 5.0 && off > 10.0, "{on} cm, {off} cm");
}

#[test]
fn redundancy_off_loses_moves_and_easing_off_shows_the_corrections() {
    let mut game = play("GNS terrible");
    let on = number(&mut game, Technique::Redundancy, 0, 10);
    let off = number(&mut game, Technique::Redundancy, 1, 10);
    assert!(on < 2.0 && off > 8.0, "{on} %, {off} % of the moves are lost");
    // With lost moves there is something to ease.
    let on = number(&mut game, Technique::Easing, 0, 5);
    let off = number(&mut game, Technique::Easing, 1, 5);
    assert!(on < 0.1 && off > 2.0, "{on} cm, {off} cm");
}

#[test]
fn lines_and_raw_updates_leave_the_curve_and_no_playout_delay_means_guesses() {
    let mut game = play("Average (UE)");
    let [cubic, linear, raw] = [0, 1, 2].map(|state| number(&mut game, Technique::Interpolation, state, 5));
    assert!(cubic < 0.01 && linear > 0.2 && raw > 3.0 * linear, "{cubic} cm, {linear} cm, {raw} cm");
    game.0.clients[0].world_mut().resource_mut::<Techniques>().set(Technique::Interpolation, 0);
    let on = number(&mut game, Technique::Playout, 0, 6);
    let off = number(&mut game, Technique::Playout, 1, 12);
    assert!(on < 15.0 && off > 60.0, "{on} %, {off} % of the poses");
}

#[test]
fn rewind_off_takes_drawn_hits_away() {
    let mut game = play("4G p50");
    let on = number(&mut game, Technique::Rewind, 0, 20);
    let off = number(&mut game, Technique::Rewind, 1, 20);
    assert!(on > 90.0 && off < 50.0, "{on} %, {off} % of the drawn hits");
}

#[test]
fn interest_conceals_others_and_cover_and_catch_up_reach_the_server() {
    let mut game = play("Good broadband");
    let settings = |game: &(Match, ServerDebugHandle)| {
        let world = game.0.server.world();
        let limits = world.resource::<RewindLimits>();
        (
            limits.mode,
            limits.cover.is_some(),
            world.resource::<ProjectileRules>().catch_up,
            world.resource::<PoseSampler>().interpolation,
        )
    };
    let most_concealed = |game: &mut (Match, ServerDebugHandle), state| {
        (0..10).map(|_| number(game, Technique::Interest, state, 1)).fold(0.0, f64::max)
    };
    assert_eq!(most_concealed(&mut game, 1), 0.0);
    assert_eq!(settings(&game), (RewindMode::On, false, CatchUp::Displayed, Interpolation::Hermite));
    assert!(most_concealed(&mut game, 0) > 0.0);
    number(&mut game, Technique::Cover, 0, 1);
    number(&mut game, Technique::Interpolation, 1, 1);
    game.0.clients[0].world_mut().resource_mut::<Techniques>().set(Technique::CatchUp, 1);
    number(&mut game, Technique::Cover, 0, 1);
    assert_eq!(settings(&game), (RewindMode::On, true, CatchUp::Present, Interpolation::Linear));
}

#[test]
fn switches_of_another_process_s_server_stay_as_they_are() {
    let (mut game, _) = play("Perfect");
    let client = &mut game.clients[0];
    client.world_mut().remove_resource::<ServerDebugHandle>();
    let mut switches = client.world_mut().resource_mut::<Techniques>();
    Technique::ALL.into_iter().for_each(|technique| switches.set(technique, 1));
    game.run(Duration::from_secs(1));
    let world = game.clients[0].world();
    let debug = world.resource::<PredictionDebug>();
    assert!(debug.draw_acknowledged && debug.skip_replay && debug.send_moves_once);
    // The server interpolates as it did, so this screen must, too.
    assert_eq!(world.resource::<PoseSampler>().interpolation, Interpolation::Hermite);
}

#[test]
fn tour_applies_each_stop_and_restores_the_settings_at_its_end() {
    let (mut game, _) = play("LAN");
    tour::plugin(&mut game.clients[0]);
    let settings = |game: &mut Match| {
        game.run(Duration::from_millis(50));
        let world = game.clients[0].world_mut();
        let mut links = world.query_filtered::<&NetSim, With<Client>>();
        let link = links.single(world).expect("one link");
        let link = (link.up, link.down);
        (link, *world.resource::<Techniques>(), world.resource::<PredictionDebug>().force_corrections)
    };
    let before = settings(&mut game);
    game.clients[0].world_mut().resource_mut::<Tour>().toggle();
    for stop in STOPS {
        let wanted = (stop.link(), stop.techniques(), stop.forced_corrections);
        assert_eq!(settings(&mut game), wanted, "{}", stop.title);
        // The player's own change stays until the next stop.
        game.clients[0].world_mut().resource_mut::<Techniques>().step(stop.technique);
        assert!(settings(&mut game).1 != stop.techniques(), "{}", stop.title);
        game.clients[0].world_mut().resource_mut::<Tour>().go(true);
    }
    let number = game.clients[0].world().resource::<Tour>().stop().map(|(number, _)| number);
    assert_eq!(number, Some(1), "after the last stop comes the first one");
    game.clients[0].world_mut().resource_mut::<Tour>().toggle();
    assert_eq!(settings(&mut game), before);
}
