//! Setup check for keys that move nothing.

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveInput, SetupDiagnostics, SetupIssue};
use bevy_unlag_movement::{CapsuleInput, InputAccumulator};

use crate::character::Character;

/// Seconds of pressed keys without an effect after which the check reports.
const PATIENCE: f32 = 2.0;

/// Reports an own pawn whose input stays neutral while its player presses keys.
pub(super) fn report_unused_controls<C: Character>(
    time: Res<Time>,
    pawns: Query<(&InputAccumulator, &MoveInput<C>, &C::State), With<LocalControl>>,
    mut unused_for: Local<f32>,
    mut findings: ResMut<SetupDiagnostics>,
) {
    for (gather, input, state) in &pawns {
        let pressed = gather.current();
        let neutral = CapsuleInput { yaw: pressed.yaw, pitch: pressed.pitch, ..default() };
        if input.0 != C::Input::default() {
            *unused_for = 0.0;
        } else if pressed != neutral && C::snapshot(state, default()).alive {
            *unused_for += time.delta_secs();
        }
        if *unused_for > PATIENCE {
            findings.report(SetupIssue::UnusedControls, || {
                let model = core::any::type_name::<C>();
                format!(
                    "the player presses keys, and the input of the own pawn of {model} stays neutral: convert the \
                     controls in Character::apply_controls, or write MoveInput in MoveSystems::Sample"
                )
            });
        }
    }
}
