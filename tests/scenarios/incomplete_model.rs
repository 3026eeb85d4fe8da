//! A movement model of the game's own that lacks a part: the missing piece is named at run time.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag::{
    Character, CharacterPawn, Characters, HostCharacterPawn, NpcPawn, Side,
    core::{PawnClass, SetupDiagnostics, SetupIssue, StepContext, Wire},
    link_conditioner::LinkPreset,
    net::ReplicatedPawn,
    prediction::HostPawn,
    prelude::*,
    weapons::WithWeapons,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::seconds;

/// Moves to the right while its input says so; what a game can leave out is left out, unless it is complete.
struct Stone<const COMPLETE: bool>;

type Incomplete = Stone<false>;
type Armed = WithWeapons<Incomplete>;

#[derive(Resource)]
struct StoneConfig;

#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct StoneInput {
    rolls: bool,
}

#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct StoneState {
    position: Vec3,
    class: PawnClass,
}

/// Part of the body, with the class that it is of.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Shell(PawnClass);

impl<const COMPLETE: bool> MoveModel for Stone<COMPLETE> {
    type Config = StoneConfig;
    type Input = StoneInput;
    type State = StoneState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        _: &StoneConfig,
        state: &StoneState,
        input: &StoneInput,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _: &mut Vec<()>,
    ) -> StoneState {
        StoneState { position: state.position + Vec3::X * f32::from(input.rolls) * ctx.dt, ..*state }
    }

    fn position(state: &StoneState) -> Vec3 {
        state.position
    }

    fn velocity(_: &StoneState) -> Vec3 {
        Vec3::ZERO
    }

    fn kind(_: &StoneState) -> u32 {
        0
    }
}

impl<const COMPLETE: bool> Character for Stone<COMPLETE> {
    fn state_at(position: Vec3) -> StoneState {
        StoneState { position, class: PawnClass(0) }
    }

    fn body(_: &StoneConfig, class: PawnClass) -> impl Bundle {
        // A bundle has one type: without a need for boxes the set is marked as empty on purpose.
        (HitBoxes::none(), Shell(class))
    }

    fn set_class(state: &mut StoneState, class: PawnClass) {
        state.class = class;
    }

    fn has_class(_: &StoneConfig, class: PawnClass) -> bool {
        class.0 < 2
    }

    fn apply_controls(input: &mut StoneInput, controls: &CapsuleInput) {
        input.rolls = COMPLETE && controls.forward > 0;
    }

    fn build(app: &mut App, _: Side) {
        if COMPLETE {
            app.insert_resource(StoneConfig);
        }
    }
}

fn server<C: Character>() -> App {
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins { characters: Characters::of::<C>(), ..default() }).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<C>::default(), PawnClass(1), owner));
        },
    );
    server
}

/// A client whose player walks ahead.
fn client<C: Character>() -> App {
    let mut client = headless_app();
    let characters = Characters::of::<C>();
    client
        .add_plugins((UnlagClientPlugins { characters, ..default() }, PlayerControlsPlugin::default()))
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
    client
}

fn issues(app: &App) -> Vec<SetupIssue> {
    let found = app.world().resource::<SetupDiagnostics>().all();
    found.iter().map(|(issue, message)| (*issue, println!("{message}")).0).collect()
}

/// Plays for eight seconds, with both apps changed by `edit`.
fn play<C: Character>(edit: fn(&mut App)) -> SteppedApps {
    let (mut server, mut client) = (server::<C>(), client::<C>());
    edit(&mut server);
    edit(&mut client);
    let mut game = SteppedApps::new(server);
    let link = LinkPreset::find("LAN").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game.run(seconds(8.0));
    game
}

/// Returns what server and client report in such a match.
fn reported<C: Character>(edit: fn(&mut App)) -> [Vec<SetupIssue>; 2] {
    let game = play::<C>(edit);
    [issues(&game.server), issues(&game.clients[0])]
}

fn with_config(app: &mut App) {
    app.insert_resource(StoneConfig);
}

#[test]
fn each_missing_part_of_a_model_is_named() {
    let [server, client] = reported::<Incomplete>(|_| ());
    assert!(server.contains(&SetupIssue::MissingConfig), "{server:?}");
    assert!(client.contains(&SetupIssue::MissingConfig), "{client:?}");

    let [server, client] = reported::<Incomplete>(with_config);
    assert_eq!((&server[..], &client[..]), (&[][..], &[SetupIssue::UnusedControls][..]));

    let [server, _] = reported::<Incomplete>(|app| {
        with_config(app);
        app.add_observer(|added: On<Add, HitBoxes>, mut commands: Commands| {
            commands.entity(added.entity).remove::<HitBoxes>();
        });
    });
    assert_eq!(server, [SetupIssue::NoHitBoxes]);

    assert_eq!(reported::<Stone<true>>(|_| ()), [vec![], vec![]], "the control");
}

#[test]
fn unused_controls_are_named_while_the_player_aims_and_fires() {
    let [_, client] = reported::<Armed>(|app| {
        with_config(app);
        app.add_systems(PreUpdate, |mut own: Query<&mut WeaponControls>| {
            own.iter_mut().for_each(|mut controls| (controls.held, controls.aiming) = (true, true));
        });
    });
    assert_eq!(client, [SetupIssue::UnusedControls]);
}

#[test]
fn body_and_class_follow_a_configuration_that_is_inserted_after_the_pawn() {
    let mut game = play::<Incomplete>(|app| {
        app.add_systems(
            Update,
            |time: Res<Time>, config: Option<Res<StoneConfig>>, mut commands: Commands| {
                if time.elapsed_secs() > 4.0 && config.is_none() {
                    commands.insert_resource(StoneConfig);
                }
            },
        );
    });
    for (number, app) in game.apps_mut().enumerate() {
        let world = app.world_mut();
        let mut pawns = world.query::<(&Shell, &StoneState, Has<HitBoxes>)>();
        let pawn = pawns.iter(world).next().map(|(shell, state, boxes)| (*shell, state.class, boxes));
        assert_eq!(pawn, Some((Shell(PawnClass(1)), PawnClass(1), true)), "app {number}");
    }
}

/// Returns what a server reports of an armed soldier of the server that aims aside, or straight ahead.
fn aims(yaw: f32) -> Vec<SetupIssue> {
    let mut server = server::<Armed>();
    with_config(&mut server);
    server.world_mut().spawn((
        NpcPawn::<Armed>::default(),
        Shell(PawnClass(0)),
        WeaponControls::default(),
        Aim::new(yaw, 0.0),
    ));
    let mut game = SteppedApps::new(server);
    game.run(seconds(4.0));
    issues(&game.server)
}

#[test]
fn armed_model_without_a_look_is_named_when_it_aims_aside() {
    assert_eq!(aims(1.0), [SetupIssue::LookNotImplemented]);
    assert_eq!(aims(0.1), [], "within the tolerance");
}

#[test]
fn host_of_a_model_of_its_own_has_a_state_with_and_without_a_transform() {
    let mut server = server::<Stone<true>>();
    bevy_unlag_testkit::finish(&mut server);
    server.update();
    let world = server.world_mut();
    let here = Vec3::new(3.0, 1.0, -2.0);
    let bare = world.spawn((ReplicatedPawn, HostPawn::<Stone<true>>::default())).id();
    let place = Transform::from_translation(here);
    let marked = world.spawn((HostCharacterPawn::<Stone<true>>::default(), place)).id();
    let state = StoneState { position: here, class: PawnClass(0) };
    let given = world.spawn((ReplicatedPawn, HostPawn::<Stone<true>>::default(), state)).id();
    server.update();
    for (pawn, wanted) in [(bare, Vec3::ZERO), (marked, here), (given, here)] {
        let world = server.world();
        assert_eq!(world.get::<StoneState>(pawn).map(|state| state.position), Some(wanted), "{pawn}");
        assert_eq!(world.get::<Transform>(pawn).map(|at| at.translation), Some(wanted), "{pawn}");
    }
}
