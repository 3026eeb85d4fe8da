//! Orbit camera around the humanoid.

use bevy::{
    core_pipeline::tonemapping::Tonemapping,
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    picking::hover::Hovered,
    prelude::*,
};
use unlag_examples::screen::ui::PanelRoot;

/// Mouse sensitivity, in radians per pixel.
const SENSITIVITY: f32 = 0.006;

/// Spawns and turns the camera.
pub struct CameraPlugin {
    /// Whether to disable anti-aliasing.
    pub plain: bool,
}

impl Plugin for CameraPlugin {
    fn build(&self, app: &mut App) {
        let plain = self.plain;
        app.add_systems(Startup, move |commands: Commands| spawn(commands, plain)).add_systems(Update, turn);
    }
}

#[derive(Component)]
struct Orbit {
    yaw: f32,
    pitch: f32,
    arm: f32,
}

impl Orbit {
    fn place(&self) -> Transform {
        let rotation = Quat::from_euler(EulerRot::YXZ, self.yaw, self.pitch, 0.0);
        let middle = Vec3::Y * 0.92;
        Transform::from_translation(middle + rotation * Vec3::Z * self.arm).with_rotation(rotation)
    }
}

fn spawn(mut commands: Commands, plain: bool) {
    // From the front and the side: the humanoid faces -Z.
    let orbit = Orbit { yaw: core::f32::consts::PI - 0.6, pitch: -0.15, arm: 3.3 };
    let place = orbit.place();
    commands.spawn((
        orbit,
        Camera3d::default(),
        if plain { Msaa::Off } else { Msaa::default() },
        // The other tone mappings need the `tonemapping_luts` feature.
        Tonemapping::AcesFitted,
        Projection::from(PerspectiveProjection { fov: 45.0_f32.to_radians(), near: 0.05, ..default() }),
        place,
    ));
}

fn turn(
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    panels: Query<&Hovered, With<PanelRoot>>,
    mut cameras: Query<(&mut Orbit, &mut Transform)>,
) {
    let turned = buttons.any_pressed([MouseButton::Right, MouseButton::Middle]);
    let over_panel = panels.iter().any(Hovered::get);
    for (mut orbit, mut transform) in &mut cameras {
        if turned {
            orbit.yaw -= motion.delta.x * SENSITIVITY;
            orbit.pitch = (orbit.pitch - motion.delta.y * SENSITIVITY).clamp(-1.5, 1.5);
        }
        if !over_panel {
            orbit.arm = (orbit.arm * (1.0 - scroll.delta.y.clamp(-3.0, 3.0) * 0.1)).clamp(0.6, 12.0);
        }
        *transform = orbit.place();
    }
}
