//! Asset loader for hit box files.

use bevy::{
    asset::{AssetLoader, LoadContext, io::Reader},
    prelude::*,
    reflect::TypePath,
};

use crate::{HitBoxBones, HitBoxFile, HitBoxFileError, LimbSystems};

/// Inserts the hit boxes of a `*.hitboxes.ron` asset into a pawn when the asset is loaded or changed, by
/// means of [`HitBoxBones`]. Needs Bevy's [`AssetPlugin`], which has to be added before. A server without
/// assets reads its files with [`HitBoxFile::from_ron`].
#[derive(Component, Clone, Debug)]
pub struct HitBoxAsset(pub Handle<HitBoxFile>);

#[derive(Default, TypePath)]
struct Loader;

/// Error while loading a hit box file.
#[derive(Debug)]
enum LoadError {
    Read(std::io::Error),
    Text(std::str::Utf8Error),
    File(HitBoxFileError),
}

impl core::fmt::Display for LoadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Read(error) => write!(f, "cannot read the hit box file: {error}"),
            Self::Text(error) => write!(f, "the hit box file is not valid UTF-8: {error}"),
            Self::File(error) => write!(f, "the hit box file is invalid: {error}"),
        }
    }
}

impl core::error::Error for LoadError {}

impl AssetLoader for Loader {
    type Asset = HitBoxFile;
    type Settings = ();
    type Error = LoadError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _settings: &(),
        _context: &mut LoadContext<'_>,
    ) -> Result<HitBoxFile, LoadError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await.map_err(LoadError::Read)?;
        HitBoxFile::from_ron(str::from_utf8(&bytes).map_err(LoadError::Text)?).map_err(LoadError::File)
    }

    fn extensions(&self) -> &[&str] {
        &["hitboxes.ron"]
    }
}

/// Registers the asset loader, if the app has an asset server.
pub(crate) fn add(app: &mut App) {
    if !app.world().contains_resource::<AssetServer>() {
        return;
    }
    app.init_asset::<HitBoxFile>()
        .init_asset_loader::<Loader>()
        .add_systems(PostUpdate, give.before(LimbSystems::Find));
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
