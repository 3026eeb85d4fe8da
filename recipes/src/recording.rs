//! Messages that an app has written, for assertions.

use bevy::prelude::*;

/// All messages of one type since the start.
#[derive(Resource)]
struct Recording<M: Message>(Vec<M>);

/// Records all messages of a type. Add it as a plugin: `record::<Damage>`.
pub fn record<M: Message + Clone>(app: &mut App) {
    app.add_message::<M>().insert_resource(Recording::<M>(Vec::new())).add_systems(
        Last,
        |mut messages: MessageReader<M>, mut recording: ResMut<Recording<M>>| {
            recording.0.extend(messages.read().cloned());
        },
    );
}

/// Returns the recorded messages of a type, oldest first.
///
/// # Panics
/// The app does not [`record`] them.
#[must_use]
pub fn recorded<M: Message>(app: &App) -> &[M] {
    &app.world().resource::<Recording<M>>().0
}
