//! A movement model of the game's own that lacks a part: the missing piece is named at run time.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag::{
    Character, CharacterPawn, Characters, Side,
    core::{PawnClass, SetupDiagnostics, SetupIssue, StepContext, Wire},
    link_conditioner::LinkPreset,
    prelude::*,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::seconds;

/// Moves to the right while its input says so; everything else is left out.
struct Stone;

#[derive(Resource)]
struct StoneConfig;

#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct StoneInput {
    rolls: bool,
}

#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct StoneState {
    position: Vec3,
}

impl MoveModel for Stone {
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
        StoneState { position: state.position + Vec3::X * f32::from(input.rolls) * ctx.dt }
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

/// Whether the model lacks nothing: the control. Its functions have no access to an app.
static COMPLETE: AtomicBool = AtomicBool::new(false);

impl Character for Stone {
    fn state_at(position: Vec3) -> StoneState {
        StoneState { position }
    }

    fn body(_: &StoneConfig, _: PawnClass) -> impl Bundle {
        // A bundle has one type: without a need for boxes the set is marked as empty on purpose.
        HitBoxes::none()
    }

    fn apply_controls(input: &mut StoneInput, controls: &CapsuleInput) {
        input.rolls = COMPLETE.load(Relaxed) && controls.forward > 0;
    }

    fn build(app: &mut App, _: Side) {
        if COMPLETE.load(Relaxed) {
            app.insert_resource(StoneConfig);
        }
    }
}

/// Plays for eight seconds, in which the player walks ahead. Returns what server and client have reported.
fn play(edit: fn(&mut App)) -> [Vec<SetupIssue>; 2] {
    let characters = Characters::of::<Stone>();
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins { characters: characters.clone(), ..default() }).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Stone>::default(), Transform::default(), owner));
        },
    );
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins { characters, ..default() }, PlayerControlsPlugin::default()))
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
    edit(&mut server);
    edit(&mut client);
    let mut game = SteppedApps::new(server);
    let link = LinkPreset::find("LAN").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game.run(seconds(8.0));
    [&game.server, &game.clients[0]].map(|app| {
        let found = app.world().resource::<SetupDiagnostics>().all();
        found.iter().map(|(issue, message)| (*issue, println!("{message}")).0).collect()
    })
}

// One test, because the model's functions read a static.
#[test]
fn each_missing_part_of_a_model_is_named() {
    let [server, client] = play(|_| ());
    assert!(server.contains(&SetupIssue::MissingConfig), "{server:?}");
    assert!(client.contains(&SetupIssue::MissingConfig), "{client:?}");

    let with_config: fn(&mut App) = |app| {
        app.insert_resource(StoneConfig);
    };
    let [server, client] = play(with_config);
    assert_eq!((&server[..], &client[..]), (&[][..], &[SetupIssue::UnusedControls][..]));

    let without_boxes: fn(&mut App) = |app| {
        app.insert_resource(StoneConfig).add_observer(|added: On<Add, HitBoxes>, mut commands: Commands| {
            commands.entity(added.entity).remove::<HitBoxes>();
        });
    };
    let [server, _] = play(without_boxes);
    assert_eq!(server, [SetupIssue::NoHitBoxes]);

    COMPLETE.store(true, Relaxed);
    assert_eq!(play(|_| ()), [vec![], vec![]], "the control");
}
