//! Events, modes and other rare states of pawns: once on every screen, at the moment that it shows.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    CharacterPawn, Characters, SoldierWith,
    core::PawnClass,
    link_conditioner::LinkConditions,
    movement::{
        MoveCue, MoveVolume, MovementMode, VolumeId,
        abilities::{Dash, DashCue},
    },
    net::PawnEvent,
    prediction::PredictionDebug,
    prelude::*,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

type Dasher = SoldierWith<Dash>;

fn characters() -> Characters {
    Characters::of::<Dasher>()
}

/// Events shown by an app for the first pawn: the cue or dash, and the height at which the pawn was drawn.
#[derive(Resource, Default)]
struct DisplayedEvents {
    cues: Vec<(MoveCue, f32)>,
    dashes: usize,
    /// Frames in which the pawn was in a custom mode: that of the dash.
    custom_frames: usize,
}

fn game(app: &mut App) {
    app.init_resource::<DisplayedEvents>().add_systems(Last, record).add_systems(
        Startup,
        |mut commands: Commands| {
            commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
            // A pool at the side.
            let pool = MoveVolume::water(VolumeId(1));
            commands.spawn((pool, Collider::cuboid(10.0, 3.0, 10.0), Transform::from_xyz(100.0, 3.0, 0.0)));
        },
    );
}

fn record(
    mut cues: MessageReader<PawnEvent<MoveCue>>,
    mut dashes: MessageReader<PawnEvent<DashCue>>,
    pawns: Query<(&NetId, Option<&DrawnPose>)>,
    modes: Query<(&NetId, &MovementMode)>,
    mut displayed: ResMut<DisplayedEvents>,
) {
    for cue in cues.read() {
        if let Ok((NetId(1), drawn)) = pawns.get(cue.pawn) {
            displayed.cues.push((cue.event, drawn.map_or(0.0, |drawn| drawn.pose.position.y)));
        }
    }
    let in_custom = modes.iter().filter(|(id, mode)| id.0 == 1 && matches!(**mode, MovementMode::Custom(_)));
    displayed.custom_frames += in_custom.count();
    displayed.dashes +=
        dashes.read().filter(|dash| pawns.get(dash.pawn).is_ok_and(|(id, _)| id.0 == 1)).count();
}

fn server(force_corrections: bool) -> App {
    let mut server = headless_app();
    server.add_plugins((UnlagServerPlugins { characters: characters(), ..default() }, game)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = Transform::from_xyz(f32::from(*players) * 8.0, 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Dasher>::default(), NetId(*players), place, owner));
        },
    );
    if force_corrections {
        server.world_mut().resource_mut::<PredictionDebug>().force_corrections = 0.05;
    }
    server
}

/// A client that jumps every two seconds and dashes in between.
fn client(jumps: bool) -> App {
    let mut client = headless_app();
    client
        .add_plugins((
            UnlagClientPlugins { characters: characters(), ..default() },
            PlayerControlsPlugin::default(),
            game,
        ))
        .add_systems(PreUpdate, move |time: Res<Time>, mut own: Query<&mut InputAccumulator>| {
            let phase = time.elapsed_secs() % 2.0;
            own.iter_mut().for_each(|mut input| input.jump(jumps && phase < 0.2));
        })
        .add_systems(
            FixedUpdate,
            (move |time: Res<Time>, mut own: Query<&mut MoveInput<Dasher>>| {
                let phase = time.elapsed_secs() % 2.0;
                for mut input in &mut own {
                    input.0.body.extension.pressed = jumps && (1.4..1.5).contains(&phase);
                }
            })
            .after(MoveSystems::Sample)
            .before(MoveSystems::Step),
        );
    client
}

fn play(round_trip: u64, loss: f32, force_corrections: bool, seconds: u64) -> SteppedApps {
    let mut game = SteppedApps::new(server(force_corrections));
    for index in 0..2 {
        let mut sim = NetSim::new(index);
        sim.set(LinkConditions { latency: Duration::from_millis(round_trip / 2), loss, ..default() });
        game.join_over(client(index == 0), sim).expect("the client joins");
    }
    game.run(Duration::from_secs(seconds));
    // The last messages arrive.
    game.frames[0].due = Duration::MAX;
    game.run(Duration::from_secs(4));
    game
}

/// Whether the player of the first client holds the crouch button.
#[derive(Resource, Default)]
struct Crouches(bool);

fn count(app: &App, cue: fn(&MoveCue) -> bool) -> usize {
    app.world().resource::<DisplayedEvents>().cues.iter().filter(|(shown, _)| cue(shown)).count()
}

#[test]
fn events_play_once_on_every_screen_under_loss_and_forced_corrections() {
    let game = play(300, 0.1, true, 40);
    let apps = [&game.server, &game.clients[0], &game.clients[1]];
    let jumps = apps.map(|app| count(app, |cue| *cue == MoveCue::Jumped));
    assert!(jumps[0] >= 17, "{jumps:?}");
    assert_eq!(jumps[0], jumps[2], "server and bystander: {jumps:?}");
    assert!(jumps[1].abs_diff(jumps[0]) <= 1, "owner: {jumps:?}");
    let dashes = apps.map(|app| app.world().resource::<DisplayedEvents>().dashes);
    assert!(dashes[0] >= 17, "{dashes:?}");
    assert_eq!(dashes[0], dashes[2], "{dashes:?}");
    assert!(dashes[1].abs_diff(dashes[0]) <= 1, "{dashes:?}");
    let custom_frames = apps.map(|app| app.world().resource::<DisplayedEvents>().custom_frames);
    assert!(custom_frames.iter().all(|frames| *frames > 10), "the mode of the dash: {custom_frames:?}");
}

#[test]
fn bystander_hears_a_jump_when_it_sees_the_pawn_leave_the_ground() {
    let game = play(150, 0.0, false, 30);
    let shown = &game.clients[1].world().resource::<DisplayedEvents>().cues;
    let heights = |wanted: fn(&MoveCue) -> bool| -> Vec<f32> {
        shown.iter().filter(|(cue, _)| wanted(cue)).map(|(_, height)| *height).collect()
    };
    let jumps = heights(|cue| *cue == MoveCue::Jumped);
    assert!(jumps.len() >= 12 && jumps.iter().all(|y| (0.02..0.2).contains(y)), "{jumps:?}");
    // The first landing is that of the spawn.
    let landings = heights(|cue| cue.impact_speed().is_some());
    assert!(landings.len() >= 12 && landings.iter().skip(1).all(|y| *y < 0.08), "{landings:?}");
}

#[test]
fn bystander_sees_a_pawn_crouch_and_stand_up_again() {
    let mut game = SteppedApps::new(server(false));
    for index in 0..2 {
        let mut client = client(false);
        client.init_resource::<Crouches>().add_systems(
            PreUpdate,
            |crouches: Res<Crouches>, mut own: Query<&mut InputAccumulator>| {
                own.iter_mut().for_each(|mut input| input.crouch(crouches.0));
            },
        );
        let mut sim = NetSim::new(index);
        sim.set(LinkConditions { latency: Duration::from_millis(50), loss: 0.02, ..default() });
        game.join_over(client, sim).expect("the client joins");
        game.run(Duration::from_secs(1));
    }
    for crouches in [false, true, false] {
        game.clients[0].world_mut().resource_mut::<Crouches>().0 = crouches;
        game.run(Duration::from_secs(1));
        let world = game.clients[1].world_mut();
        let mut pawns = world.query::<(&NetId, &DrawnPose)>();
        for (id, drawn) in pawns.iter(world) {
            let expected = if crouches && id.0 == 1 { 1.0 } else { 0.0 };
            assert!((drawn.pose.crouch - expected).abs() < 0.01, "{id:?}: {}", drawn.pose.crouch);
        }
    }
}

#[test]
fn everybody_and_a_late_joiner_know_a_swimmer_and_a_flyer_and_their_class() {
    let mut game = play(100, 0.0, false, 2);
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId, &mut <Dasher as MoveModel>::State)>();
    let mut both = Vec::new();
    for (pawn, id, mut state) in pawns.iter_mut(world) {
        let body = &mut state.body.body;
        if id.0 == 1 {
            body.teleport_to(Vec3::new(100.0, 1.0, 0.0));
        } else {
            body.teleport_to(Vec3::new(-40.0, 5.0, 0.0));
            body.mode = MovementMode::Flying;
        }
        both.push(pawn);
    }
    for pawn in both {
        world.entity_mut(pawn).insert(PawnClass(0));
    }
    game.run(Duration::from_secs(2));
    let mut sim = NetSim::new(9);
    sim.set(LinkConditions { latency: Duration::from_millis(50), ..default() });
    game.join_over(client(false), sim).expect("a third client joins");
    game.run(Duration::from_secs(3));
    for (number, app) in game.apps_mut().enumerate().filter(|(number, _)| *number != 1) {
        let world = app.world_mut();
        let mut pawns = world.query::<(&NetId, &MovementMode, &PawnClass)>();
        for (wanted, mode) in [(1, MovementMode::Swimming), (2, MovementMode::Flying)] {
            let pawn = pawns.iter(world).find(|(id, ..)| id.0 == wanted);
            let shown = pawn.map(|(_, mode, class)| (*mode, *class));
            assert_eq!(shown, Some((mode, PawnClass(0))), "pawn {wanted} on app {number}");
        }
    }
}
