//! An ability of one's own: holding a key makes the soldier twice as fast, until its breath is used up.

use unlag_recipes::{component, corrections, floor, play};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    movement::{MoveAbility, Mover},
    prelude::*,
};

type Runner = SoldierWith<Haste>;

struct Haste;

#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct HasteInput {
    pressed: bool,
}

/// All that changes is state, so that corrections and replays include it.
#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct HasteState {
    runs: bool,
    /// Seconds of breath that are used up, at most one. They come back half as fast.
    used: f32,
}

impl MoveAbility for Haste {
    type Param = ();
    type Input = HasteInput;
    type State = HasteState;
    type Event = ();
    type Cue = ();

    fn begin(_: &(), state: &mut HasteState, input: &HasteInput, _: &mut Mover, _: &mut Vec<()>) {
        // Out of breath, the soldier walks until half of it is back.
        state.runs = input.pressed && state.used < 1.0 && (state.runs || state.used < 0.5);
    }

    fn max_speed(_: &(), state: &HasteState, _: &Mover, usual: f32) -> f32 {
        if state.runs { usual * 2.0 } else { usual }
    }

    fn end(_: &(), state: &mut HasteState, _: &HasteInput, mover: &mut Mover, _: &mut Vec<()>) {
        let change = if state.runs { mover.seconds() } else { mover.seconds() * -0.5 };
        state.used = (state.used + change).clamp(0.0, 1.0);
    }

    fn kind(state: &HasteState) -> u32 {
        state.runs.into()
    }
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins { characters: Characters::of::<Runner>(), ..default() }, floor))
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Runner>::default(), NetId(1), owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { characters: Characters::of::<Runner>(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default())
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y))
        .add_systems(FixedUpdate, press.in_set(MoveSystems::Sample));
}

/// The player holds the key from the second second on.
fn press(time: Res<Time>, mut own: Query<&mut MoveInput<Runner>, With<LocalControl>>) {
    own.iter_mut().for_each(|mut input| input.0.body.extension.pressed = time.elapsed_secs() > 2.0);
}
// ANCHOR_END: game

#[test]
fn haste_doubles_the_speed_until_the_breath_is_used_up() {
    play(server, &[client], |game| {
        let mut speeds = Vec::new();
        for _ in 0..35 {
            game.run(0.1);
            let state = component::<<Runner as MoveModel>::State>(&mut game.server, NetId(1));
            speeds.push(state.map_or(0.0, |state| Runner::velocity(&state).length()));
        }
        let count =
            |range: core::ops::Range<f32>| speeds.iter().filter(|speed| range.contains(*speed)).count();
        // Without the ability all of them are 6 m/s.
        assert!(count(11.5..12.5) >= 5 && count(5.8..6.2) >= 5, "{speeds:?}");
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
