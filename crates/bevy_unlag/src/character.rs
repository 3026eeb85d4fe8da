//! Kinds of characters: a movement model with everything that an app needs for it.

mod body;
mod capsule;
mod characters;
mod class;
#[cfg(feature = "kart")]
mod kart;
mod movement_mode;
mod passenger;
mod pawn;
mod time_dilation;
mod with_weapons;

use bevy::prelude::*;
use bevy_unlag_core::{MoveExtension, MoveModel, PawnClass};
use bevy_unlag_movement::CapsuleInput;

pub use body::ClassBodies;
pub use characters::Characters;
pub use pawn::{CharacterPawn, HostCharacterPawn, NpcPawn};

/// Side of the connection for which plugins are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The app draws pawns and predicts its own.
    Client,
    /// The app is the authority over all pawns. A listen server is on this side.
    Server,
}

/// A movement model that can be added to [`Characters`]. Prediction, smoothing, rewind and the transport follow
/// for every model; this trait adds what they cannot know.
///
/// It is implemented for [`CapsuleModel`](bevy_unlag_movement::CapsuleModel), with and without abilities, and
/// for [`WithWeapons`](bevy_unlag_weapons::WithWeapons) of every character.
pub trait Character: MoveModel {
    /// Returns the state of a pawn that is placed at a position in metres.
    fn state_at(position: Vec3) -> Self::State;

    /// Returns the components that a pawn gets when it appears on a machine, as far as it lacks them: usually
    /// [`HitBoxes`](bevy_unlag_rewind::HitBoxes) and [`LimbRig`](bevy_unlag_core::LimbRig). They must be the
    /// same on all machines. Default: none, and the pawn cannot be hit. A pawn of another class than 0 gets those
    /// of its class in place of what it has, unless the game has given it hit boxes of its own. [`ClassBodies`]
    /// come before the hit boxes and limb rig of this function.
    fn body(config: &Self::Config, class: PawnClass) -> impl Bundle {
        let _ = (config, class);
    }

    /// Sets the class in a state. Default: nothing, because the model has no classes.
    fn set_class(state: &mut Self::State, class: PawnClass) {
        let _ = (state, class);
    }

    /// Returns whether there is a class. A pawn of another one is reported. Default: only class 0; a model that
    /// implements [`set_class`](Self::set_class) needs this function as well.
    fn has_class(config: &Self::Config, class: PawnClass) -> bool {
        let _ = config;
        class == PawnClass::default()
    }

    /// Returns the components that a [`CharacterPawn`] gets on the server, as far as it lacks them. Default: none.
    fn equipment() -> impl Bundle {}

    /// Returns the components that the own pawn gets in an app with a
    /// [`PlayerControlsPlugin`](crate::PlayerControlsPlugin), as far as it lacks them, besides
    /// [`InputAccumulator`](bevy_unlag_movement::InputAccumulator). Default: none.
    fn controls() -> impl Bundle {}

    /// Converts the standard controls to input, which includes everything that it replaces from the last tick.
    /// Default: the input stays, and the game writes [`MoveInput`](bevy_unlag_core::MoveInput) itself.
    fn apply_controls(input: &mut Self::Input, controls: &CapsuleInput) {
        let _ = (input, controls);
    }

    /// Returns whether an input asks nothing of the body: what weapons and abilities are asked for does not
    /// count. For the check that [`apply_controls`](Self::apply_controls) does something. Default: whether it is
    /// the default.
    fn is_idle(input: &Self::Input) -> bool {
        *input == Self::Input::default()
    }

    /// Adds plugins and resources. Called once for each character. Default: nothing.
    fn build(app: &mut App, side: Side) {
        let _ = (app, side);
    }

    /// Like [`build`](Self::build) for this character with an extension, such as weapons: systems that use
    /// [`MoveModel::State`] find the state of [`Extended`](bevy_unlag_core::Extended) in its place. Default:
    /// the same as without.
    fn build_extended<X: MoveExtension>(app: &mut App, side: Side) {
        Self::build(app, side);
    }
}
