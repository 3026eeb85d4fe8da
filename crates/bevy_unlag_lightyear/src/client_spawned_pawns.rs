//! Setup check for pawns that a client spawns itself.

use bevy::prelude::*;
use bevy_unlag_core::{PawnModel, SetupDiagnostics, SetupIssue};
use lightyear::prelude::client::Remote;

use crate::pawn::ReplicatedPawn;

/// Reports a pawn of this client's own: pawns come from the server, which is the only one to mark them.
pub(crate) fn report_client_spawned_pawns(
    pawns: Query<(Entity, Option<&PawnModel>), (Added<ReplicatedPawn>, Without<Remote>)>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    for (pawn, model) in &pawns {
        diagnostics.report(SetupIssue::ClientSpawnedPawn, || {
            let model = model.map_or_else(String::new, |model| format!(" of {}", model.short_name()));
            format!(
                "this client has spawned pawn {pawn}{model} itself, so neither the server nor another player has it: \
                 spawn it on the server, for instance in an observer of PlayerJoined, and it appears on every client"
            )
        });
    }
}
