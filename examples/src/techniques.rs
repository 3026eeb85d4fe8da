//! Techniques of the suite that a match switches off while it runs, to show what each is for.
//!
//! * [`Technique`]: what can be switched; [`Techniques`]: the state of the switches.
//! * [`plugin`]: applies them to a client, and to a server that is reachable from it.
//! * [`measures`]: the number beside each switch.
//!
//! Every switch is a setting or a debug switch of the library.

pub mod measures;
mod settings;

use bevy::prelude::*;
use bevy_unlag::core::Interpolation;
use lightyear::prelude::Client;

pub use settings::{apply_to_client, apply_to_server};

use crate::server_debug::ServerDebugHandle;

/// A technique that can be switched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Technique {
    /// Client-side prediction of the own pawn.
    Prediction,
    /// Replay of the moves after a corrected one.
    Replay,
    /// Easing of corrections and of jumps of remote pawns.
    Easing,
    /// Repetition of moves in later packets.
    Redundancy,
    /// Interpolation of remote pawns between updates.
    Interpolation,
    /// Playout delay (interpolation delay).
    Playout,
    /// Rewind to the shooter's view time (lag compensation).
    Rewind,
    /// Protection of players who have reached cover.
    Cover,
    /// Catch-up of projectiles along what the shooter saw.
    CatchUp,
    /// Concealment of pawns that a player cannot see.
    Interest,
}

impl Technique {
    /// All techniques, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Prediction,
        Self::Replay,
        Self::Easing,
        Self::Redundancy,
        Self::Interpolation,
        Self::Playout,
        Self::Rewind,
        Self::Cover,
        Self::CatchUp,
        Self::Interest,
    ];

    /// Returns the name on panels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prediction => "Prediction",
            Self::Replay => "Replay",
            Self::Easing => "Easing",
            Self::Redundancy => "Repeated moves",
            Self::Interpolation => "Interpolation",
            Self::Playout => "Playout delay",
            Self::Rewind => "Rewind",
            Self::Cover => "Cover protection",
            Self::CatchUp => "Projectile catch-up",
            Self::Interest => "Interest",
        }
    }

    /// Returns the name on command lines.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Prediction => "prediction",
            Self::Replay => "replay",
            Self::Easing => "easing",
            Self::Redundancy => "redundancy",
            Self::Interpolation => "interpolation",
            Self::Playout => "playout",
            Self::Rewind => "rewind",
            Self::Cover => "cover",
            Self::CatchUp => "catch-up",
            Self::Interest => "interest",
        }
    }

    /// Returns whether the server has to know the switch.
    #[must_use]
    pub fn is_of_server(self) -> bool {
        matches!(self, Self::Interpolation | Self::Rewind | Self::Cover | Self::CatchUp | Self::Interest)
    }
}

/// Parses the state of a technique, such as `rewind` or `interpolation=linear`: the state that the first press of its
/// switch leads to, or the named one.
///
/// # Errors
/// Returns the valid names.
pub fn parse_switch(text: &str) -> Result<(Technique, usize), String> {
    let (name, state) = text.split_once('=').map_or((text, None), |(name, state)| (name, Some(state)));
    let names = || Technique::ALL.map(Technique::id).join(", ");
    let technique = Technique::ALL.into_iter().find(|technique| technique.id() == name);
    let technique = technique.ok_or_else(|| format!("expected one of: {}", names()))?;
    let states = Techniques::states(technique);
    let state = match state {
        None => (Techniques::default().state(technique) + 1) % states.len(),
        Some(wanted) => states
            .iter()
            .position(|state| state.eq_ignore_ascii_case(wanted))
            .ok_or_else(|| format!("the states of {name} are: {}", states.join(", ")))?,
    };
    Ok((technique, state))
}

/// State of the switches. Default: as in a game with default settings, so cover protection and interest are off.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Techniques {
    /// Index of the state of each technique in [`states`](Self::states).
    states: [usize; Technique::ALL.len()],
}

impl Default for Techniques {
    fn default() -> Self {
        let mut all = Self { states: [0; Technique::ALL.len()] };
        all.set(Technique::Cover, 1);
        all.set(Technique::Interest, 1);
        all
    }
}

impl Techniques {
    /// Returns the names of the states of a technique. The first one is the technique itself, and the others are what
    /// it is compared with.
    #[must_use]
    pub fn states(technique: Technique) -> &'static [&'static str] {
        match technique {
            Technique::Interpolation => &["Hermite", "linear", "raw"],
            _ => &["on", "off"],
        }
    }

    /// Returns the index of the state of a technique.
    #[must_use]
    pub fn state(&self, technique: Technique) -> usize {
        self.states[technique as usize]
    }

    /// Sets the state of a technique by its index, which wraps around.
    pub fn set(&mut self, technique: Technique, state: usize) {
        self.states[technique as usize] = state % Self::states(technique).len();
    }

    /// Changes a technique to its next state.
    pub fn step(&mut self, technique: Technique) {
        self.set(technique, self.state(technique) + 1);
    }

    /// Returns the name of the state of a technique.
    #[must_use]
    pub fn state_name(&self, technique: Technique) -> &'static str {
        Self::states(technique)[self.state(technique)]
    }

    /// Returns whether a technique is in use, and not what it is compared with.
    #[must_use]
    pub fn is_on(&self, technique: Technique) -> bool {
        self.state(technique) == 0
    }

    /// Returns the interpolation of remote pawns.
    #[must_use]
    pub fn interpolation(&self) -> Interpolation {
        [Interpolation::Hermite, Interpolation::Linear, Interpolation::Step]
            [self.state(Technique::Interpolation)]
    }
}

/// Applies the [`Techniques`] of this app's world whenever they change.
pub fn plugin(app: &mut App) {
    app.init_resource::<Techniques>()
        .add_systems(Update, apply.run_if(resource_exists_and_changed::<Techniques>));
}

/// Server that the switches of an app reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReachableServer {
    /// This app is the server.
    Own,
    /// It runs in another thread of this process.
    InProcess,
    /// It is another process: its switches cannot be changed.
    No,
}

impl ReachableServer {
    /// Returns whether a switch has an effect.
    #[must_use]
    pub fn obeys(self, technique: Technique) -> bool {
        match self {
            Self::InProcess => true,
            // A host draws its pawns without a link.
            Self::Own => technique.is_of_server(),
            Self::No => !technique.is_of_server(),
        }
    }
}

/// Returns the server that the switches of this app reach.
#[must_use]
pub fn reachable_server(
    links: Query<(), With<Client>>,
    server: Option<Res<ServerDebugHandle>>,
) -> ReachableServer {
    match (server, links.is_empty()) {
        (Some(_), _) => ReachableServer::InProcess,
        (None, true) => ReachableServer::Own,
        (None, false) => ReachableServer::No,
    }
}

fn apply(world: &mut World) {
    let Some(techniques) = world.get_resource::<Techniques>().copied() else { return };
    let server = world.run_system_cached(reachable_server).unwrap_or(ReachableServer::No);
    match server {
        ReachableServer::Own => apply_to_server(world, &techniques),
        ReachableServer::InProcess => {
            apply_to_client(world, &techniques);
            if let Some(handle) = world.get_resource::<ServerDebugHandle>() {
                handle.set_techniques(techniques);
            }
        }
        ReachableServer::No => {
            let mut reached = techniques;
            Technique::ALL.into_iter().filter(|technique| !server.obeys(*technique)).for_each(|technique| {
                reached.set(technique, Techniques::default().state(technique));
            });
            apply_to_client(world, &reached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_parsed_by_name_and_state() {
        for technique in Technique::ALL {
            let next = (Techniques::default().state(technique) + 1) % Techniques::states(technique).len();
            assert_eq!(parse_switch(technique.id()), Ok((technique, next)));
        }
        assert_eq!(parse_switch("interpolation=raw"), Ok((Technique::Interpolation, 2)));
        assert_eq!(parse_switch("cover=on"), Ok((Technique::Cover, 0)));
        assert!(parse_switch("rewind=half").is_err_and(|error| error.contains("on, off")));
        assert!(parse_switch("magic").is_err_and(|error| error.contains("prediction, replay")));
    }

    #[test]
    fn switch_steps_through_all_states_and_back() {
        for technique in Technique::ALL {
            let mut techniques = Techniques::default();
            for _ in Techniques::states(technique) {
                techniques.step(technique);
            }
            assert_eq!(techniques, Techniques::default());
        }
        assert_eq!(Technique::ALL.map(|technique| technique as usize), core::array::from_fn(|index| index));
    }
}
