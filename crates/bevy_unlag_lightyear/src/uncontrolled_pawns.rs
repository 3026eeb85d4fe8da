//! Setup check for pawns that wait for the moves of a player and have none.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveModel, PawnModel, ServerControl, SetupDiagnostics, SetupIssue};
use bevy_unlag_prediction::AuthorityPawn;
use lightyear::prelude::ControlledBy;

use crate::{
    possession::OfferedTo,
    session::{AwaitingReconnect, SessionOf},
};

/// Age at which a pawn should have its player.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest time of a frame that counts.
const MAX_FRAME: Duration = Duration::from_millis(100);

/// On a server's new pawn: its age, until the check.
#[derive(Component, Default)]
struct NewPawn(Duration);

/// Components of which each says who controls a pawn, or who will.
type Controlled = Or<(
    With<ControlledBy>,
    With<SessionOf>,
    With<AwaitingReconnect>,
    With<OfferedTo>,
    With<ServerControl>,
    With<LocalControl>,
)>;

/// Adds the check to a server.
pub(crate) fn server_plugin(app: &mut App) {
    app.add_systems(Update, report_uncontrolled_pawns);
}

/// Checks the pawns of one model.
pub(crate) fn add_model<M: MoveModel>(app: &mut App) {
    app.add_systems(Update, note_new_pawns::<M>);
}

fn note_new_pawns<M: MoveModel>(pawns: Query<Entity, Added<AuthorityPawn<M>>>, mut commands: Commands) {
    for pawn in &pawns {
        commands.entity(pawn).try_insert(NewPawn::default());
    }
}

/// Checks each pawn once: a player who leaves later is no mistake.
fn report_uncontrolled_pawns(
    time: Res<Time<Real>>,
    mut pawns: Query<(Entity, &mut NewPawn, &PawnModel)>,
    controlled: Query<(), Controlled>,
    mut diagnostics: ResMut<SetupDiagnostics>,
    mut commands: Commands,
) {
    for (pawn, mut age, model) in &mut pawns {
        age.0 += time.delta().min(MAX_FRAME);
        if age.0 <= PATIENCE {
            continue;
        }
        commands.entity(pawn).try_remove::<NewPawn>();
        if !controlled.contains(pawn) {
            diagnostics.report(SetupIssue::UncontrolledPawn, || {
                format!(
                    "pawn {pawn} of {} has no player, so nothing moves it: spawn it with player_pawn(link, peer) of a \
                     PlayerJoined, or as an NpcPawn if the server controls it",
                    model.short_name()
                )
            });
        }
    }
}
