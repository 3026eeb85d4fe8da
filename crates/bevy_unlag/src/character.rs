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
///
/// A raft, whose movement model is in the example of [`MoveModel`]:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::Collider;
/// use bevy_unlag::core::{LimbRig, PawnClass, StepContext, Wire};
/// use bevy_unlag::{Character, Side, prelude::*, rewind::BodyBounds, rewind::HitBox};
///
/// # /// A raft: its config is its speed, in metres per second.
/// # #[derive(Resource)]
/// # struct Raft(f32);
/// #
/// # #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
/// # struct Oars {
/// #     #[wire(range = -1.0..=1.0, bits = 8)]
/// #     stick: Vec2,
/// # }
/// #
/// # #[derive(Component, Wire, Clone, Copy, PartialEq, Default, Debug)]
/// # struct RaftState {
/// #     position: Vec3,
/// #     velocity: Vec3,
/// # }
/// #
/// # impl MoveModel for Raft {
/// #     type Config = Self;
/// #     type Input = Oars;
/// #     type State = RaftState;
/// #     type Event = ();
/// #     type Push = ();
/// #     type World = ();
/// #     type Diagnostics = ();
/// #
/// #     fn step(
/// #         raft: &Self,
/// #         state: &RaftState,
/// #         oars: &Oars,
/// #         ctx: &StepContext,
/// #         (): &(),
/// #         _: &mut Vec<()>,
/// #     ) -> RaftState {
/// #         let velocity = Vec3::new(oars.stick.x, 0.0, -oars.stick.y) * raft.0;
/// #         RaftState { position: state.position + velocity * ctx.dt, velocity }
/// #     }
/// #
/// #     fn position(state: &RaftState) -> Vec3 {
/// #         state.position
/// #     }
/// #
/// #     fn velocity(state: &RaftState) -> Vec3 {
/// #         state.velocity
/// #     }
/// #
/// #     fn kind(_: &RaftState) -> u32 {
/// #         0
/// #     }
/// # }
///
/// impl Character for Raft {
///     fn state_at(position: Vec3) -> RaftState {
///         RaftState { position, ..default() }
///     }
///
///     fn body(_: &Self, _: PawnClass) -> impl Bundle {
///         let hull = HitBox::new(0, HitGroup::Body, Collider::cuboid(1.0, 0.2, 2.0));
///         (HitBoxes::new([hull], BodyBounds::ball(2.3)), LimbRig::rigid())
///     }
///
///     fn apply_controls(oars: &mut Oars, controls: &CapsuleInput) {
///         oars.stick = controls.axes();
///     }
///
///     fn build(app: &mut App, _: Side) {
///         app.insert_resource(Self(3.0));
///     }
/// }
///
/// let characters = Characters::of::<Raft>();
/// ```
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
