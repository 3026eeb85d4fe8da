//! The key that enters and leaves karts.

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{
    karts::{REACH, UseVehicle},
    screen::{
        ShownIf,
        ui::{TEXT, banner, label},
    },
    visuals::kart_body::KartBodies,
};

/// Sends the wish to enter or leave a kart.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_hint).add_systems(Update, use_vehicle);
}

fn use_vehicle(
    keys: Res<ButtonInput<KeyCode>>,
    controls: Query<&PlayerControls>,
    mut server: Outbox<UseVehicle>,
) {
    if keys.just_pressed(KeyCode::KeyE) && controls.iter().any(|controls| controls.enabled) {
        server.send(&UseVehicle);
    }
}

/// Spawns a line that tells that a kart can be entered.
fn spawn_hint(mut commands: Commands) {
    let hint = (label("E - enter or leave the kart", 18.0, TEXT), Pickable::IGNORE);
    let shown = ShownIf::new(&mut commands, can_enter);
    commands.spawn((banner(56.0), shown, children![hint]));
}

fn can_enter(
    own: Query<(&DrawnPose, Has<KartBodies>), With<LocalControl>>,
    karts: Query<&DrawnPose, (With<KartBodies>, Without<LocalControl>)>,
) -> bool {
    own.iter().any(|(own, drives)| {
        let near = |kart: &DrawnPose| kart.pose.position.distance(own.pose.position) < REACH;
        !drives && karts.iter().any(near)
    })
}
