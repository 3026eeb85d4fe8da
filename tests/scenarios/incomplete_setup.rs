//! Apps of built-in characters that lack a piece: the missing one is named, as an error.

use bevy::{input::InputPlugin, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    CharacterPawn, Characters, HostSoldierPawn, NpcPawn,
    core::{PawnClass, SetupDiagnostics, SetupIssue},
    link_conditioner::LinkPreset,
    movement::{KartModel, MoveCue},
    net::SharePawnEvents,
    prelude::*,
    weapons::{HealthPlugin, TargetCount},
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::{captured_log::errors, seconds};

fn server(characters: Characters) -> App {
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins { characters, ..default() }).add_systems(
        Startup,
        |mut commands: Commands| {
            commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        },
    );
    server
}

fn reported(app: &App) -> Vec<(SetupIssue, String)> {
    app.world().resource::<SetupDiagnostics>().all().to_vec()
}

fn issues(app: &App) -> Vec<SetupIssue> {
    reported(app).into_iter().map(|(issue, _)| issue).collect()
}

#[test]
fn empty_list_of_characters_is_an_error_at_the_start() {
    for (characters, expected) in
        [(Characters::none(), &[SetupIssue::NoCharacters][..]), (Characters::default(), &[])]
    {
        let mut app = server(characters);
        bevy_unlag_testkit::finish(&mut app);
        let lines = errors(|| app.update());
        assert_eq!(issues(&app), expected);
        let named = lines.iter().any(|line| line.contains("list of characters is empty"));
        assert_eq!(named, !expected.is_empty(), "{lines:?}");
    }
}

#[test]
fn mistake_that_leaves_the_game_playable_is_no_error() {
    let mut diagnostics = SetupDiagnostics::default();
    let lines = errors(|| {
        diagnostics.report(SetupIssue::ContestedVisual, || "playable".to_owned());
        diagnostics.report(SetupIssue::NoInputMap, || "unplayable".to_owned());
    });
    assert_eq!(lines, ["bevy_unlag: unplayable issue=NoInputMap"]);
}

#[test]
fn pawn_of_an_unlisted_character_is_named_once() {
    let mut app = server(Characters::default());
    bevy_unlag_testkit::finish(&mut app);
    app.update();
    let lines = errors(|| {
        for _ in 0..2 {
            app.world_mut().spawn(CharacterPawn::<KartModel>::default());
        }
        app.world_mut().spawn(SoldierPawn);
    });
    let [(SetupIssue::UnlistedCharacter, sentence)] = &reported(&app)[..] else {
        panic!("{:?}", reported(&app));
    };
    assert!(sentence.contains("KartModel") && sentence.contains("list of Characters"), "{sentence}");
    assert_eq!(lines, [format!("bevy_unlag: {sentence} issue=UnlistedCharacter")]);
}

#[test]
fn shared_events_of_a_model_without_pawns_are_named_at_the_start() {
    let mut app = server(Characters::default());
    app.share_pawn_events::<KartModel, MoveCue>(|_| None);
    app.share_pawn_events::<Soldier, MoveCue>(|_| None);
    bevy_unlag_testkit::finish(&mut app);
    app.update();
    let [(SetupIssue::UnlistedCharacter, sentence)] = &reported(&app)[..] else {
        panic!("{:?}", reported(&app));
    };
    assert!(sentence.contains("KartModel") && sentence.contains("MoveCue"), "{sentence}");
}

#[test]
fn class_that_a_model_does_not_have_is_named_once() {
    let mut game = SteppedApps::new(server(Characters::default().with::<KartModel>()));
    game.run(seconds(0.1));
    let mut two = CapsuleConfig::default();
    two.add_class(CapsuleConfig::default()).expect("room");
    let world = game.server.world_mut();
    world.insert_resource(two);
    world.spawn((SoldierPawn, PawnClass(1)));
    world.spawn((NpcPawn::<KartModel>::default(), PawnClass(0)));
    game.run(seconds(0.5));
    assert_eq!(reported(&game.server), [], "the control");
    let world = game.server.world_mut();
    for _ in 0..2 {
        world.spawn((SoldierPawn, PawnClass(9)));
    }
    world.spawn((NpcPawn::<KartModel>::default(), PawnClass(1)));
    game.run(seconds(0.5));
    let reported = reported(&game.server);
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported.iter().all(|(issue, _)| *issue == SetupIssue::UnknownClass), "{reported:?}");
    for parts in [["a pawn of Soldier is", "class 9"], ["a pawn of KartModel is", "class 1"]] {
        let named = |line: &str| parts.iter().all(|part| line.contains(part));
        assert!(reported.iter().any(|(_, line)| named(line)), "{parts:?} in {reported:?}");
    }
}

/// Plays for five seconds with a client that `edit` completes, whose player touches nothing. Returns what it reports.
fn idle_player(edit: fn(&mut App)) -> Vec<SetupIssue> {
    let mut server = server(Characters::default());
    server.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
        commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        commands.spawn((NpcPawn::<Soldier>::default(), Transform::from_xyz(9.0, 0.1, 0.0)));
    });
    let mut client = headless_app();
    client.add_plugins((InputPlugin, UnlagClientPlugins::default()));
    edit(&mut client);
    let mut game = SteppedApps::new(server);
    let link = LinkPreset::find("LAN").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game.run(seconds(5.0));
    assert_eq!(issues(&game.server), [], "pawns of the server and of remote players");
    issues(&game.clients[0])
}

#[test]
fn each_missing_part_of_the_controls_is_named_while_the_pawn_stands() {
    assert_eq!(idle_player(|_| ()), [SetupIssue::NoControlsPlugin]);
    let reading: fn(&mut App) = |app| {
        app.add_plugins(PlayerControlsPlugin::reading());
    };
    assert_eq!(idle_player(reading), [SetupIssue::NoPlayerControls]);
    let unbound: fn(&mut App) = |app| {
        app.add_plugins(PlayerControlsPlugin::reading());
        app.world_mut().spawn(PlayerControls::default());
    };
    assert_eq!(idle_player(unbound), [SetupIssue::NoInputMap]);
    let unread: fn(&mut App) = |app| {
        app.add_plugins(PlayerControlsPlugin::default());
        app.world_mut().spawn((PlayerControls::default(), PlayerControls::default_bindings()));
    };
    assert_eq!(idle_player(unread), [SetupIssue::NoControlsPlugin]);
}

#[test]
fn idle_player_with_controls_of_any_kind_is_not_reported() {
    let complete: fn(&mut App) = |app| {
        app.add_plugins(PlayerControlsPlugin::reading());
        app.world_mut().spawn((PlayerControls::default(), PlayerControls::default_bindings()));
    };
    let scripted: fn(&mut App) = |app| {
        app.add_plugins(PlayerControlsPlugin::default());
    };
    // The game writes what its player asks for: nothing.
    let by_hand: fn(&mut App) = |app| {
        app.add_systems(
            FixedUpdate,
            (|mut own: Query<&mut MoveInput<Soldier>, With<LocalControl>>| {
                own.iter_mut().for_each(|mut input| input.0.body = default());
            })
            .in_set(MoveSystems::Sample),
        );
    };
    for edit in [complete, scripted, by_hand] {
        assert_eq!(idle_player(edit), []);
    }
}

#[test]
fn own_pawn_of_a_host_without_controls_is_reported() {
    let mut app = server(Characters::default());
    app.world_mut().spawn(HostSoldierPawn);
    let mut game = SteppedApps::new(app);
    game.run(seconds(4.0));
    assert_eq!(issues(&game.server), [SetupIssue::NoControlsPlugin]);
}

/// Hurts a pawn in every tick for five seconds. Returns what the server reports.
fn hurt(edit: fn(&mut App)) -> Vec<SetupIssue> {
    let mut app = server(Characters::default());
    app.add_systems(FixedUpdate, |pawns: Query<Entity, With<Health>>, mut damage: MessageWriter<Damage>| {
        damage.write_batch(pawns.iter().map(|target| Damage {
            shooter: target,
            target,
            weapon: WeaponId(0),
            shot: default(),
            amount: 1.0,
            hits: TargetCount::default(),
            point: Vec3::ZERO,
            direction: Vec3::X,
            throw: Vec3::ZERO,
        }));
    });
    edit(&mut app);
    app.world_mut().spawn((NpcPawn::<Soldier>::default(), Health::full(1_000.0)));
    let mut game = SteppedApps::new(app);
    game.run(seconds(5.0));
    issues(&game.server)
}

#[test]
fn health_that_no_damage_changes_is_reported() {
    assert_eq!(hurt(|_| ()), [SetupIssue::UnusedHealth]);
    let with_plugin: fn(&mut App) = |app| {
        app.add_plugins(HealthPlugin);
    };
    assert_eq!(hurt(with_plugin), []);
    let by_hand: fn(&mut App) = |app| {
        app.add_systems(FixedLast, |mut damage: MessageReader<Damage>, mut pawns: Query<&mut Health>| {
            for hit in damage.read() {
                if let Ok(mut health) = pawns.get_mut(hit.target) {
                    health.current -= hit.amount;
                }
            }
        });
    };
    assert_eq!(hurt(by_hand), [], "rules of the game");
}
