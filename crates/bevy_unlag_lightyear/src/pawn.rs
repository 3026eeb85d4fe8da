//! Markers of replicated pawns on the server.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, NetRole};
use lightyear::prelude::*;

/// A pawn that the server sends to its clients: replication, frame history and hit detection. By itself it is
/// a pawn without a remote owner, such as a bot or the pawn of a listen server's host; see [`NetworkedPawn`]
/// for players. It gets a free [`NetId`](bevy_unlag_core::NetId), unless it is spawned with one. If a living
/// pawn has the same, the newer one gets a free id after all, and an error is logged.
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(NetRole = NetRole::Authority, Replicate = Replicate::to_clients(NetworkTarget::All))]
#[cfg_attr(feature = "smoothing", require(bevy_unlag_smoothing::PublishedPath))]
#[cfg_attr(feature = "rewind", require(bevy_unlag_rewind::FrameHistory))]
#[cfg_attr(
    feature = "weapons",
    require(bevy_unlag_weapons::OutgoingShotMessages, bevy_unlag_weapons::RefusedShots)
)]
pub struct ReplicatedPawn;

/// A [`ReplicatedPawn`] whose moves come from a player. Spawn it with its initial [`MoveModel::State`] and
/// with [`player_pawn`](crate::player_pawn), which ties it to its player for as long as the pawn lives. A
/// player controls one pawn; further ones of the same player are spawned with [`SessionOf`](crate::SessionOf).
#[derive(Component)]
#[require(ReplicatedPawn)]
#[cfg_attr(feature = "prediction", require(bevy_unlag_prediction::AuthorityPawn<M>))]
#[cfg_attr(feature = "smoothing", require(bevy_unlag_smoothing::SentSnapshots))]
#[cfg_attr(feature = "rewind", require(bevy_unlag_rewind::ViewTimeValidator))]
pub struct NetworkedPawn<M: MoveModel>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(NetworkedPawn<M: MoveModel>);
