//! Film of a window: numbered pictures at a fixed rate of the game's time.

use std::path::PathBuf;

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk},
};

/// Pictures per second of the game.
const RATE: f64 = 15.0;

/// Film that a window takes.
#[derive(Resource, Debug)]
struct Film {
    folder: PathBuf,
    /// Number of pictures, and of those that were begun and that are there.
    count: u32,
    begun: u32,
    taken: u32,
}

/// Takes pictures of the window until `seconds` have passed, then exits. Where frames are too rare for the rate, some
/// pictures are later than they should be; slow motion helps.
pub(super) fn add(app: &mut App, folder: PathBuf, seconds: f32) {
    if let Err(error) = std::fs::create_dir_all(&folder) {
        error!("--film {}: {error}", folder.display());
    }
    let count = (f64::from(seconds) * RATE).clamp(1.0, 9_999.0) as u32;
    app.insert_resource(Film { folder, count, begun: 0, taken: 0 }).add_systems(Update, take_pictures);
}

fn take_pictures(
    time: Res<Time<Real>>,
    mut film: ResMut<Film>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    if film.taken == film.count {
        exit.write(AppExit::Success);
    } else if film.begun < film.count && time.elapsed_secs_f64() * RATE >= f64::from(film.begun) {
        film.begun += 1;
        let file = film.folder.join(format!("{:04}.png", film.begun));
        commands
            .spawn(Screenshot::primary_window())
            .observe(save_to_disk(file))
            .observe(|_: On<ScreenshotCaptured>, mut film: ResMut<Film>| film.taken += 1);
    }
}
