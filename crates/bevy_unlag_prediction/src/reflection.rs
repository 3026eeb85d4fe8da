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
    bevy_unlag_core::register_types! { app:
        ClockSteering, ControlEnd, ControlTransferred, IncomingControlOffers, IncomingMoveAcks,
        IncomingMoves, MoveTrace, OutgoingMoveAcks, OutgoingControlOffers, OutgoingMoves, PredictedCount,
        PredictionConfig, PredictionDebug, PredictionStats, SendThrottle, TimeDiscrepancy,
        TimeDiscrepancyDetected, AuthorityPawn<M>, AutonomousPawn<M>, CachedConfigHash<M>, Correction<M>,
        HostPawn<M>, MoveLog<M>, MoveOutcome<M>, MoveQueue<M>, PublishedExtrapolation<M>, SavedMoves<M>,
        ScheduledPushes<M>, ServerCorrection<M>, ServerPawn<M>,
    }
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

model_type_paths! {
    AuthorityPawn, AutonomousPawn, CachedConfigHash, Correction, HostPawn, MoveLog, MoveOutcome, MoveQueue,
    PublishedExtrapolation, SavedMoves, ScheduledPushes, ServerCorrection, ServerPawn,
}
