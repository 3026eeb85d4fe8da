//! An ability on the soldier: a dash with a cooldown, predicted like a jump.

use unlag_recipes::{corrections, floor, play, record, recorded};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent},
    movement::abilities::{Dash, DashConfig, DashEvent},
    prelude::*,
};

type Dasher = SoldierWith<Dash>;

/// Client and server call this function.
fn characters() -> Characters {
    Characters::of::<Dasher>()
}

/// The tuning, the same on both sides and before the suite's plugins. Without it a dash has its defaults.
fn tuning(app: &mut App) {
    let mut capsule = CapsuleConfig::default();
    let dash = DashConfig::register(&mut capsule).expect("there is room for a mode");
    app.insert_resource(capsule).insert_resource(DashConfig { cooldown: 0.6, ..dash });
}

fn server(app: &mut App) {
    app.add_plugins((tuning, UnlagServerPlugins { characters: characters(), ..default() }, floor))
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Dasher>::default(), Transform::from_xyz(0.0, 0.1, 0.0), owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins((tuning, UnlagClientPlugins { characters: characters(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default())
        .add_systems(FixedUpdate, dash_key.in_set(MoveSystems::Sample));
}

/// The player hammers on the key, five times a second. A game asks `ButtonInput<KeyCode>`.
fn dash_key(time: Res<Time>, mut own: Query<&mut MoveInput<Dasher>, With<LocalControl>>) {
    for mut input in &mut own {
        input.0.body.extension.pressed = time.elapsed_secs() % 0.2 < 0.1;
    }
}
// ANCHOR_END: game

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<StepEvent<Dasher>>));
}

fn recording_client(app: &mut App) {
    app.add_plugins((client, record::<StepEvent<Dasher>>));
}

/// Returns the ticks of the moves in which a dash began, as counted by the owner.
fn dashes(app: &App) -> Vec<u32> {
    let started = |step: &&StepEvent<Dasher>| {
        matches!(step.event, ExtendedEvent::Body(ExtendedEvent::Extension(DashEvent::Started { .. })))
    };
    recorded::<StepEvent<Dasher>>(app).iter().filter(started).map(|step| step.tick.0).collect()
}

#[test]
fn dash_obeys_its_cooldown_on_both_sides_without_corrections() {
    play(recording_server, &[recording_client], |game| {
        game.run(3.5);
        let (own, server) = (dashes(&game.clients[0]), dashes(&game.server));
        // Ten presses would be ten dashes without the cooldown.
        assert!((3..=6).contains(&server.len()), "{server:?}");
        assert!(server.windows(2).all(|pair| pair[1] - pair[0] >= 50), "0.2 s and 0.6 s: {server:?}");
        assert!(own.starts_with(&server), "the server makes the same dashes: {own:?}, {server:?}");
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
