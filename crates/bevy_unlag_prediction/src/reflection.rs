//! Registration of the reflected types of this crate.
//!
//! Types that are generic over a model show their own numbers and ignore the model's states, inputs and
//! events, so that no model has to be reflected.

use core::any::type_name;

use bevy::{prelude::*, reflect::utility::GenericTypePathCell, utils::prelude::ShortName};
use bevy_unlag_core::MoveModel;

use crate::*;

/// Registers the public types for inspectors. [`PredictedValue`] is registered where its value is known.
pub(crate) fn register_types<M: MoveModel>(app: &mut App) {
    app.register_type::<ClockSteering>()
        .register_type::<ControlEnd>()
        .register_type::<ControlTransferred>()
        .register_type::<IncomingControlOffers>()
        .register_type::<IncomingMoveAcks>()
        .register_type::<IncomingMoves>()
        .register_type::<MoveTrace>()
        .register_type::<OutgoingMoveAcks>()
        .register_type::<OutgoingControlOffers>()
        .register_type::<OutgoingMoves>()
        .register_type::<PredictedCount>()
        .register_type::<PredictionConfig>()
        .register_type::<PredictionDebug>()
        .register_type::<PredictionStats>()
        .register_type::<SendThrottle>()
        .register_type::<TimeDiscrepancy>()
        .register_type::<TimeDiscrepancyDetected>()
        .register_type::<AuthorityPawn<M>>()
        .register_type::<AutonomousPawn<M>>()
        .register_type::<CachedConfigHash<M>>()
        .register_type::<Correction<M>>()
        .register_type::<HostPawn<M>>()
        .register_type::<MoveOutcome<M>>()
        .register_type::<MoveQueue<M>>()
        .register_type::<PublishedExtrapolation<M>>()
        .register_type::<SavedMoves<M>>()
        .register_type::<ScheduledPushes<M>>()
        .register_type::<ServerCorrection<M>>()
        .register_type::<ServerPawn<M>>();
    #[cfg(feature = "gizmos")]
    app.register_type::<CorrectionView>();
}

/// Implements [`TypePath`] for types that are generic over a model, without asking it of the model.
macro_rules! model_type_paths {
    ($($name:ident),* $(,)?) => {$(
        impl<M: MoveModel> TypePath for $name<M> {
            fn type_path() -> &'static str {
                type_name::<Self>()
            }

            fn short_type_path() -> &'static str {
                static PATH: GenericTypePathCell = GenericTypePathCell::new();
                PATH.get_or_insert::<Self, _>(|| ShortName::of::<Self>().to_string())
            }

            fn type_ident() -> Option<&'static str> {
                Some(stringify!($name))
            }

            fn crate_name() -> Option<&'static str> {
                Some("bevy_unlag_prediction")
            }
        }
    )*};
}

model_type_paths!(
    AuthorityPawn,
    AutonomousPawn,
    CachedConfigHash,
    Correction,
    HostPawn,
    MoveOutcome,
    MoveQueue,
    PublishedExtrapolation,
    SavedMoves,
    ScheduledPushes,
    ServerCorrection,
    ServerPawn,
);
