//! Visuals of pawns, extrapolated to the time of the frame.

use bevy::{
    camera::visibility::VisibilitySystems, ecs::system::StaticSystemParam, light::NotShadowCaster,
    prelude::*, transform::TransformSystems,
};
use bevy_unlag::core::{CurrentTick, MoveInput, MoveModel, StepContext};
use bevy_unlag_movement::CapsuleConfig;
use unlag_examples::screen::scene::visible;

use crate::{
    camera::{CameraSystems, View},
    pawn::{Drawn, Pawn, PawnState, Player},
};

/// Draws the pawns.
pub fn plugin(app: &mut App) {
    app.add_systems(Update, spawn_visuals).add_systems(
        PostUpdate,
        (draw.before(CameraSystems), place.after(CameraSystems))
            .before(TransformSystems::Propagate)
            .before(VisibilitySystems::VisibilityPropagate),
    );
}

/// Visual of a pawn. The pawn's entity has no transform: its state holds the position.
#[derive(Component)]
struct PawnVisual(Entity);

fn spawn_visuals(
    pawns: Query<(Entity, Has<Player>), (With<PawnState>, Without<Drawn>)>,
    config: Res<CapsuleConfig>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (pawn, player) in &pawns {
        let colour = if player { Color::srgb(0.95, 0.55, 0.32) } else { Color::srgb(0.62, 0.64, 0.70) };
        let (skin, dark) = (materials.add(colour), materials.add(Color::srgb(0.10, 0.11, 0.14)));
        let (radius, half) = (config.radius, config.half_height);
        let capsule = meshes.add(Capsule3d { radius, half_length: half - radius });
        let visor = meshes.add(Cuboid::new(radius * 1.3, 0.16, 0.2));
        commands.entity(pawn).insert(Drawn::default());
        commands.spawn((
            PawnVisual(pawn),
            Mesh3d(capsule),
            MeshMaterial3d(skin),
            NotShadowCaster,
            // The visor shows the view direction.
            children![(
                Mesh3d(visor),
                MeshMaterial3d(dark),
                Transform::from_xyz(0.0, half - radius * 0.8, -radius * 0.8),
                NotShadowCaster,
            )],
        ));
    }
}

/// Extrapolates each pawn from the last tick by a discarded step, as the prediction plugin does. Lifts are
/// drawn at the same time, so a pawn that rests on a lift is drawn at rest on it.
fn draw(
    config: Res<CapsuleConfig>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<<Pawn as MoveModel>::World>,
    mut pawns: Query<(Entity, &PawnState, &MoveInput<Pawn>, &mut Drawn)>,
) {
    let ahead = fixed.overstep().as_secs_f32();
    let mut muted = Vec::new();
    for (entity, state, input, mut drawn) in &mut pawns {
        let ctx = StepContext { tick: tick.0.offset(1), dt: ahead, entity, replaying: false };
        drawn.0 = if ahead > 0.0 {
            Pawn::step(&config, state, &input.0, &ctx, &world, &mut muted).body
        } else {
            state.body
        };
        muted.clear();
    }
}

fn place(
    config: Res<CapsuleConfig>,
    view: Res<View>,
    pawns: Query<(&Drawn, Has<Player>)>,
    mut figures: Query<(&PawnVisual, &mut Transform, &mut Visibility)>,
) {
    for (PawnVisual(pawn), mut transform, mut visibility) in &mut figures {
        let Ok((Drawn(state), player)) = pawns.get(*pawn) else { continue };
        let half = if state.crouched { config.crouched_half_height } else { config.half_height };
        *transform = Transform {
            translation: state.position + state.up * half,
            rotation: state.rotation(),
            scale: Vec3::new(1.0, half / config.half_height, 1.0),
        };
        // The own body would block the first-person view.
        visibility.set_if_neq(visible(!player || *view != View::First));
    }
}
