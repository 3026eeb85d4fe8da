//! Keyboard and mouse controls of the pawn.

use bevy::{
    input::mouse::AccumulatedMouseMotion,
    prelude::*,
    window::{CursorOptions, PrimaryWindow},
};
use bevy_unlag::core::{MoveInput, MoveSystems};
use bevy_unlag_movement::InputAccumulator;
use unlag_examples::screen::{
    ShownIf,
    cursor::{MouseGrab, is_grabbed},
    ui::{SHADE, TEXT, banner, label},
};

use crate::{
    camera::View,
    pawn::{AbilityButtons, Pawn, Player, input},
    tour::Tour,
};

/// Mouse sensitivity, in radians per pixel.
const SENSITIVITY: f32 = 0.002;
/// Turn rate of the arrow keys, in radians per second.
const TURN_RATE: f32 = 2.2;

/// Steers the player's pawn unless the tour does.
pub fn plugin(app: &mut App) {
    app.init_resource::<AbilityButtons>()
        .add_systems(Startup, spawn_hint)
        .add_systems(Update, grab)
        .add_systems(
            RunFixedMainLoop,
            gather.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop).run_if(free),
        )
        .add_systems(FixedUpdate, sample_input.in_set(MoveSystems::Sample).run_if(free))
        .add_systems(RunFixedMainLoop, end_frame.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop));
}

fn free(tour: Res<Tour>) -> bool {
    !tour.on
}

/// Accumulates the input. There may be several frames per tick and several ticks per frame; a tap must reach
/// exactly one tick.
fn gather(
    keys: Res<ButtonInput<KeyCode>>,
    motion: Res<AccumulatedMouseMotion>,
    time: Res<Time>,
    cursors: Query<&CursorOptions, With<PrimaryWindow>>,
    mut taps: ResMut<AbilityButtons>,
    mut players: Query<(&mut InputAccumulator, &mut MoveInput<Pawn>), With<Player>>,
) {
    let axis = |plus: KeyCode, minus: KeyCode| {
        f32::from(i8::from(keys.pressed(plus)) - i8::from(keys.pressed(minus)))
    };
    let mouse = if is_grabbed(cursors) { motion.delta * SENSITIVITY } else { Vec2::ZERO };
    let turn = axis(KeyCode::ArrowLeft, KeyCode::ArrowRight) * TURN_RATE * time.delta_secs();
    let forward = axis(KeyCode::KeyW, KeyCode::KeyS) + axis(KeyCode::ArrowUp, KeyCode::ArrowDown);
    for (mut gather, mut shown) in &mut players {
        gather.look(turn - mouse.x, -mouse.y);
        gather.axes(Vec2::new(axis(KeyCode::KeyD, KeyCode::KeyA), forward));
        gather.jump(keys.pressed(KeyCode::Space));
        gather.crouch(keys.any_pressed([KeyCode::KeyC, KeyCode::ControlLeft]));
        gather.sprint(keys.pressed(KeyCode::ShiftLeft));
        gather.walk(keys.any_pressed([KeyCode::KeyX, KeyCode::AltLeft]));
        // The extrapolation between ticks uses the current input.
        shown.0 = input(gather.current(), AbilityButtons::default());
    }
    taps.teleport |= keys.just_pressed(KeyCode::KeyT);
    taps.dash |= keys.just_pressed(KeyCode::KeyF);
}

fn end_frame(mut players: Query<&mut InputAccumulator, With<Player>>) {
    players.iter_mut().for_each(|mut gather| gather.end_frame());
}

fn sample_input(
    mut taps: ResMut<AbilityButtons>,
    mut players: Query<(&mut InputAccumulator, &mut MoveInput<Pawn>), With<Player>>,
) {
    let taps = core::mem::take(&mut *taps);
    for (mut gather, mut wanted) in &mut players {
        wanted.0 = input(gather.take_input(), taps);
    }
}

/// Grabs the mouse on a click, and leaves the overview.
fn grab(mut mouse: MouseGrab, mut view: ResMut<View>) {
    if mouse.update([KeyCode::Escape]) == Some((false, true)) && *view == View::Overview {
        *view = View::Third;
    }
}

/// Spawns a line that explains how to start playing.
fn spawn_hint(mut commands: Commands) {
    let is_idle = |view: Res<View>, tour: Res<Tour>, cursors: Query<&CursorOptions, With<PrimaryWindow>>| {
        !tour.on && *view == View::Overview && !is_grabbed(cursors)
    };
    let shown = ShownIf::new(&mut commands, is_idle);
    let text = "Click to play - Esc frees the mouse - O lets a script walk the course";
    let padding = UiRect::axes(px(10), px(4));
    commands.spawn((
        banner(74.0),
        shown,
        children![(
            label(text, 18.0, TEXT),
            Node { padding, ..default() },
            BackgroundColor(SHADE),
            TextShadow { offset: Vec2::splat(1.5), ..default() },
        )],
    ));
}
