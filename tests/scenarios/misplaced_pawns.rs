//! Pawns in the wrong place: on the server without a player, on the client without a server, or with the mesh itself.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    HostSoldierPawn,
    core::{SetupDiagnostics, SetupIssue},
    link_conditioner::LinkPreset,
    prelude::*,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::seconds;

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

/// Plays for four seconds, with a server and a client that `server` and `client` complete. The server gives the player
/// a pawn. Returns what each reports.
fn play(server: fn(&mut App), client: fn(&mut App)) -> [Vec<(SetupIssue, String)>; 2] {
    let mut apps = [headless_app(), headless_app()];
    apps[0].add_plugins(UnlagServerPlugins::default());
    apps[1].add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
    for app in &mut apps {
        app.add_systems(Startup, level);
    }
    apps[0].add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
        let place = Transform::from_xyz(5.0, 0.1, 0.0);
        commands.spawn((SoldierPawn, place, player_pawn(joined.link, joined.peer)));
    });
    let [mut server_app, mut client_app] = apps;
    server(&mut server_app);
    client(&mut client_app);
    let mut game = SteppedApps::new(server_app);
    game.join(client_app, LinkPreset::find("LAN").expect("a built-in preset")).expect("the client joins");
    game.run(seconds(4.0));
    let reported = |app: &App| app.world().resource::<SetupDiagnostics>().all().to_vec();
    [reported(&game.server), reported(&game.clients[0])]
}

/// Asserts that the issue is the only one, and that its line has these parts.
fn assert_only(reported: &[(SetupIssue, String)], issue: SetupIssue, parts: &[&str]) {
    let [(found, line)] = reported else { panic!("{reported:?}") };
    assert_eq!(*found, issue, "{line}");
    assert!(parts.iter().all(|part| line.contains(part)), "{parts:?} in {line}");
}

#[test]
fn pawn_that_waits_for_a_player_and_has_none_is_reported() {
    let lost = |app: &mut App| {
        app.world_mut().spawn(SoldierPawn);
    };
    let [server, client] = play(lost, |_| ());
    assert_only(
        &server,
        SetupIssue::UncontrolledPawn,
        &["of Soldier has no player", "player_pawn", "NpcPawn"],
    );
    assert_eq!(client, []);
}

#[test]
fn pawns_of_players_of_the_server_and_of_its_host_are_not_reported() {
    let [server, client] = play(
        |app| {
            app.add_plugins(PlayerControlsPlugin::default());
            app.world_mut().spawn((NpcPawn::<Soldier>::default(), Transform::from_xyz(-5.0, 0.1, 0.0)));
            app.world_mut().spawn((HostSoldierPawn, Transform::from_xyz(0.0, 0.1, 5.0)));
        },
        |_| (),
    );
    assert_eq!([server, client], [vec![], vec![]]);
}

#[test]
fn pawn_that_a_client_spawns_itself_is_reported() {
    let own = |app: &mut App| {
        app.world_mut().spawn(SoldierPawn);
    };
    let [server, client] = play(|_| (), own);
    let found: Vec<_> = client.iter().filter(|(issue, _)| *issue == SetupIssue::ClientSpawnedPawn).collect();
    let [(_, line)] = found[..] else { panic!("{client:?}") };
    assert!(line.contains("of Soldier itself") && line.contains("spawn it on the server"), "{line}");
    assert_eq!(server, []);
}

#[test]
fn mesh_on_a_pawn_or_on_its_child_is_reported_and_one_of_a_visual_is_not() {
    let on_pawn: fn(&mut App) = |app| {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert(Mesh3d::default());
        });
    };
    let on_child: fn(&mut App) = |app| {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.spawn((Mesh3d::default(), ChildOf(added.entity)));
        });
    };
    let on_visual: fn(&mut App) = |app| {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            let visual = commands.spawn(VisualOf(added.entity)).id();
            commands.spawn((Mesh3d::default(), ChildOf(visual)));
        });
    };
    for mistake in [on_pawn, on_child] {
        let [server, client] = play(|_| (), mistake);
        assert_only(&client, SetupIssue::MeshOnPawn, &["a mesh is on pawn", "VisualOf"]);
        assert_eq!(server, []);
    }
    assert_eq!(play(|_| (), on_visual), [vec![], vec![]]);
}

#[test]
fn visual_has_the_visibility_that_meshes_below_it_need() {
    let mut app = headless_app();
    app.add_plugins(UnlagClientPlugins::default());
    bevy_unlag_testkit::finish(&mut app);
    let pawn = app.world_mut().spawn_empty().id();
    let visual = app.world_mut().spawn(VisualOf(pawn)).id();
    app.update();
    assert!(app.world().get::<Visibility>(visual).is_some());
}
