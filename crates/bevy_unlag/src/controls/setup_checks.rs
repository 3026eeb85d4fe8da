//! Setup checks for controls that move nothing.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{LocalControl, MoveInput, PawnModel, SetupDiagnostics, SetupIssue};
use bevy_unlag_movement::{CapsuleInput, InputAccumulator};
use leafwing_input_manager::prelude::*;

use super::{ControlsEnabled, PlayerAction, PlayerControls};
use crate::character::Character;

/// Seconds without an effect after which the checks report.
const PATIENCE: f32 = 2.0;

/// Parts of the app that the controls of its player need.
#[derive(SystemParam)]
pub(super) struct ControlSetup<'w, 's> {
    plugin: Option<Res<'w, ControlsEnabled>>,
    players: Query<'w, 's, Has<InputMap<PlayerAction>>, With<PlayerControls>>,
}

impl ControlSetup<'_, '_> {
    /// Returns the missing piece, with what to do about it.
    fn missing(&self) -> Option<(SetupIssue, &'static str)> {
        let Some(plugin) = &self.plugin else {
            return Some((
                SetupIssue::NoControlsPlugin,
                "the app has no PlayerControlsPlugin: add PlayerControlsPlugin::reading(), or write MoveInput in \
                 MoveSystems::Sample",
            ));
        };
        if !plugin.reads_actions {
            // With bindings, the app expects that keys steer.
            self.players.iter().any(|is_bound| is_bound).then_some((
                SetupIssue::NoControlsPlugin,
                "an entity has bindings, and PlayerControlsPlugin::default() reads no keys: add \
                 PlayerControlsPlugin::reading() instead, or remove the bindings",
            ))
        } else if self.players.is_empty() {
            Some((
                SetupIssue::NoPlayerControls,
                "no entity has PlayerControls: spawn PlayerControls and PlayerControls::default_bindings()",
            ))
        } else if !self.players.iter().any(|is_bound| is_bound) {
            Some((
                SetupIssue::NoInputMap,
                "the entity with PlayerControls has no InputMap<PlayerAction>: insert \
                 PlayerControls::default_bindings(), or bindings of the game",
            ))
        } else {
            None
        }
    }
}

/// Reports an own pawn that nothing steers because a part of the controls is missing. A game that has written an
/// input for it, or accumulated one, steers it in its own way.
pub(super) fn report_missing_controls<C: Character>(
    (time, setup): (Res<Time>, ControlSetup),
    pawns: Query<(Ref<MoveInput<C>>, Option<&InputAccumulator>, &C::State), With<LocalControl>>,
    (mut still_for, mut is_steered): (Local<f32>, Local<bool>),
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let Some((issue, sentence)) = setup.missing().filter(|_| !*is_steered) else {
        *still_for = 0.0;
        return;
    };
    for (input, gather, state) in &pawns {
        // With the plugin it is written in every tick, even if there is nothing to write.
        let is_written = setup.plugin.is_none() && input.is_changed() && !input.is_added();
        let is_scripted = gather.is_some_and(|gather| gather.current() != CapsuleInput::default());
        *is_steered |= is_written || is_scripted || !C::is_idle(&input.0);
        if C::snapshot(state, default()).alive {
            *still_for += time.delta_secs();
        }
    }
    if *still_for > PATIENCE && !*is_steered {
        diagnostics.report(issue, || {
            format!("nothing steers the own pawn of {}: {sentence}", PawnModel::of::<C>().short_name())
        });
    }
}

/// Reports an own pawn whose input stays neutral while its player presses keys.
pub(super) fn report_unused_controls<C: Character>(
    time: Res<Time>,
    pawns: Query<(&InputAccumulator, &MoveInput<C>, &C::State), With<LocalControl>>,
    mut unused_for: Local<f32>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    for (gather, input, state) in &pawns {
        let pressed = gather.current();
        let neutral = CapsuleInput { yaw: pressed.yaw, pitch: pressed.pitch, ..default() };
        if !C::is_idle(&input.0) {
            *unused_for = 0.0;
        } else if pressed != neutral && C::snapshot(state, default()).alive {
            *unused_for += time.delta_secs();
        }
        if *unused_for > PATIENCE {
            // Once for each model.
            *unused_for = f32::NEG_INFINITY;
            diagnostics.report_each(SetupIssue::UnusedControls, || {
                let model = PawnModel::of::<C>().short_name();
                format!(
                    "the player presses keys, and the input of the own pawn of {model} stays neutral: convert the \
                     controls in Character::apply_controls, or write MoveInput in MoveSystems::Sample"
                )
            });
        }
    }
}
