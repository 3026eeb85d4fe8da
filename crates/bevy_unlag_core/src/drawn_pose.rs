//! Pose of a pawn on the screen.

use bevy::prelude::*;

use crate::{pose_sample::PoseSample, view::ViewStamp};

/// Pose of a pawn on this app's screen in the last frame, without [`VisualOffset`](crate::VisualOffset).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{DrawnPose, VisualSystems};
///
/// /// Name tag of the pawn.
/// #[derive(Component)]
/// struct NameTag(Entity);
///
/// /// Places the tags 2 m above the feet of their pawns.
/// fn place_tags(mut tags: Query<(&NameTag, &mut Transform)>, pawns: Query<&DrawnPose>) {
///     for (tag, mut place) in &mut tags {
///         if let Ok(drawn) = pawns.get(tag.0) {
///             place.translation = drawn.pose.position + drawn.pose.up() * 2.0;
///         }
///     }
/// }
///
/// App::new().add_systems(PostUpdate, place_tags.in_set(VisualSystems::Follow));
/// ```
///
/// In the book: *Recipes: what players see*, `book/src/recipes/appearance.md`.
#[doc(alias = "GetRenderOrigin")]
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct DrawnPose {
    /// Pose in the world.
    pub pose: PoseSample,
    /// Kind of sampling that gave the pose.
    pub stamp: ViewStamp,
}
