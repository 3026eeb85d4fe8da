//! List of the characters of an app, and the plugins that each of them needs.

use core::fmt;

use bevy::prelude::*;
use bevy_unlag_core::{SetupDiagnostics, SetupIssue};
use bevy_unlag_lightyear::NetModelPlugin;
use bevy_unlag_prediction::PredictionPlugin;
use bevy_unlag_rewind::RewindPlugin;
use bevy_unlag_smoothing::ProxySimulationPlugin;

use super::{Character, Side, class, passenger, pawn::complete, time_dilation};
use crate::{controls, npc, plugins::Soldier};

/// Characters of an app. Client and server need the same ones in the same order: keep the list in a function
/// that both call. Default: a [`Soldier`](crate::Soldier).
///
/// ```
/// use bevy_unlag::{Characters, Soldier, SoldierWith, movement::abilities::Dash};
///
/// fn characters() -> Characters {
///     Characters::none().with::<Soldier>().with::<SoldierWith<Dash>>()
/// }
/// ```
///
/// In the book: *Models of your own*, `book/src/reference/own_models.md`.
#[derive(Clone)]
pub struct Characters(Vec<(&'static str, fn(&mut App, Side))>);

impl Default for Characters {
    fn default() -> Self {
        Self::of::<Soldier>()
    }
}

impl fmt::Debug for Characters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Characters {
    /// Returns an empty list.
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns a list with one character.
    #[must_use]
    pub fn of<C: Character>() -> Self {
        Self::none().with::<C>()
    }

    /// Adds a character.
    #[must_use]
    pub fn with<C: Character>(mut self) -> Self {
        self.0.push((core::any::type_name::<C>(), add::<C>));
        self
    }

    pub(crate) fn add_plugins(&self, app: &mut App, side: Side) {
        for (_, add) in &self.0 {
            add(app, side);
        }
        if self.0.is_empty() {
            app.add_systems(PostStartup, report_no_characters);
        }
    }
}

fn add<C: Character>(app: &mut App, side: Side) {
    if app.is_plugin_added::<PredictionPlugin<C>>() {
        return;
    }
    app.add_plugins((NetModelPlugin::<C>::default(), PredictionPlugin::<C>::default()));
    match side {
        Side::Client => app.add_plugins(ProxySimulationPlugin::<C>::default()),
        Side::Server => app.add_plugins(RewindPlugin::<C>::default()),
    };
    if side == Side::Server {
        npc::add_character::<C>(app);
    }
    app.add_observer(complete::<C>);
    class::add_character::<C>(app);
    time_dilation::add_character::<C>(app);
    passenger::add_vehicle::<C>(app, side);
    controls::add_character::<C>(app);
    C::build(app, side);
}

/// Reports an app without a movement model: neither this list nor a plugin of the game has one.
fn report_no_characters(world: &mut World) {
    if !bevy_unlag_lightyear::has_models(world) {
        world.resource_mut::<SetupDiagnostics>().report(SetupIssue::NoCharacters, || {
            "the list of characters is empty, so no pawn moves, is sent or drawn: add the characters of the game \
             to it, the same on both sides, or leave it out for Soldier"
                .to_owned()
        });
    }
}
