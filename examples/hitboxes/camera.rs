//! Orbit camera around the humanoid.

use bevy::{
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    picking::hover::Hovered,
    prelude::*,
};
use unlag_examples::screen::{WindowArgs, cursor::is_over_panel, scene::camera, ui::PanelRoot};

/// Mouse sensitivity, in radians per pixel.
const SENSITIVITY: f32 = 0.006;

/// Orbit of the camera.
#[derive(Component)]
pub struct Orbit {
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

/// Spawns the camera.
pub fn spawn(window: Res<WindowArgs>, mut commands: Commands) {
    // From the front and the side: the humanoid faces -Z.
    let orbit = Orbit { yaw: core::f32::consts::PI - 0.6, pitch: -0.15, arm: 3.3 };
    commands.spawn((camera(window.plain, 45.0, orbit.place()), orbit));
}

/// Turns the camera, and moves it closer and away while the mouse is beside the panels.
pub fn turn(
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    panels: Query<&Hovered, With<PanelRoot>>,
    mut cameras: Query<(&mut Orbit, &mut Transform)>,
) {
    let turned = buttons.any_pressed([MouseButton::Right, MouseButton::Middle]);
    let zoom = if is_over_panel(panels) { 0.0 } else { scroll.delta.y };
    for (mut orbit, mut transform) in &mut cameras {
        if turned {
            orbit.yaw -= motion.delta.x * SENSITIVITY;
            orbit.pitch = (orbit.pitch - motion.delta.y * SENSITIVITY).clamp(-1.5, 1.5);
        }
        orbit.arm = (orbit.arm * (1.0 - zoom.clamp(-3.0, 3.0) * 0.1)).clamp(0.6, 12.0);
        *transform = orbit.place();
    }
}
