//! RON files through Bevy's asset server.

use core::marker::PhantomData;

use bevy::{
    asset::{Asset, AssetLoader, AsyncReadExt, LoadContext, io::Reader},
    reflect::TypePath,
};

use crate::{
    error::RonError,
    file::{MAX_BYTES, RonFile},
};

/// Asset loader of a [`RonFile`].
#[derive(TypePath)]
pub struct RonAssetLoader<A>(PhantomData<fn() -> A>);

impl<A> Default for RonAssetLoader<A> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<A: Asset + RonFile> AssetLoader for RonAssetLoader<A> {
    type Asset = A;
    type Settings = ();
    type Error = RonError;

    async fn load(&self, reader: &mut dyn Reader, (): &(), _: &mut LoadContext<'_>) -> Result<A, RonError> {
        let mut bytes = Vec::new();
        // One byte more than a file may have, so that a longer one is refused and not cut off.
        (&mut *reader).take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).await.map_err(|error| {
            RonError::Io { problem: format!("the file of {} cannot be read: {error}", A::CONTENT) }
        })?;
        A::from_bytes(&bytes)
    }

    fn extensions(&self) -> &[&str] {
        A::EXTENSIONS
    }
}
