//! Interest by line of sight: pawns that a client's player cannot see now or soon are concealed from it.
//!
//! Three systems decide that in every tick, each for the clients whose turn has come:
//!
//! * places: where every pawn is, and where the eyes of the players can be when their screens show it;
//! * pairs: which pawns a game exempts for a client, and which need an answer of the level;
//! * questions: whether the walls block all lines between those eyes and that body (the shaft module), which
//!   [`HiddenPawns`] then says.

mod config;
mod pairs;
mod places;
mod questions;
mod reach;
mod rule;
mod shaft;
mod stats;
#[cfg(test)]
mod test_level;
mod walls;

use bevy::prelude::*;
use lightyear::prelude::LinkOf;

pub use config::InterestConfig;
pub use rule::{AlwaysInSight, InterestRule, SeesEverything, SightPair, SightVerdict};
pub use stats::InterestStats;

use crate::{hidden_pawns::HiddenPawns, system_sets::NetSystems};

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
/// it is. [`InterestRule`], [`AlwaysInSight`] and [`SeesEverything`] are the exemptions of a game: teammates and
/// clients without a living pawn are exempt by default.
///
/// Costs about [`InterestConfig::rays_per_tick`] rays a tick at most.
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
///
/// In the book: *Interest*, `book/src/reference/interest.md`.
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
            .init_resource::<InterestRule>()
            .init_resource::<InterestStats>()
            .init_resource::<places::Places>()
            .init_resource::<places::Settling>()
            .init_resource::<questions::Questions>()
            .init_resource::<walls::TestedLevel>()
            .init_resource::<walls::Walls>()
            .init_resource::<walls::Effort>()
            .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
                commands.entity(added.entity).insert((HiddenPawns::default(), pairs::SightPairs::default()));
            })
            .configure_sets(PostUpdate, InterestSystems::Decide.before(NetSystems::AnnounceHidden))
            .add_systems(
                PostUpdate,
                (places::follow_level, places::place_pawns, pairs::choose_pairs, questions::answer_questions)
                    .chain()
                    .in_set(InterestSystems::Decide),
            );
    }
}
