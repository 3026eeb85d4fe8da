//! World-space labels of the stations.

use bevy::{prelude::*, ui::UiSystems};
use unlag_examples::screen::{
    scene::visible,
    ui::{SHADE, TEXT, label, placed, shaded},
};

use crate::{
    camera::{CameraSystems, View},
    course::Course,
    tour::Tour,
};

/// Distance within which a label shows the name of its station, in metres.
const NEAR: f32 = 11.0;
/// Distance at which labels start to fade, and the length of the fade, in metres.
const FADE: (f32, f32) = (24.0, 12.0);
/// Z-index of labels that show only a number.
const FAR_LAYER: i32 = -2;
/// Text colour of a station that has passed.
const PASSED: Color = Color::srgb(0.55, 0.95, 0.62);
/// Text colour of a station that has failed.
const FAILED: Color = Color::srgb(1.0, 0.52, 0.48);

/// Shows a label above every station.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn)
        .add_systems(PostUpdate, place.after(CameraSystems).before(UiSystems::Prepare));
}

/// Label of a station.
#[derive(Component)]
struct WorldLabel {
    station: usize,
    /// Entity of the text.
    text: Entity,
    /// Whether it shows the name besides the number.
    wordy: bool,
}

fn spawn(course: Res<Course>, mut commands: Commands) {
    for (station, _) in course.0.iter().enumerate() {
        let text = commands.spawn(label((station + 1).to_string(), 15.0, TEXT)).id();
        commands
            .spawn((
                WorldLabel { station, text, wordy: false },
                shaded(Node { left: px(0), top: px(0), ..placed() }),
                // Always below the panel.
                GlobalZIndex(FAR_LAYER),
                Visibility::Hidden,
            ))
            .add_child(text);
    }
}

fn place(
    course: Res<Course>,
    tour: Res<Tour>,
    view: Res<View>,
    cameras: Query<(&Camera, &Transform), With<Camera3d>>,
    mut labels: Query<(
        &mut WorldLabel,
        &mut UiTransform,
        &mut Visibility,
        &mut BackgroundColor,
        &mut GlobalZIndex,
        &ComputedNode,
    )>,
    mut texts: Query<(&mut Text, &mut TextColor)>,
) {
    let Ok((camera, eye)) = cameras.single() else { return };
    for (mut shown, mut transform, mut visibility, mut shade, mut layer, node) in &mut labels {
        let Some(station) = course.0.get(shown.station) else { continue };
        let at = station.place(station.label);
        let far = eye.translation.distance(at);
        let over = *view == View::Overview;
        let alpha = if over { 1.0 } else { 1.0 - ((far - FADE.0) / FADE.1).clamp(0.0, 1.0) };
        // In eighths, so that walking does not update every label in every frame.
        let alpha = (alpha * 8.0).round() / 8.0;
        let spot = camera.world_to_viewport(&GlobalTransform::from(*eye), at).ok().filter(|_| alpha > 0.0);
        visibility.set_if_neq(visible(spot.is_some()));
        let Some(spot) = spot else { continue };

        let size = node.size * node.inverse_scale_factor;
        let corner = (spot - size * Vec2::new(0.5, 1.0)).round();
        transform.set_if_neq(UiTransform::from_translation(Val2::px(corner.x, corner.y)));
        shade.set_if_neq(BackgroundColor(SHADE.with_alpha(SHADE.alpha() * alpha)));
        let Ok((mut text, mut colour)) = texts.get_mut(shown.text) else { continue };
        let now = match tour.verdicts.get(shown.station).and_then(Option::as_ref) {
            Some(Ok(())) => PASSED,
            Some(Err(_)) => FAILED,
            None => TEXT,
        };
        colour.set_if_neq(TextColor(now.with_alpha(alpha)));
        let wordy = !over && far < NEAR;
        if wordy != shown.wordy {
            shown.wordy = wordy;
            // Names are drawn above numbers.
            layer.0 = if wordy { FAR_LAYER + 1 } else { FAR_LAYER };
            let number = shown.station + 1;
            let words = if wordy { format!("{number}  {}", station.name) } else { number.to_string() };
            text.set_if_neq(Text(words));
        }
    }
}
