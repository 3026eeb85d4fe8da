//! Chapter 5: a bad link, and what it does.

use bevy::prelude::*;
use bevy_unlag::{
    core::SetupDiagnostics,
    link_conditioner::LinkPreset,
    prediction::{CorrectionView, CorrectionViewPlugin},
    prelude::*,
    rewind::RewindView,
    weapons::ShotViewPlugin,
};

const PRESETS: [&str; 4] = ["Perfect", "Good broadband", "Average (UE)", "Bad (UE)"];

/// Index of the preset.
#[derive(Resource, Default)]
struct LinkQuality(usize);

/// On a client: L changes the link.
pub fn client(app: &mut App) {
    app.init_resource::<LinkQuality>().add_systems(Update, change_link);
}

fn change_link(
    keys: Res<ButtonInput<KeyCode>>,
    mut quality: ResMut<LinkQuality>,
    mut links: Query<&mut NetSim>,
) -> Result {
    if keys.just_pressed(KeyCode::KeyL) {
        quality.0 = (quality.0 + 1) % PRESETS.len();
        let preset = LinkPreset::find(PRESETS[quality.0])?;
        links.iter_mut().for_each(|mut link| link.apply(preset));
    }
    Ok(())
}

/// With a window: figures of the link, and debug views.
pub fn window(app: &mut App) {
    app.add_plugins((CorrectionViewPlugin::<Soldier>::default(), ShotViewPlugin::<CapsuleModel>::default()))
        .add_systems(Startup, |mut commands: Commands| {
            let place = Node { position_type: PositionType::Absolute, top: px(60), left: px(8), ..default() };
            commands.spawn((Text::default(), place, LinkLine));
        })
        .add_systems(Update, (show_link, change_views));
}

#[derive(Component)]
struct LinkLine;

fn show_link(
    quality: Res<LinkQuality>,
    stats: Single<&PredictionStats, With<LocalControl>>,
    setup: Res<SetupDiagnostics>,
    mut text: Single<&mut Text, With<LinkLine>>,
) {
    let (name, round_trip) = (PRESETS[quality.0], stats.rtt.as_millis());
    let (corrections, largest) = (stats.corrections, stats.largest_correction);
    let issues = setup.all().len();
    text.0 = format!(
        "L: link {name}, round trip {round_trip} ms, {corrections} corrections, largest {largest:.2} m\n\
         V: debug views. {issues} setup issues"
    );
}

/// V draws corrections, and targets as they were on the screen when a shot was fired.
fn change_views(
    keys: Res<ButtonInput<KeyCode>>,
    mut corrections: ResMut<CorrectionView>,
    mut shots: ResMut<RewindView>,
) {
    if keys.just_pressed(KeyCode::KeyV) {
        corrections.enabled = !corrections.enabled;
        shots.enabled = corrections.enabled;
    }
}
