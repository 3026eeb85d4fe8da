//! Diagnostics of the setup of an app with prediction.

use bevy::{prelude::*, utils::prelude::ShortName};
use bevy_unlag_core::{MoveModel, PawnModel, SetupDiagnostics, SetupIssue, TransformWatch};

use crate::{
    mailbox::{MAX_MAILBOX_MESSAGES, OutgoingMoves},
    saved_moves::SavedMoves,
};

/// Seconds within which any transport would have carried a message.
const SILENT_SECONDS: f32 = 5.0;

/// Reports pawns that something else moves, and moves that no transport carries. Runs before pawns are
/// placed.
pub(crate) fn check_setup<M: MoveModel>(
    mut pawns: Query<(Entity, &Transform, &mut TransformWatch), With<M::State>>,
    own: Query<(&SavedMoves<M>, &OutgoingMoves)>,
    time: Res<Time>,
    mut silent_for: Local<f32>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    for (pawn, transform, mut left) in &mut pawns {
        if left.is_contested(transform, false) {
            diagnostics.report(SetupIssue::ContestedPawn, || {
                format!(
                    "something else moves the Transform of pawn {pawn}, which follows its state: change the \
                     state, keep dynamic bodies and interpolation plugins off the pawn, and do not replicate \
                     its Transform"
                )
            });
        }
    }
    // Nothing is sent before the first acknowledgement; after it the mailbox is emptied every frame.
    let is_silent =
        own.iter().any(|(saved, mailbox)| saved.epoch.is_none() || mailbox.0.len() >= MAX_MAILBOX_MESSAGES);
    *silent_for = if is_silent { *silent_for + time.delta_secs() } else { 0.0 };
    if *silent_for >= SILENT_SECONDS {
        diagnostics.report(SetupIssue::MovesNotTransported, || {
            "no transport carries the moves of the own pawn to the server and the acknowledgements back: add \
             UnlagClientNetPlugin, or empty OutgoingMoves and fill IncomingMoveAcks yourself"
                .to_owned()
        });
    }
}

/// Reports a model that lacks its configuration after the app's startup: no move of its pawns runs.
pub(crate) fn report_missing_config<M: MoveModel>(mut diagnostics: ResMut<SetupDiagnostics>) {
    diagnostics.report_each(SetupIssue::MissingConfig, || {
        let (model, config) = (PawnModel::of::<M>().short_name(), ShortName::of::<M::Config>());
        format!(
            "pawns of {model} do not move without the resource {config}: insert it on both sides, before the \
             app starts"
        )
    });
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy::time::TimeUpdateStrategy;
    use bevy_unlag_core::{MoveInput, Tick};

    use super::*;
    use crate::{
        pawn::AutonomousPawn,
        plugin::PredictionPlugin,
        testing::{Body, Slider, Tuning, Way},
    };

    /// Returns the issues reported in 1,200 ticks of a walking own pawn, with `every_frame` called each
    /// frame.
    fn found(mut every_frame: impl FnMut(&mut World, Entity)) -> Vec<SetupIssue> {
        let mut app = App::new();
        let tick = Duration::from_nanos(15_625_000);
        app.add_plugins((MinimalPlugins, PredictionPlugin::<Slider>::default()))
            .insert_resource(Tuning)
            .insert_resource(Time::<Fixed>::from_duration(tick))
            .insert_resource(TimeUpdateStrategy::ManualDuration(tick));
        let body = (AutonomousPawn::<Slider>::default(), Body { x: 0.0 }, Transform::default());
        let pawn = app.world_mut().spawn(body).insert(MoveInput::<Slider>(Way(1))).id();
        for _ in 0..1_200 {
            app.update();
            every_frame(app.world_mut(), pawn);
        }
        app.world().resource::<SetupDiagnostics>().all().iter().map(|(issue, _)| *issue).collect()
    }

    fn send(world: &mut World, pawn: Entity) {
        world.get_mut::<OutgoingMoves>(pawn).expect("the pawn has a mailbox").0.clear();
    }

    fn answer(world: &mut World, pawn: Entity) {
        world.get_mut::<SavedMoves<Slider>>(pawn).expect("the pawn has saved moves").epoch =
            Some((0, Tick(0)));
    }

    #[test]
    fn pawn_without_a_transport_in_either_direction_is_reported() {
        assert_eq!(found(|_, _| ()), [SetupIssue::MovesNotTransported], "neither direction");
        assert_eq!(found(send), [SetupIssue::MovesNotTransported], "no acknowledgements");
        assert_eq!(found(answer), [SetupIssue::MovesNotTransported], "no moves");
        let carry = |world: &mut World, pawn| {
            send(world, pawn);
            answer(world, pawn);
        };
        assert_eq!(found(carry), []);
    }

    #[test]
    fn model_without_its_configuration_is_reported_at_the_start() {
        for missing in [true, false] {
            let mut app = App::new();
            app.set_error_handler(bevy::ecs::error::ignore)
                .add_plugins((MinimalPlugins, PredictionPlugin::<Slider>::default()))
                .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(20)));
            if !missing {
                // A startup system is early enough.
                app.add_systems(Startup, |mut commands: Commands| commands.insert_resource(Tuning));
            }
            app.update();
            let has = app.world().resource::<SetupDiagnostics>().has(SetupIssue::MissingConfig);
            assert_eq!(has, missing);
        }
    }

    #[test]
    fn pawn_whose_transform_something_else_moves_is_reported() {
        let fall = |world: &mut World, pawn: Entity| {
            world.get_mut::<Transform>(pawn).expect("the pawn has a transform").translation.y -= 0.01;
        };
        let both = |world: &mut World, pawn| {
            send(world, pawn);
            answer(world, pawn);
            fall(world, pawn);
        };
        assert_eq!(found(both), [SetupIssue::ContestedPawn]);
    }
}
