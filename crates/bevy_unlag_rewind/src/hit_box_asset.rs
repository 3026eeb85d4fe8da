//! Asset loader for hit box files.

use bevy::prelude::*;
use checked_ron::RonAssetLoader;

use crate::{hit_box_bones::HitBoxBones, hit_box_file::HitBoxFile, system_sets::RewindSystems};

/// Inserts the hit boxes of a `*.hitboxes.ron` asset into a pawn when the asset is loaded or changed, by
/// means of [`HitBoxBones`]. Needs Bevy's [`AssetPlugin`], which has to be added before. A server without
/// assets reads its files with [`HitBoxFile::from_ron`](checked_ron::RonFile::from_ron).
#[doc(alias = "UPhysicsAsset")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct HitBoxAsset(pub Handle<HitBoxFile>);

/// Registers the asset loader, if the app has an asset server.
pub(crate) fn add(app: &mut App) {
    if !app.world().contains_resource::<AssetServer>() {
        return;
    }
    app.init_asset::<HitBoxFile>()
        .init_asset_loader::<RonAssetLoader<HitBoxFile>>()
        .add_systems(PostUpdate, give.before(RewindSystems::FindBones));
}

fn give(
    mut changes: MessageReader<AssetEvent<HitBoxFile>>,
    files: Res<Assets<HitBoxFile>>,
    pawns: Query<(Entity, Ref<HitBoxAsset>, Option<&HitBoxBones>)>,
    mut commands: Commands,
) {
    let changed: Vec<AssetId<HitBoxFile>> = changes
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (pawn, asset, before) in &pawns {
        if (asset.is_changed() || changed.contains(&asset.0.id()))
            && let Some(file) = files.get(&asset.0)
        {
            let root = before.and_then(HitBoxBones::root);
            let bones = HitBoxBones::new(file.clone());
            commands.entity(pawn).insert(root.map_or(bones.clone(), |root| bones.below(root)));
        }
    }
}
