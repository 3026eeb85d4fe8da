//! Setup check for meshes on pawns.

use bevy::prelude::*;
use bevy_unlag_core::{NetRole, SetupDiagnostics, SetupIssue};

/// Adds the check to a client.
pub(crate) fn plugin(app: &mut App) {
    app.add_systems(Update, report_mesh_on_pawn);
}

/// Reports a mesh on a pawn or on a child of it: the transform of a pawn is the simulated one of the own pawn, and
/// stays where it is for any other pawn.
fn report_mesh_on_pawn(
    drawn: Query<Entity, (With<NetRole>, With<Mesh3d>)>,
    parents: Query<(Entity, &Children), (With<NetRole>, Changed<Children>)>,
    meshes: Query<(), With<Mesh3d>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let has_mesh = |children: &Children| children.iter().any(|child| meshes.contains(child));
    let of_child = || parents.iter().find(|(_, children)| has_mesh(children)).map(|(pawn, _)| pawn);
    if let Some(pawn) = drawn.iter().next().or_else(of_child) {
        diagnostics.report(SetupIssue::MeshOnPawn, || {
            format!(
                "a mesh is on pawn {pawn} or on a child of it, whose Transform is not smoothed and not that of remote \
                 pawns: spawn an entity with VisualOf({pawn}), and the mesh as a child of that"
            )
        });
    }
}
