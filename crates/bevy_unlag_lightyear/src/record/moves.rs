//! Moves and corrections of the players' pawns, for each movement model.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, NetId, TickSystems};
use bevy_unlag_prediction::{MoveLog, MoveQueue, ServerCorrection};
use bevy_unlag_record::{MoveRecorder, RecordedCorrection};
use bevy_unlag_weapons::WeaponSystems;

use super::{MatchRecording, RecordPlugin, is_recording};

/// Adds the recording of a model to a server that records.
pub(crate) fn record_model<M: MoveModel>(app: &mut App) {
    if !app.is_plugin_added::<RecordPlugin>() || !app.is_plugin_added::<crate::UnlagServerNetPlugin>() {
        return;
    }
    app.add_message::<ServerCorrection<M>>()
        .add_systems(
            FixedPostUpdate,
            (record_moves::<M>, record_corrections::<M>)
                .in_set(TickSystems)
                .after(WeaponSystems::Validate)
                .run_if(is_recording),
        )
        .add_systems(First, follow_pawns::<M>.after(super::recording::report_errors));
}

/// Last recorded move of a pawn.
#[derive(Component)]
struct LastRecordedMove<M: MoveModel>(MoveRecorder<M::Input>);

type Unlogged<M> = (With<MoveQueue<M>>, Without<MoveLog<M>>);

/// Logs the moves of pawns while a recording is in progress.
fn follow_pawns<M: MoveModel>(
    recording: Res<MatchRecording>,
    pawns: Query<Entity, Unlogged<M>>,
    logged: Query<Entity, With<MoveLog<M>>>,
    mut commands: Commands,
) {
    if recording.is_recording() {
        for pawn in &pawns {
            let last = LastRecordedMove::<M>(MoveRecorder::default());
            commands.entity(pawn).try_insert((MoveLog::<M>::default(), last));
        }
    } else {
        for pawn in &logged {
            commands.entity(pawn).try_remove::<(MoveLog<M>, LastRecordedMove<M>)>();
        }
    }
}

fn record_moves<M: MoveModel>(
    mut pawns: Query<(&NetId, &mut MoveLog<M>, &mut LastRecordedMove<M>)>,
    mut recording: ResMut<MatchRecording>,
) {
    let Some(recorder) = recording.recorder() else { return };
    for (id, mut log, mut last) in &mut pawns {
        for ran in log.0.drain(..) {
            last.0.record(recorder, *id, ran.tick, ran.input, ran.is_substituted);
        }
    }
}

fn record_corrections<M: MoveModel>(
    mut corrections: MessageReader<ServerCorrection<M>>,
    names: Query<&NetId>,
    mut recording: ResMut<MatchRecording>,
) {
    let Some(recorder) = recording.recorder() else { return };
    for found in corrections.read() {
        if let Ok(pawn) = names.get(found.entity) {
            recorder.correction(&RecordedCorrection {
                pawn: *pawn,
                own: found.tick,
                cause: found.cause as u8,
                error: found.error,
            });
        }
    }
}
