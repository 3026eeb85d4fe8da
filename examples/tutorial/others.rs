//! Chapter 3: a patrol, and how other pawns are drawn.

use bevy::prelude::*;
use bevy_unlag::{prelude::*, smoothing::SmoothingStats};

/// On the server: a soldier without a player, which walks to and fro.
pub fn server(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let place = Transform::from_xyz(-6.0, 0.1, -6.0);
        commands.spawn((NpcPawn::<Soldier>::default(), NpcControls::default(), place));
    })
    .add_systems(FixedUpdate, patrol.before(MoveSystems::Sample));
}

fn patrol(tick: Res<CurrentTick>, mut patrols: Query<&mut NpcControls>) {
    for mut controls in &mut patrols {
        // 128 ticks are two seconds: to the right, and back.
        let is_on_its_way = (tick.0.0 / 128).is_multiple_of(2);
        controls.0.set_axes(if is_on_its_way { Vec2::X } else { Vec2::NEG_X });
    }
}

/// On a client: M changes the smoothing of all other pawns.
pub fn client(app: &mut App) {
    app.add_systems(Update, change_smoothing);
}

fn change_smoothing(
    keys: Res<ButtonInput<KeyCode>>,
    pawns: Query<(Entity, &NetRole, Option<&ProxySmoothing>)>,
    mut commands: Commands,
) {
    if !keys.just_pressed(KeyCode::KeyM) {
        return;
    }
    for (pawn, role, mode) in &pawns {
        if *role == NetRole::SimulatedProxy {
            let is_raw = mode == Some(&ProxySmoothing::Raw);
            commands.entity(pawn).insert(if is_raw { ProxySmoothing::Hermite } else { ProxySmoothing::Raw });
        }
    }
}

/// With a window: a line about the smoothing.
pub fn window(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let place = Node { position_type: PositionType::Absolute, top: px(8), left: px(8), ..default() };
        commands.spawn((Text::default(), place, SmoothingLine));
    })
    .add_systems(Update, show_smoothing);
}

#[derive(Component)]
struct SmoothingLine;

fn show_smoothing(
    stats: Res<SmoothingStats>,
    modes: Query<&ProxySmoothing>,
    mut text: Single<&mut Text, With<SmoothingLine>>,
) {
    let mode = modes.iter().next().copied().unwrap_or_default();
    text.0 = format!("M: smoothing {mode:?}, delay {:.0} ms", stats.delay_ms);
}
