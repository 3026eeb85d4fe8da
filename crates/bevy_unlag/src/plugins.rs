//! Plugin groups and pawn bundles of the complete suite.

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{ExtendedState, LimbRig, SimulationRate};
use bevy_unlag_lightyear::{ReplicatedPawn, UnlagClientNetPlugin, UnlagServerNetPlugin};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, CapsuleWith, MovementPlugin};
use bevy_unlag_prediction::HostPawn;
use bevy_unlag_rewind::{HitBoxes, LimbNodesPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::SmoothingPlugin;
use bevy_unlag_weapons::{Loadout, WeaponState, WithWeapons};

use crate::{
    character::{CharacterPawn, Characters, Side},
    group_check::GroupCheck,
    reflection,
};

/// Movement model of this crate's character: a capsule with weapons.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag::prelude::*;
///
/// /// On the server: a hit throws its target back, in a move that the target's client has not made yet.
/// fn knock_back(mut hits: MessageReader<Damage>, mut pawns: Query<&mut ScheduledPushes<Soldier>>) {
///     for hit in hits.read() {
///         if let Ok(mut pushes) = pawns.get_mut(hit.target) {
///             pushes.push(CapsulePush::Launch(hit.direction.with_y(0.3) * 3.0));
///         }
///     }
/// }
/// ```
pub type Soldier = WithWeapons<CapsuleModel>;

/// Movement model of a [`Soldier`] with an ability, or a tuple of abilities. Its pawn is a
/// [`CharacterPawn`].
pub type SoldierWith<A> = WithWeapons<CapsuleWith<A>>;

/// Predicted state of a [`Soldier`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag::{prelude::*, weapons::Hazard};
///
/// /// On the server, before `WeaponSystems::ApplyDamage`: a soldier that falls out of the level dies.
/// fn fall_out(soldiers: Query<(Entity, &SoldierState)>, mut hazards: MessageWriter<Hazard>) {
///     for (target, state) in &soldiers {
///         if state.body.alive && state.body.position.y < -50.0 {
///             hazards.write(Hazard { target, amount: f32::INFINITY, cause: 0 });
///         }
///     }
/// }
/// ```
pub type SoldierState = ExtendedState<CapsuleState, WeaponState>;

/// All plugins that a client needs besides Bevy's own: lightyear's client, movement, prediction, smoothing
/// with simulated proxies, weapons and the messages between them. If the app already has lightyear's
/// `ClientPlugins`, they are used. Add them after Bevy's plugins. The host of a listen server has
/// [`UnlagServerPlugins`] alone.
///
/// ```
/// use bevy::{prelude::*, state::app::StatesPlugin};
/// use bevy_unlag::prelude::*;
///
/// let mut client = App::new();
/// client
///     .add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin))
///     .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
/// ```
///
/// In the book: *Reference overview*, `book/src/reference/overview.md`.
#[derive(Clone, Debug, Default)]
pub struct UnlagClientPlugins {
    /// Tick and snapshot rate; must match the server's.
    pub rate: SimulationRate,
    /// Characters of the game; must match the server's. Default: a [`Soldier`].
    pub characters: Characters,
}

/// All plugins that a server needs besides Bevy's own: lightyear's server, movement, authority over moves,
/// rewind, weapons and the messages between them. If the app already has lightyear's `ServerPlugins`, they are
/// used.
///
/// ```
/// use bevy::{prelude::*, state::app::StatesPlugin};
/// use bevy_unlag::{core::SimulationRate, movement::abilities::Dash, prelude::*};
///
/// /// Client and server call it, so that both have the same characters.
/// fn characters() -> Characters {
///     Characters::none().with::<Soldier>().with::<SoldierWith<Dash>>()
/// }
///
/// let mut server = App::new();
/// server.add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin)).add_plugins(UnlagServerPlugins {
///     rate: SimulationRate::from_hz(30.0),
///     characters: characters(),
/// });
/// assert_eq!(server.world().resource::<SimulationRate>().snapshot_ticks, 1);
/// ```
///
/// In the book: *Reference overview*, `book/src/reference/overview.md`.
#[derive(Clone, Debug, Default)]
pub struct UnlagServerPlugins {
    /// Tick and snapshot rate; must match the clients'.
    pub rate: SimulationRate,
    /// Characters of the game; must match the clients'. Default: a [`Soldier`].
    pub characters: Characters,
}

impl PluginGroup for UnlagClientPlugins {
    fn build(self) -> PluginGroupBuilder {
        let group = PluginGroupBuilder::start::<Self>()
            .add(UnlagClientNetPlugin { rate: self.rate })
            .add(GroupCheck)
            .add(MovementPlugin)
            .add(SmoothingPlugin)
            .add(LimbNodesPlugin)
            .add(move |app: &mut App| self.characters.add_plugins(app, Side::Client))
            .add(reflection::register_types);
        #[cfg(feature = "visibility")]
        let group = group.add(crate::mesh_check::plugin);
        group
    }
}

impl PluginGroup for UnlagServerPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add(UnlagServerNetPlugin { rate: self.rate })
            .add(GroupCheck)
            .add(MovementPlugin)
            .add(move |app: &mut App| self.characters.add_plugins(app, Side::Server))
            .add(reflection::register_types)
    }
}

/// A player's soldier on the server. Place it with a [`Transform`], or spawn it with a [`SoldierState`]; add
/// [`player_pawn`](bevy_unlag_lightyear::player_pawn). It has the first
/// weapon of the [`Arsenal`](bevy_unlag_weapons::Arsenal), or those of its [`Loadout`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag::prelude::*;
///
/// /// On the server: a soldier for each player, just above the ground.
/// fn spawn_soldier(joined: On<PlayerJoined>, mut commands: Commands) {
///     let place = Transform::from_xyz(0.0, 0.1, 0.0);
///     commands.spawn((SoldierPawn, Health::default(), place, player_pawn(joined.link, joined.peer)));
/// }
/// ```
///
/// In the book: *2. Your pawn moves*, `book/src/tutorial/2_your_pawn_moves.md`.
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(CharacterPawn<Soldier>, SoldierBody, Loadout)]
pub struct SoldierPawn;

/// The soldier that the host of a listen server controls. It is placed and armed like a [`SoldierPawn`].
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(ReplicatedPawn, HostPawn<Soldier>, SoldierBody, Loadout)]
pub struct HostSoldierPawn;

/// Hit boxes and limb rig of a soldier, the same on every machine. The client plugins insert it into pawns
/// that appear.
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(HitBoxes = humanoid_hit_boxes(), LimbRig = humanoid_rig(), Transform)]
pub struct SoldierBody;
