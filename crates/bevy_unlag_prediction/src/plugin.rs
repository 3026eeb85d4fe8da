//! Plugins and system sets.

use bevy::prelude::*;
use bevy_unlag_core::{
    LastReceivedSnapshot, MoveModel, MoveSystems, MovesAcknowledged, OwnMoveDelay, PawnSystems,
    PawnSystemsPlugin, SetupDiagnostics, StepEvent, TickPlugin, TickSystems, VisualPlugin, VisualSystems,
    require_plugin,
};
use core::marker::PhantomData;

use crate::{
    client,
    clock_steering::ClockSteering,
    config::PredictionConfig,
    config_hash::{self, CachedConfigHash},
    control_switch::{self, ControlEnd, LastSwitch},
    control_transfer::{self, ControlModels, PendingTransfers},
    debug::PredictionDebug,
    drawing, host,
    outcome::{Correction, MoveOutcome, ServerCorrection},
    pawn, published_state, reconciliation, reflection, reset,
    send_rate::SendThrottle,
    server, setup_diagnostics,
    time_discrepancy::TimeDiscrepancyDetected,
};

/// Adds prediction of `M` on clients and the authority over it on servers. Each pawn's
/// [`NetRole`](bevy_unlag_core::NetRole) decides which of the two applies.
pub struct PredictionPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(PredictionPlugin<M>);

impl<M: MoveModel> Plugin for PredictionPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, TickPlugin);
        require_plugin(app, VisualPlugin);
        require_plugin(app, ControlPlugin);
        require_plugin(app, PawnSystemsPlugin::<M>::default());
        let of_model = PawnSystems::of::<M>();
        app.world_mut().resource_mut::<ControlModels>().add::<M>();
        reflection::register_types::<M>(app);
        app.init_resource::<PredictionConfig>()
            .init_resource::<PredictionDebug>()
            .init_resource::<SendThrottle>()
            .init_resource::<LastReceivedSnapshot>()
            .init_resource::<OwnMoveDelay>()
            .init_resource::<ClockSteering>()
            .init_resource::<CachedConfigHash<M>>()
            .init_resource::<SetupDiagnostics>()
            .add_message::<StepEvent<M>>()
            .add_message::<MovesAcknowledged>()
            .add_message::<MoveOutcome<M>>()
            .add_message::<Correction<M>>()
            .add_message::<ServerCorrection<M>>()
            .add_message::<TimeDiscrepancyDetected>()
            .add_observer(control_switch::release::<M>)
            .add_observer(pawn::publish_initial_state::<M>)
            .add_observer(pawn::place::<M>)
            .add_observer(reset::reset_connection::<M>)
            .add_observer(reset::reset_match::<M>)
            .add_systems(
                FixedUpdate,
                (
                    config_hash::hash_config::<M>,
                    control_switch::take_over::<M>.after(ControlSwitch),
                    reconciliation::reconcile::<M>,
                )
                    .chain()
                    .in_set(MoveSystems::Reconcile),
            )
            .add_systems(
                FixedUpdate,
                (
                    (
                        client::step_own_pawn::<M>.in_set(PawnSystems::Own),
                        control_switch::resend_last_moves::<M>,
                        host::step_authority_pawns::<M>.in_set(of_model),
                    ),
                    // It measures the time since the last tick.
                    server::receive_moves::<M>,
                    (server::run_moves::<M>, server::send_acks::<M>).chain().in_set(of_model),
                    setup_diagnostics::check_setup::<M>,
                    host::sync_transforms::<M>.in_set(of_model),
                )
                    .chain()
                    .in_set(MoveSystems::Step),
            )
            .add_systems(
                PostStartup,
                setup_diagnostics::report_missing_config::<M>.run_if(not(resource_exists::<M::Config>)),
            )
            .add_systems(
                FixedPostUpdate,
                published_state::publish_state::<M>.in_set(MoveSystems::Publish).in_set(of_model),
            )
            .add_systems(
                PostUpdate,
                drawing::draw_own_pawn::<M>.in_set(VisualSystems::Draw).in_set(PawnSystems::Own),
            );
    }
}

/// The switch of control to no pawn, before that to another one.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ControlSwitch;

/// The part of [`PredictionPlugin`] that no model is needed for: transfers of control.
struct ControlPlugin;

impl Plugin for ControlPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ControlModels>()
            .init_resource::<PendingTransfers>()
            .init_resource::<LastSwitch>()
            .init_resource::<ControlEnd>()
            .add_observer(control_switch::reset_switches)
            .add_systems(
                FixedUpdate,
                control_switch::end_control.in_set(ControlSwitch).in_set(MoveSystems::Reconcile),
            )
            .add_systems(
                FixedLast,
                control_transfer::complete_transfers
                    .in_set(TickSystems)
                    .run_if(|pending: Res<PendingTransfers>| !pending.is_empty()),
            );
    }
}
