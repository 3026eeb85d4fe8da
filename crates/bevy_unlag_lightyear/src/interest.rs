//! Interest by line of sight: pawns that a client's player cannot see now or soon are concealed from it.
//!
//! * [`SightLattice`] remembers which points of the level see each other.
//! * The region module says where an eye or a body can be within the time until a client draws the pawn.
//! * The decision module compares both for every client and pawn, and writes [`HiddenPawns`].

mod config;
mod decision;
mod lattice;
mod pairs;
mod region;
mod rule;

use bevy::prelude::*;
use lightyear::prelude::LinkOf;

pub use config::InterestConfig;
pub use decision::InterestStats;
pub use lattice::SightLattice;
pub use rule::{AlwaysInSight, InterestRule, SeesEverything, SightPair, SightVerdict};

use crate::{hidden_pawns::HiddenPawns, system_sets::NetSystems};
use pairs::SightPairs;

/// System set of interest.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InterestSystems {
    /// In [`PostUpdate`] of a server, before [`NetSystems::AnnounceHidden`]: decides which pawns are concealed from
    /// which clients, and writes [`HiddenPawns`].
    Decide,
}

/// Conceals from each client the pawns that its player cannot see now or soon, so that a modified client cannot show
/// them through walls. Add it to a server, after its other plugins; clients need nothing.
///
/// Sight is judged against the fixed colliders of the level; movement bases and other moving obstacles hide nothing. A
/// pawn is shown for [`InterestConfig::hold_seconds`] after it was in sight, and while it is not known whether
/// it is. [`InterestRule`], [`AlwaysInSight`] and [`SeesEverything`] are the exemptions of a game: teammates, clients
/// without a living pawn and everything that has not been tested yet are exempt by default.
///
/// Costs about [`InterestConfig::rays_per_tick`] rays a tick at most, beside the look-ups.
///
/// ```
/// use bevy::{platform::collections::HashSet, prelude::*};
/// use bevy_unlag_lightyear::{AlwaysInSight, InterestConfig, InterestPlugin, InterestRule, SightVerdict};
///
/// /// On a server, after its other plugins: pawns that dash at 20 m/s.
/// fn conceal(app: &mut App) {
///     app.add_plugins(InterestPlugin { config: InterestConfig { max_speed: 20.0, ..default() } });
/// }
///
/// /// Everybody sees the pawn with the flag.
/// fn take_flag(In(pawn): In<Entity>, mut commands: Commands) {
///     commands.entity(pawn).insert(AlwaysInSight);
/// }
///
/// /// Nobody sees these pawns, even in plain view.
/// fn cloak(cloaked: HashSet<Entity>) -> InterestRule {
///     InterestRule::new(move |pair| match cloaked.contains(&pair.pawn) {
///         true => SightVerdict::Hide,
///         false => SightVerdict::ByLevel,
///     })
/// }
/// ```
#[doc(alias = "fog of war")]
#[doc(alias = "potentially visible set")]
#[doc(alias = "anti-wallhack")]
#[derive(Clone, Debug, Default)]
pub struct InterestPlugin {
    /// Initial settings.
    pub config: InterestConfig,
}

impl Plugin for InterestPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.config)
            .insert_resource(SightLattice::new(self.config.spacing, self.config.max_points))
            .init_resource::<InterestRule>()
            .init_resource::<InterestStats>()
            .init_resource::<decision::Settling>()
            .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
                commands.entity(added.entity).insert((HiddenPawns::default(), SightPairs::default()));
            })
            .configure_sets(PostUpdate, InterestSystems::Decide.before(NetSystems::AnnounceHidden))
            .add_systems(
                PostUpdate,
                (decision::follow_level, decision::decide).chain().in_set(InterestSystems::Decide),
            );
    }
}
