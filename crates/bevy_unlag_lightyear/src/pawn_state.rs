//! Reliable state of pawns that changes rarely: what other clients know of a pawn besides its path.
//!
//! A change is sent once, when it happens, to the clients that may see the pawn; a state that does not change
//! costs nothing. A client to which the pawn becomes visible receives the current values with its spawn. On
//! clients a value takes effect at the moment at which the pawn is drawn.

mod client;
mod server;
mod state_change;

use bevy::{
    ecs::{component::Mutable, world::EntityWorldMut},
    prelude::*,
};
use bevy_unlag_core::{Interpolate, LocalControl, Tick, Wire};
use bevy_unlag_smoothing::{
    ComponentHistory, ComponentInbox, SmoothedComponentPlugin, SmoothingPlugin, SmoothingStats,
};
use lightyear::prelude::AppComponentExt;
use serde::{Deserialize, Serialize};

use crate::{names_hash::hash_of_names, pawn_event_types::PawnEventTypes};

pub use client::DroppedPawnChanges;
pub(crate) use client::plugin as client_plugin;
pub(crate) use server::{OutgoingChanges, plugin as server_plugin};
pub(crate) use state_change::Change;

/// Maximum number of types.
const MAX_TYPES: usize = 64;
/// Maximum size of an encoded value, in bytes.
const MAX_VALUE_BYTES: usize = 254;

/// Handling of the server's values for the client's own pawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnPawnState {
    /// The value is written on arrival.
    #[default]
    Follow,
    /// The value is ignored, because the client predicts it.
    Ignore,
}

/// A component whose values travel and are interpolated: any with these traits.
pub trait InterpolatedComponent: Interpolate + Wire + PartialEq + Component<Mutability = Mutable> {}

impl<C: Interpolate + Wire + PartialEq + Component<Mutability = Mutable>> InterpolatedComponent for C {}

/// Registration of pawn states.
#[doc(alias = "OnRep")]
#[doc(alias = "ReplicatedUsing")]
pub trait AddPawnState {
    /// Sends the component `C` of every replicated pawn to the clients that may see it: when it is inserted,
    /// changed or removed. Suited to values that change a few times a minute, such as a team, a weapon in hand or
    /// a class. For values that change several times a second use
    /// [`replicate_smoothed`](crate::ReplicateSmoothed::replicate_smoothed).
    ///
    /// On clients the value changes at the moment at which the pawn is drawn, interpolated with [`Interpolate`].
    /// Call it on both sides, after the suite's plugins and in the same order as other registrations. Costs six
    /// bytes and the value for each change and client.
    ///
    /// # Panics
    /// More than 64 types are registered.
    fn add_pawn_state<C: InterpolatedComponent>(&mut self, own: OwnPawnState) -> &mut Self;
}

impl AddPawnState for App {
    fn add_pawn_state<C: InterpolatedComponent>(&mut self, own: OwnPawnState) -> &mut Self {
        let mut types = self.world_mut().get_resource_or_init::<PawnStateTypes>();
        let name = core::any::type_name::<C>();
        if types.0.iter().any(|known| known.name == name) {
            return self;
        }
        assert!(types.0.len() < MAX_TYPES, "an app has at most {MAX_TYPES} types of pawn states");
        let index = types.0.len() as u8;
        let receive = match own {
            OwnPawnState::Follow => receive::<C, true>,
            OwnPawnState::Ignore => receive::<C, false>,
        };
        types.0.push(PawnStateType { name, receive });
        if self.is_plugin_added::<SmoothingPlugin>() {
            self.add_plugins(SmoothedComponentPlugin::<C>::default());
            self.add_observer(set_on_local_control::<C>);
        }
        if self.is_plugin_added::<crate::server::UnlagServerNetPlugin>() {
            server::add_type::<C>(self, index);
        }
        self
    }
}

/// Registered types, in the order of their numbers on the wire.
#[derive(Resource, Default)]
pub(crate) struct PawnStateTypes(Vec<PawnStateType>);

struct PawnStateType {
    name: &'static str,
    /// Takes a value that arrived: its tick, the tick and value before, and its bytes, or `None` if the component
    /// was removed. Returns whether the bytes are valid.
    receive: fn(&mut EntityWorldMut, Tick, Option<&[u8]>) -> bool,
}

impl PawnStateTypes {
    /// Returns a hash that is equal for apps with the same types in the same order.
    pub(crate) fn hash(&self, events: &PawnEventTypes) -> u64 {
        hash_of_names(self.0.iter().map(|known| known.name).chain([""]).chain(events.names()))
    }
}

/// Current values of a pawn's states, for clients to which it becomes visible. Sent with the spawn only.
#[derive(Component, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PawnStates(Vec<StoredState>);

/// A state with the tick at which it changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct StoredState {
    kind: u8,
    tick: u32,
    /// Encoded value; `None` if the component was removed.
    bytes: Option<Vec<u8>>,
}

/// Registers what both sides share.
pub(crate) fn protocol(app: &mut App) {
    app.init_resource::<PawnStateTypes>().init_resource::<PawnEventTypes>();
    app.component::<PawnStates>().replicate_once();
}

/// Ticks after which no screen shows a pawn as it was then.
const LONG_AGO: i32 = 2_000;

fn receive<C: InterpolatedComponent, const FOLLOW: bool>(
    pawn: &mut EntityWorldMut,
    tick: Tick,
    bytes: Option<&[u8]>,
) -> bool {
    let own = pawn.contains::<LocalControl>();
    if own && !FOLLOW {
        return true;
    }
    let Some(bytes) = bytes else {
        pawn.remove::<(C, ComponentInbox<C>, ComponentHistory<C>)>();
        return true;
    };
    let Ok(value) = C::from_bytes(bytes) else { return false };
    if own || !pawn.world().contains_resource::<SmoothingStats>() {
        match pawn.get_mut::<C>() {
            Some(mut known) => drop(known.set_if_neq(value)),
            None => drop(pawn.insert(value)),
        }
        return true;
    }
    let newest = pawn.get::<ComponentHistory<C>>().and_then(ComponentHistory::newest_update);
    if newest.is_some_and(|(at, _)| tick.since(at).abs() > LONG_AGO) {
        // After a long time without a change, the history would take this one for another server's.
        pawn.insert(ComponentHistory::<C>::default());
    }
    // The value before held until then.
    let before = newest.map(|(_, before)| (tick.offset(-1), before));
    let mut inbox = pawn.take::<ComponentInbox<C>>().unwrap_or_default();
    inbox.0.extend(before.into_iter().chain([(tick, value)]));
    pawn.insert(inbox);
    true
}

/// The own pawn has the newest value at once.
fn set_on_local_control<C: Interpolate + Component<Mutability = Mutable>>(
    own: On<Add, LocalControl>,
    values: Query<(Option<&ComponentInbox<C>>, Option<&ComponentHistory<C>>)>,
    mut commands: Commands,
) {
    let Ok((inbox, history)) = values.get(own.entity) else { return };
    let newest = inbox.and_then(|inbox| inbox.0.last()).map(|(_, value)| *value);
    let mut pawn = commands.entity(own.entity);
    if let Some(value) = newest.or_else(|| history.and_then(ComponentHistory::newest)) {
        pawn.insert(value);
    }
    pawn.remove::<(ComponentInbox<C>, ComponentHistory<C>)>();
}
