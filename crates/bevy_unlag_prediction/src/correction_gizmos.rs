//! Debug gizmos of corrections: the pawn on client and server.

use core::marker::PhantomData;

use bevy::{color::palettes::tailwind, gizmos::GizmoPlugin, prelude::*, transform::TransformSystems};
use bevy_unlag_core::MoveModel;

use crate::{
    correction_outlines::{CorrectionView, Outlines, collect},
    outcome::{Correction, ServerCorrection},
};

/// Gizmo group of [`CorrectionView`] for Bevy's `GizmoConfigStore`, which sets the line width and whether
/// lines are visible through walls.
#[derive(Clone, Copy, Debug, Default, Reflect, GizmoConfigGroup)]
pub struct CorrectionGizmos;

/// Draws each correction of pawns of the model `M`, on the owner's client and on a server with a window: a
/// green capsule at the server's position and a red one at the client's. Off until
/// [`CorrectionView::enabled`] is set. Add it after Bevy's plugins; without Bevy's `GizmoPlugin`, as on a
/// headless server, it does nothing. Unreal's `p.NetShowCorrections`.
#[doc(alias = "NetShowCorrections")]
pub struct CorrectionViewPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(CorrectionViewPlugin<M>);

impl<M: MoveModel> Plugin for CorrectionViewPlugin<M> {
    fn build(&self, app: &mut App) {
        app.init_resource::<CorrectionView>();
        if app.is_plugin_added::<GizmoPlugin>() {
            bevy_unlag_core::require_plugin(app, CorrectionDrawPlugin);
            app.add_message::<Correction<M>>()
                .add_message::<ServerCorrection<M>>()
                .add_systems(Update, collect::<M>);
        }
    }
}

/// The part of the plugin that all models share.
struct CorrectionDrawPlugin;

impl Plugin for CorrectionDrawPlugin {
    fn build(&self, app: &mut App) {
        // In front of everything, because a difference of centimetres is within or below the pawn.
        app.insert_gizmo_config(CorrectionGizmos, GizmoConfig { depth_bias: -1.0, ..default() })
            .init_resource::<Outlines>()
            .add_systems(PostUpdate, draw.after(TransformSystems::Propagate));
    }
}

fn draw(outlines: Res<Outlines>, mut gizmos: Gizmos<CorrectionGizmos>) {
    for outlined in outlines.iter() {
        gizmos.primitive_3d(&outlined.server.shape, outlined.server.pose, tailwind::GREEN_400);
        if let Some(client) = &outlined.client {
            gizmos.primitive_3d(&client.shape, client.pose, tailwind::RED_500);
        }
    }
}
