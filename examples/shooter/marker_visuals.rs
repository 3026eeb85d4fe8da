//! Map markers, placed with G or the middle mouse button.

use bevy::{light::NotShadowCaster, prelude::*, time::common_conditions::on_timer};
use bevy_unlag::{prelude::*, rewind::WorldTrace};
use core::time::Duration;
use unlag_examples::{
    markers::{MAX_MARKER_DISTANCE, MarkerPlaced, PlaceMarker},
    scripted_player::ScriptedPlayer,
};

use crate::view::PlayerCamera;

/// Lifetime of a marker, in seconds.
const LIFE: f32 = 4.0;
/// Height of a marker, in metres.
const HEIGHT: f32 = 2.2;
/// Interval at which a scripted player places markers.
const SCRIPTED: Duration = Duration::from_secs(3);

/// Places markers, and shows those of all players.
pub fn plugin(app: &mut App) {
    let scripted = resource_exists::<ScriptedPlayer>.and_then(on_timer(SCRIPTED));
    app.add_systems(Startup, create_assets)
        .add_systems(Update, (point.run_if(wants_to.or_else(scripted)), show, remove_expired).chain());
}

#[derive(Resource)]
struct MarkerAssets {
    bar: Handle<Mesh>,
    own: Handle<StandardMaterial>,
    others: Handle<StandardMaterial>,
}

/// A marker: its player, and when it disappears.
#[derive(Component)]
struct Mark {
    player: Entity,
    until: f32,
}

fn create_assets(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut glow = |colour| {
        materials.add(StandardMaterial { base_color: colour, unlit: true, ..StandardMaterial::default() })
    };
    let (own, others) = (glow(Color::srgb(0.25, 0.85, 1.0)), glow(Color::srgb(1.0, 0.75, 0.15)));
    commands.insert_resource(MarkerAssets { bar: meshes.add(Cone::new(0.16, HEIGHT)), own, others });
}

fn wants_to(
    keys: Res<ButtonInput<KeyCode>>,
    mouse: Res<ButtonInput<MouseButton>>,
    controls: Query<&PlayerControls>,
) -> bool {
    let plays = controls.iter().any(|controls| controls.enabled);
    plays && (keys.just_pressed(KeyCode::KeyG) || mouse.just_pressed(MouseButton::Middle))
}

fn point(
    own: Query<Entity, With<LocalControl>>,
    eyes: Query<&Transform, With<PlayerCamera>>,
    world: WorldTrace,
    mut server: Outbox<PlaceMarker>,
) {
    let (Ok(own), Ok(eye)) = (own.single(), eyes.single()) else { return };
    let look = eye.forward();
    if let Some(way) = world.cast(eye.translation, *look, MAX_MARKER_DISTANCE * 0.9) {
        server.send_about(own, &PlaceMarker(eye.translation + look * way));
    }
}

/// Shows the received markers. Each player has one marker at a time.
fn show(
    time: Res<Time>,
    mut pointed: MessageReader<Received<MarkerPlaced>>,
    own: Query<(), With<LocalControl>>,
    marks: Query<(Entity, &Mark)>,
    looks: Res<MarkerAssets>,
    mut commands: Commands,
) {
    for Received { about, message: MarkerPlaced(place), .. } in pointed.read() {
        let Some(player) = *about else { continue };
        for (old, _) in marks.iter().filter(|(_, mark)| mark.player == player) {
            commands.entity(old).despawn();
        }
        let material = if own.contains(player) { &looks.own } else { &looks.others };
        commands.spawn((
            Mark { player, until: time.elapsed_secs() + LIFE },
            Mesh3d(looks.bar.clone()),
            MeshMaterial3d(material.clone()),
            // The cone stands on its tip.
            Transform::from_translation(*place + Vec3::Y * (HEIGHT / 2.0))
                .with_rotation(Quat::from_rotation_x(core::f32::consts::PI)),
            NotShadowCaster,
        ));
    }
}

fn remove_expired(time: Res<Time>, marks: Query<(Entity, &Mark)>, mut commands: Commands) {
    for (entity, _) in marks.iter().filter(|(_, mark)| time.elapsed_secs() > mark.until) {
        commands.entity(entity).despawn();
    }
}
