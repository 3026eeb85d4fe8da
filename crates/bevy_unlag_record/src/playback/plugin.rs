//! Plugin that lets a playback run.

use core::time::Duration;

use bevy::{platform::time::Instant, prelude::*, transform::TransformSystems};
use bevy_unlag_core::{Tick, VisualSystems};

use super::{
    Playback,
    camera::{PlaybackCamera, place_camera},
    look::PlaybackLook,
    pawns::{PlaybackPawn, pose_pawns, remove_pawns},
};
use crate::entry::Entry;

/// Time in each frame for reading what happens in the match.
const INDEX_TIME: Duration = Duration::from_millis(3);

/// Shows a [`Playback`]: spawns and poses its pawns and places its camera, all in [`PostUpdate`]. It needs no network
/// and no other plugin of the suite.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaybackPlugin;

/// System sets of a playback, in [`PostUpdate`], in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlaybackSystems {
    /// Lets time pass, and writes [`PlaybackEvent`]s.
    Advance,
    /// Spawns, poses and despawns the pawns. Part of [`VisualSystems::Draw`].
    Pose,
    /// Places the [`PlaybackCamera`].
    PlaceCamera,
}

/// Something that happened in the match while time passed: a shot, a verdict, a correction, a mark, or bytes of another
/// part of the suite or of the game. None is written after a jump.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct PlaybackEvent {
    /// Tick of the server.
    pub tick: Tick,
    /// The recorded event.
    pub entry: Entry,
}

impl Plugin for PlaybackPlugin {
    fn build(&self, app: &mut App) {
        use PlaybackSystems::{Advance, PlaceCamera, Pose};

        app.register_type::<PlaybackPawn>()
            .register_type::<PlaybackCamera>()
            .init_resource::<PlaybackLook>()
            .add_message::<PlaybackEvent>()
            .configure_sets(
                PostUpdate,
                (Advance, Pose, PlaceCamera).chain().before(TransformSystems::Propagate),
            )
            .configure_sets(PostUpdate, Pose.in_set(VisualSystems::Draw))
            .add_systems(
                PostUpdate,
                (
                    (advance, read_index).chain().in_set(Advance),
                    pose_pawns.in_set(Pose),
                    place_camera.in_set(PlaceCamera),
                )
                    .run_if(resource_exists::<Playback>),
            )
            .add_systems(PostUpdate, remove_pawns.in_set(Pose).run_if(resource_removed::<Playback>));
    }
}

fn advance(time: Res<Time<Real>>, mut playback: ResMut<Playback>, mut events: MessageWriter<PlaybackEvent>) {
    playback.advance(time.delta_secs_f64());
    for (tick, entry) in playback.take_happened() {
        events.write(PlaybackEvent { tick, entry });
    }
}

#[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
fn read_index(mut playback: ResMut<Playback>) {
    let until = Instant::now() + INDEX_TIME;
    while !playback.is_indexed() {
        playback.index_next();
        if Instant::now() >= until {
            break;
        }
    }
}
