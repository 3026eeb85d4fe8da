//! A death report: the victim of a shot reads why the shot counted.

use unlag_recipes::{fire_at_other, floor, play, soldiers, walk_to_and_fro};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::MessageRules,
    prelude::*,
    weapons::{DeathExplained, DeathExplanationPlugin, ExplanationViewer, HealthPlugin, ShotExplanation},
};

/// To the owner of the pawn that died.
#[derive(Wire, Clone, Copy)]
struct DeathReport(ShotExplanation);

/// On both sides.
fn messages(app: &mut App) {
    app.add_game_message::<DeathReport>(MessageRules::to_owner());
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, DeathExplanationPlugin))
        .add_plugins((floor, soldiers, messages))
        .add_systems(Update, report);
}

fn report(mut deaths: MessageReader<DeathExplained>, mut owner: Outbox<DeathReport>) {
    for death in deaths.read() {
        owner.send_about(death.victim, &DeathReport(death.explanation));
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, messages))
        .init_resource::<LastDeath>()
        .add_systems(Update, show);
}

/// In a game a text on the screen until the respawn, with the names of the players.
#[derive(Resource, Default)]
struct LastDeath(String);

fn show(
    mut reports: MessageReader<Received<DeathReport>>,
    rate: Res<SimulationRate>,
    mut last: ResMut<LastDeath>,
) {
    let name = |pawn: NetId| format!("player {}", pawn.0);
    for report in reports.read() {
        last.0 = report.message.0.sentence(ExplanationViewer::Target, rate.tick_seconds(), name);
    }
}
// ANCHOR_END: game

fn shooter(app: &mut App) {
    app.add_plugins((client, fire_at_other));
}

fn walker(app: &mut App) {
    app.add_plugins((client, walk_to_and_fro));
}

#[test]
fn victim_reads_why_the_shot_counted_and_the_shooter_reads_nothing() {
    play(server, &[shooter, walker], |game| {
        game.run(1.0);
        let last = |client: &App| client.world().resource::<LastDeath>().0.clone();
        assert_eq!(last(&game.clients[0]), "");
        // "Hit by player 1: player 1's screen showed you at tick 118.4, 187 ms old; your body was there, though by
        // then you had moved 0.9 m."
        let sentence = last(&game.clients[1]);
        let start = "Hit by player 1: player 1's screen showed you at tick ";
        assert!(sentence.starts_with(start) && sentence.contains(" ms old; your "), "{sentence}");
    });
}
