//! Client prediction with saved moves, server acknowledgements and replay.
//!
//! The owner's client simulates and saves its moves immediately. The server simulates the same moves and
//! acknowledges or corrects them, and the client replays its unacknowledged moves after a correction.
//!
//! Everything is generic over a [`MoveModel`]. The crate contains no networking: mailbox components
//! ([`OutgoingMoves`], [`IncomingMoves`], [`OutgoingAnswers`], [`IncomingAnswers`]) hold encoded messages,
//! to be carried by a transport, a lossy pipe of a test or a fuzzer.
//!
//! * On the owner's client, a pawn spawned with [`autonomous_pawn`] reads [`MoveInput`] once per tick,
//!   steps, stores a [`SavedMoves`] entry and sends it, together with older moves whose packets may be
//!   lost.
//! * On the server, a pawn spawned with [`authority_pawn`] runs each move once, in order and within a time
//!   budget, compares the result and sends an acknowledgement, with the whole state if the client differs.
//! * On the client, an acknowledgement removes saved moves. A correction sets the state, replays the moves
//!   after it and hides the difference with a [`VisualOffset`].

mod answer;
mod cause;
mod check;
mod client;
mod clock;
mod config;
mod debug;
mod diagnostics;
mod draw;
mod host;
mod lateness;
mod loss;
mod mailbox;
mod outcome;
#[cfg(any(feature = "gizmos", test))]
mod outlines;
mod packet;
mod predicted_value;
mod push;
mod queue;
mod reconcile;
mod redundancy;
mod reset;
mod saved_moves;
mod send_rate;
mod server;
mod setup_hash;
mod shown;
mod stats;
#[cfg(test)]
mod testing;
mod time_discrepancy;
#[cfg(feature = "gizmos")]
mod view;
mod watch;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnEye, DrawnPose, Findings, Heard, HeardTick, LeftAt, LocalControl, MoveInput, MoveModel, MoveSystems,
    Shown, StepEvent, Tick, TickPlugin, VisualOffset, VisualPlugin, VisualSystems,
};

pub use answer::{Answered, ClientAdjustment, MAX_PUSHES, ServerAnswer};
pub use cause::CorrectionCause;
pub use check::StateCheck;
pub use clock::ClockSteering;
pub use config::PredictionConfig;
pub use debug::PredictionDebug;
pub use diagnostics::PredictionDiagnosticsPlugin;
pub use loss::LossLevel;
pub use mailbox::{IncomingAnswers, IncomingMoves, MAX_MAILED, OutgoingAnswers, OutgoingMoves};
pub use outcome::{Correction, MoveOutcome, ServerCorrection};
#[cfg(feature = "gizmos")]
pub use outlines::CorrectionView;
pub use packet::{MAX_MOVES, MovePacket, MoveRun};
pub use predicted_value::{PredictedCount, PredictedValue};
pub use push::ScheduledPushes;
pub use queue::MoveQueue;
pub use saved_moves::{SavedMove, SavedMoves};
pub use send_rate::{Crowd, SendRate};
pub use setup_hash::ConfigHash;
pub use shown::Speculation;
pub use stats::{MoveTrace, PredictionStats};
pub use time_discrepancy::{TimeDiscrepancy, TimeDiscrepancyConfig, TimeDiscrepancyDetected};
#[cfg(feature = "gizmos")]
pub use view::{CorrectionGizmos, CorrectionViewPlugin};

/// Adds prediction of `M` on clients and the authority over it on servers. Each pawn's
/// [`NetRole`](bevy_unlag_core::NetRole) decides which of the two applies.
#[derive(Debug)]
pub struct PredictionPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for PredictionPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for PredictionPlugin<M> {
    fn build(&self, app: &mut App) {
        for_missing(app, TickPlugin);
        for_missing(app, VisualPlugin);
        app.init_resource::<PredictionConfig>()
            .init_resource::<PredictionDebug>()
            .init_resource::<Crowd>()
            .init_resource::<HeardTick>()
            .init_resource::<ClockSteering>()
            .init_resource::<ConfigHash<M>>()
            .init_resource::<Findings>()
            .add_message::<StepEvent<M>>()
            .add_message::<MoveOutcome<M>>()
            .add_message::<Correction<M>>()
            .add_message::<ServerCorrection<M>>()
            .add_message::<TimeDiscrepancyDetected>()
            .add_observer(reset::reset_connection::<M>)
            .add_observer(reset::reset_match::<M>)
            .add_systems(
                FixedUpdate,
                (setup_hash::hash_config::<M>, reconcile::take_answers::<M>)
                    .chain()
                    .in_set(MoveSystems::Answer),
            )
            .add_systems(
                FixedUpdate,
                (
                    (client::step_own::<M>, host::step_host::<M>),
                    (server::receive_moves::<M>, server::run_moves::<M>, server::answer::<M>).chain(),
                    watch::watch_roots::<M>,
                    host::place_roots::<M>,
                )
                    .chain()
                    .in_set(MoveSystems::Step),
            )
            .add_systems(FixedPostUpdate, shown::show::<M>.in_set(MoveSystems::Show))
            .add_systems(PostUpdate, draw::draw_own::<M>.in_set(VisualSystems::Draw));
    }
}

fn for_missing<P: Plugin>(app: &mut App, plugin: P) {
    if !app.is_plugin_added::<P>() {
        app.add_plugins(plugin);
    }
}

/// Returns the components of the pawn that this client's player controls. Its initial state arrives with
/// the server's first acknowledgement; until then it does not move. Unreal's `ROLE_AutonomousProxy`.
#[doc(alias = "ROLE_AutonomousProxy")]
#[must_use]
pub fn autonomous_pawn<M: MoveModel>() -> impl Bundle {
    (
        LocalControl,
        MoveInput::<M>(M::Input::default()),
        SavedMoves::<M>::default(),
        ScheduledPushes::<M>::default(),
        OutgoingMoves::default(),
        IncomingAnswers::default(),
        LeftAt::default(),
        PredictionStats::default(),
        VisualOffset::default(),
        DrawnPose::default(),
        DrawnEye::default(),
    )
}

/// Returns the components of a pawn for which this app is the authority and whose owner is remote. Unreal's
/// `ROLE_Authority`.
#[doc(alias = "ROLE_Authority")]
#[must_use]
pub fn authority_pawn<M: MoveModel>(state: M::State) -> impl Bundle {
    (
        state,
        Shown::<M> { tick: Tick::default(), moved: Tick::default(), state },
        MoveQueue::<M>::default(),
        ScheduledPushes::<M>::default(),
        TimeDiscrepancy::default(),
        Heard::default(),
        Speculation::<M>::default(),
        IncomingMoves::default(),
        OutgoingAnswers::default(),
        PredictionStats::default(),
        LeftAt::default(),
    )
}

/// Returns the components of the pawn that the host of a listen server controls.
#[must_use]
pub fn host_pawn<M: MoveModel>(state: M::State) -> impl Bundle {
    (
        state,
        LocalControl,
        ScheduledPushes::<M>::default(),
        MoveInput::<M>(M::Input::default()),
        LeftAt::default(),
        DrawnPose::default(),
        DrawnEye::default(),
        VisualOffset::default(),
    )
}
