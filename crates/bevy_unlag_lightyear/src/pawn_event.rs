//! One-shot events of pawns, played once on every screen: jumped, landed, dashed, an ability used.
//!
//! The owner plays an event when it simulates the move, the server when it runs it, and every other client at the
//! moment at which it draws the pawn there.

use bevy::{
    ecs::{message::Message, world::EntityWorldMut},
    prelude::*,
    utils::prelude::ShortName,
};
use bevy_unlag_core::{
    CurrentTick, DrawnViewTime, MoveModel, MoveSystems, NetId, NetRole, PawnModel, PawnSystems,
    SetupDiagnostics, SetupIssue, StepEvent, Tick, ViewTime, Wire,
};
use bevy_unlag_smoothing::{ProxyTime, SmoothingSystems};

use crate::{
    models::NetModels,
    pawn_event_types::{PawnEventType, PawnEventTypes},
    pawn_state::{Change, OutgoingChanges},
};

/// Bit of a change's kind that makes it an event.
pub(crate) const EVENT: u8 = 0x80;
/// Maximum number of types.
const MAX_TYPES: usize = 64;
/// Maximum number of events of one type that wait to be drawn.
const MAX_WAITING: usize = 1_024;
/// Seconds after which an event that arrives late is dropped.
const MAX_LATE_SECONDS: f64 = 2.0;

/// An event of a pawn, written once on every machine, when that machine shows it.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message)]
pub struct PawnEvent<E: Send + Sync + 'static> {
    /// The pawn.
    pub pawn: Entity,
    /// Tick of the event: the owner's move on its own machine, the server's tick on others.
    pub tick: Tick,
    /// The event.
    pub event: E,
}

/// Registration of events that other clients see.
pub trait SharePawnEvents {
    /// Shows events of pawns of the model `M` to everybody: those of a step for which `select` returns one. They are
    /// written as [`PawnEvent<E>`]. Call it on both sides, after the suite's plugins and in the same order as
    /// other registrations. Costs five bytes and the event for each client that sees the pawn.
    ///
    /// A model that the app has not registered is a [`SetupIssue`] at startup: pawns with weapons are of the model
    /// `WithWeapons<M>`, for example.
    ///
    /// # Panics
    /// More than 64 types are registered.
    fn share_pawn_events<M, E>(&mut self, select: fn(&M::Event) -> Option<E>) -> &mut Self
    where
        M: MoveModel,
        E: Wire + Clone + Send + Sync + 'static;
}

impl SharePawnEvents for App {
    fn share_pawn_events<M, E>(&mut self, select: fn(&M::Event) -> Option<E>) -> &mut Self
    where
        M: MoveModel,
        E: Wire + Clone + Send + Sync + 'static,
    {
        let mut types = self.world_mut().get_resource_or_init::<PawnEventTypes>();
        let name = core::any::type_name::<E>();
        let known = types.0.iter().position(|known| known.name == name);
        let index = known.unwrap_or(types.0.len());
        assert!(index < MAX_TYPES, "an app has at most {MAX_TYPES} types of pawn events");
        if known.is_none() {
            types.0.push(PawnEventType { name, receive: receive::<E> });
            self.add_message::<PawnEvent<E>>().init_resource::<Undrawn<E>>().add_systems(
                PostUpdate,
                play::<E>
                    .run_if(|undrawn: Res<Undrawn<E>>| !undrawn.0.is_empty())
                    .after(SmoothingSystems::Draw),
            );
        }
        let kind = EVENT | index as u8;
        let share = move |mut steps: MessageReader<StepEvent<M>>,
                          pawns: Query<(&NetId, &NetRole), With<M::State>>,
                          tick: Res<CurrentTick>,
                          mut shown: MessageWriter<PawnEvent<E>>,
                          mut outgoing: Option<ResMut<OutgoingChanges>>| {
            for step in steps.read() {
                let Some(event) = select(&step.event) else { continue };
                let Ok((id, role)) = pawns.get(step.entity) else { continue };
                if let Some(outgoing) = outgoing.as_mut().filter(|_| *role == NetRole::Authority) {
                    let bytes = Some(event.to_bytes());
                    outgoing.push(step.entity, Change { pawn: *id, kind, tick: tick.0, bytes });
                }
                shown.write(PawnEvent { pawn: step.entity, tick: step.tick, event });
            }
        };
        self.add_systems(Startup, report_unknown_model::<M, E>)
            .add_systems(FixedUpdate, share.in_set(MoveSystems::React).in_set(PawnSystems::of::<M>()))
    }
}

/// Reports events of a model that the app has not registered: no pawn would ever have them.
fn report_unknown_model<M: MoveModel, E: 'static>(
    models: Option<Res<NetModels>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let model = PawnModel::of::<M>();
    if models.is_some_and(|models| !models.has(&model)) {
        diagnostics.report_each(SetupIssue::UnlistedCharacter, || {
            let (model, event) = (model.short_name(), ShortName::of::<E>());
            format!(
                "events {event} of the model {model} are shared, and no pawn of this app is of it: share them for a \
                 model of the list of Characters, WithWeapons<M> if its pawns have weapons"
            )
        });
    }
}

/// Events of remote pawns that are not drawn yet.
#[derive(Resource)]
struct Undrawn<E>(Vec<(Entity, Tick, E)>);

impl<E> Default for Undrawn<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Takes an event that arrived for a pawn. Returns whether it is valid.
pub(crate) fn receive_event(pawn: &mut EntityWorldMut, kind: u8, tick: Tick, bytes: Option<&[u8]>) -> bool {
    let index = usize::from(kind & !EVENT);
    let take = pawn.world().resource::<PawnEventTypes>().0.get(index).map(|known| known.receive);
    take.zip(bytes).is_some_and(|(take, bytes)| take(pawn, tick, bytes))
}

fn receive<E: Wire + Send + Sync + 'static>(pawn: &mut EntityWorldMut, tick: Tick, bytes: &[u8]) -> bool {
    let Ok(event) = E::from_bytes(bytes) else { return false };
    let entity = pawn.id();
    pawn.world_scope(|world| {
        let mut undrawn = world.resource_mut::<Undrawn<E>>();
        if undrawn.0.len() < MAX_WAITING {
            undrawn.0.push((entity, tick, event));
        }
    });
    true
}

/// Plays the events whose moment is drawn.
fn play<E: Clone + Send + Sync + 'static>(
    mut undrawn: ResMut<Undrawn<E>>,
    pawns: Query<Option<&ProxyTime>>,
    drawn: Res<DrawnViewTime>,
    fixed: Res<Time<Fixed>>,
    mut shown: MessageWriter<PawnEvent<E>>,
) {
    let tick_seconds = fixed.timestep().as_secs_f64();
    undrawn.0.retain(|(pawn, tick, event)| {
        let Ok(own) = pawns.get(*pawn) else { return false };
        let view: Option<ViewTime> = own.and_then(|own| own.drawn).or(drawn.0);
        let Some(view) = view else { return true };
        let late = f64::from(view.ticks_since(*tick)) * tick_seconds;
        if (0.0..MAX_LATE_SECONDS).contains(&late) {
            shown.write(PawnEvent { pawn: *pawn, tick: *tick, event: event.clone() });
        }
        late < 0.0
    });
}
