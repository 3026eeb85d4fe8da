//! Bodies of pawns: hit boxes and limb rigs by character and class.

use core::marker::PhantomData;

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_core::{LimbRig, PawnClass};
use bevy_unlag_rewind::{HitBoxes, humanoid_hit_boxes};

use super::Character;

/// Hit boxes and limb rigs of a character by class, in place of those that [`Character::body`] derives from the
/// configuration. Insert it on all machines, with equal content, before pawns of the character appear. Classes
/// that are not in it keep those of [`Character::body`].
///
/// ```
/// use bevy_unlag::{ClassBodies, Soldier, core::PawnClass, rewind};
///
/// let (boxes, rig) = (rewind::scaled_humanoid_hit_boxes(1.3), rewind::humanoid_rig().scaled(1.3));
/// let bodies = ClassBodies::<Soldier>::default().with(PawnClass(1), boxes, rig);
/// ```
#[derive(Resource)]
pub struct ClassBodies<C> {
    bodies: HashMap<PawnClass, (HitBoxes, LimbRig)>,
    character: PhantomData<fn() -> C>,
}

impl<C> Default for ClassBodies<C> {
    fn default() -> Self {
        Self { bodies: HashMap::default(), character: PhantomData }
    }
}

impl<C> core::fmt::Debug for ClassBodies<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.bodies.keys()).finish()
    }
}

impl<C> ClassBodies<C> {
    /// Adds or replaces the hit boxes and the rig of a class.
    #[must_use]
    pub fn with(mut self, class: PawnClass, boxes: HitBoxes, rig: LimbRig) -> Self {
        self.bodies.insert(class, (boxes, rig));
        self
    }
}

/// Body that this crate has given a pawn.
#[derive(Component)]
pub(super) struct GivenBody {
    /// Class of the body.
    pub class: PawnClass,
    /// Hit boxes that were given; `None` if the game had given the pawn its own.
    boxes: Option<HitBoxes>,
}

/// Gives a pawn the body of a class. Hit boxes of the game's own stay, with their rig.
pub(super) fn give<C: Character>(
    pawn: &mut EntityCommands,
    config: &C::Config,
    bodies: Option<&ClassBodies<C>>,
    class: PawnClass,
) {
    let body = C::body(config, class);
    let listed = bodies.and_then(|bodies| bodies.bodies.get(&class).cloned());
    pawn.queue_silenced(move |mut pawn: EntityWorldMut| {
        let given = pawn.get::<GivenBody>();
        let is_ours = |boxes: &HitBoxes| match given {
            Some(given) => given.boxes.as_ref().is_some_and(|given| given.is_same_set(boxes)),
            // The markers of soldiers require these.
            None => boxes.is_same_set(&humanoid_hit_boxes()),
        };
        let has_own = pawn.get::<HitBoxes>().is_some_and(|boxes| !is_ours(boxes));
        let is_first = given.is_none() && class == PawnClass::default();
        if has_own || is_first {
            pawn.insert_if_new(body);
        } else {
            pawn.insert(body);
        }
        if let Some(listed) = listed.filter(|_| !has_own) {
            pawn.insert(listed);
        }
        let boxes = pawn.get::<HitBoxes>().filter(|_| !has_own).cloned();
        pawn.insert(GivenBody { class, boxes });
    });
}
