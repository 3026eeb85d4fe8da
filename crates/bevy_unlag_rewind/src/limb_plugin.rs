//! Plugin for limb poses from nodes.

use bevy::{prelude::*, transform::TransformSystems};

use crate::{
    hit_box_asset, hit_box_bones,
    limb_nodes::{LimbNodes, draw},
    reflection,
    system_sets::RewindSystems,
};

/// Plugin for limb poses from nodes and for [`HitBoxBones`](crate::HitBoxBones).
/// [`RewindPlugin`](crate::RewindPlugin) adds it; a client with animated pawns needs nothing else of this
/// crate. Needs Bevy's [`TransformPlugin`].
#[derive(Debug, Default)]
pub struct LimbNodesPlugin;

impl Plugin for LimbNodesPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_types(app);
        app.configure_sets(
            PostUpdate,
            (
                RewindSystems::FindBones.before(TransformSystems::Propagate),
                RewindSystems::ReadLimbs.after(RewindSystems::FindBones).after(TransformSystems::Propagate),
            ),
        )
        .add_systems(
            PostUpdate,
            (hit_box_bones::resolve.in_set(RewindSystems::FindBones), draw.in_set(RewindSystems::ReadLimbs)),
        );
        hit_box_asset::add(app);
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<TransformPlugin>() {
            app.add_systems(PostUpdate, warn_about_transforms.in_set(RewindSystems::ReadLimbs));
        }
    }
}

fn warn_about_transforms(nodes: Query<(), With<LimbNodes>>, mut warned: Local<bool>) {
    if !*warned && !nodes.is_empty() {
        *warned = true;
        warn!(
            "limb poses are read from nodes, but nothing propagates transforms, so hit boxes stay where they \
             were spawned: add Bevy's TransformPlugin"
        );
    }
}
