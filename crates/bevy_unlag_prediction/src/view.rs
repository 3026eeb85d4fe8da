//! Where client and server were when they disagreed, drawn as gizmos.

use core::marker::PhantomData;

use bevy::{color::palettes::tailwind, gizmos::GizmoPlugin, prelude::*, transform::TransformSystems};
use bevy_unlag_core::MoveModel;

use crate::{
    Correction, ServerCorrection,
    outlines::{CorrectionView, Outlines, collect},
};

/// The gizmos of [`CorrectionView`], for Bevy's `GizmoConfigStore`: how thick the lines are, and
/// whether they shine through walls.
#[derive(Clone, Copy, Debug, Default, Reflect, GizmoConfigGroup)]
pub struct CorrectionGizmos;

/// Draws every correction of pawns of the model `M`: a green capsule where the server was and a red
/// one where the client was, on the owner's client and on a server that has a picture. Off until
/// [`CorrectionView::enabled`]. Add it after Bevy's plugins; without Bevy's `GizmoPlugin`, as on a
/// server without a picture, it does nothing. Unreal's `p.NetShowCorrections`.
#[derive(Debug)]
#[doc(alias = "NetShowCorrections")]
pub struct CorrectionViewPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for CorrectionViewPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for CorrectionViewPlugin<M> {
    fn build(&self, app: &mut App) {
        app.init_resource::<CorrectionView>();
        if app.is_plugin_added::<GizmoPlugin>() {
            crate::for_missing(app, DrawPlugin);
            app.add_message::<Correction<M>>()
                .add_message::<ServerCorrection<M>>()
                .add_systems(Update, collect::<M>);
        }
    }
}

/// What models have in common.
struct DrawPlugin;

impl Plugin for DrawPlugin {
    fn build(&self, app: &mut App) {
        // In front of everything: a difference of centimetres lies in or under the pawn.
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
