//! The fire flow of a hitscan rifle: fired inside the movement tick, shown at once, judged by the
//! server against what the shooter's screen showed.
//!
//! * [`Rifle`] is a [`MoveExtension`](bevy_unlag_core::MoveExtension): its cooldown rides with the
//!   body's predicted state and replays with it. A model with it is [`Armed<M>`].
//! * On the client, pull the [`Trigger`] and turn the [`Aim`]: what the screen shows is latched
//!   when the trigger goes down, the round leaves in the next tick, [`ShotFired`] is written at
//!   once.
//! * On the server every round of the move stream is judged once: a [`ShotVerdict`] for the
//!   shooter, [`Damage`] for the game, a [`Tracer`] for everyone else.
//!
//! No message carries a damage figure, and none that says who was hit is proof: the wire carries what the
//! screen showed, and the server looks. See [`HitClaims`] for what a claim can be worth.

mod claim;
mod damage;
mod fire;
mod judge;
mod rifle;
mod shoot;
#[cfg(feature = "gizmos")]
mod shot_view;
mod sight;
mod verdict;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{Extended, MoveModel, MoveSystems, StepEvent};
use bevy_unlag_rewind::{RewindQueryPlugin, RewindSystems};

pub use claim::HitClaims;
pub use damage::{DamageTable, WeaponDamage, WeaponId};
pub use fire::{Aim, FireInput, MAX_OVERRIDES};
pub use rifle::{Rifle, RifleConfig, RifleEvent, RifleState};
pub use shoot::{ShotFired, Trigger};
#[cfg(feature = "gizmos")]
pub use shot_view::ShotViewPlugin;
pub use verdict::{Damage, Mailed, OutgoingVerdicts, ShotRefusal, ShotResult, ShotVerdict, Tracer};

/// A model that carries a [`Rifle`].
pub type Armed<M> = Extended<M, Rifle>;

/// When weapons work.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeaponSystems {
    /// In [`RunFixedMainLoop`] before the fixed loop: a pulled trigger latches what the screen
    /// shows. Write [`Trigger`] and [`Aim`] before it.
    Latch,
    /// In [`FixedPostUpdate`] after the frames were recorded: the server judges the rounds of
    /// this tick.
    Judge,
}

/// Arms pawns of the model `M`: predict [`Armed<M>`] instead of `M`.
#[derive(Debug)]
pub struct WeaponsPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for WeaponsPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for WeaponsPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<RewindQueryPlugin>() {
            app.add_plugins(RewindQueryPlugin);
        }
        app.init_resource::<RifleConfig>()
            .init_resource::<DamageTable>()
            .add_message::<StepEvent<Armed<M>>>()
            .add_message::<ShotFired>()
            .add_message::<ShotVerdict>()
            .add_message::<Damage>()
            .add_message::<Tracer>()
            .add_systems(
                RunFixedMainLoop,
                shoot::latch::<M>
                    .in_set(WeaponSystems::Latch)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            )
            .add_systems(
                FixedUpdate,
                (shoot::arm::<M>.in_set(MoveSystems::Extend), shoot::report::<M>.in_set(MoveSystems::React)),
            )
            .add_systems(
                FixedPostUpdate,
                (judge::judge::<M>, judge::mark::<M>)
                    .chain()
                    .in_set(WeaponSystems::Judge)
                    .after(RewindSystems::Follow),
            );
    }
}
