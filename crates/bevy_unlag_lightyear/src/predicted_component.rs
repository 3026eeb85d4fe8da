//! Components that their owner predicts and the server validates.

use core::{marker::PhantomData, time::Duration};

use bevy::{ecs::system::EntityCommands, prelude::*};
use bevy_replicon::shared::replication::deferred_entity::DeferredEntity;
use bevy_unlag_core::{CurrentTick, LocalControl, NetRole, Tick, Wire};
use bevy_unlag_prediction::{MAX_MAILBOX_MESSAGES, PredictedValue};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::Bandwidth,
    message_class::MessageClass,
    pawn_state::InterpolatedComponent,
    protocol::{ClassifiedMessage, MoveChannel, OpaqueMessage, register},
    smoothed_component::{LocalValueHandler, TickedValue, replicate},
    system_sets::NetSystems,
    value_request::ValueRequest,
};

/// Time without an acknowledgement after which a client sends its change again.
const RESEND_INTERVAL: Duration = Duration::from_millis(100);

/// Registration of predicted components.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{CurrentTick, Interpolate, InterpolationSpan, LocalControl, Wire};
/// use bevy_unlag_lightyear::{ReplicatePredicted, ValueRequest};
/// use bevy_unlag_prediction::PredictedValue;
///
/// #[derive(Component, Wire, Clone, Copy, PartialEq, Debug, Default)]
/// struct Lamp(bool);
///
/// /// A lamp has nothing in between.
/// impl Interpolate for Lamp {
///     fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
///         *from
///     }
/// }
///
/// /// Client and server call it.
/// fn protocol(app: &mut App) {
///     app.replicate_predicted::<Lamp>();
/// }
///
/// /// On the client: the lamp is on in this frame.
/// fn switch(tick: Res<CurrentTick>, mut own: Query<&mut PredictedValue<Lamp>, With<LocalControl>>) {
///     for mut lamp in &mut own {
///         let is_on = lamp.get().0;
///         lamp.set_local(Lamp(!is_on), tick.0);
///     }
/// }
///
/// /// On the server, in `NetSystems::ValidateRequests`: no lamps tonight.
/// fn refuse(mut requests: Query<&mut ValueRequest<Lamp>>) {
///     requests.iter_mut().for_each(|mut request| request.refuse());
/// }
/// ```
#[doc(alias = "PredictionRegistrationExt")]
pub trait ReplicatePredicted {
    /// Replicates the component `T` of pawns and lets each pawn's owner change it, with prediction: a lamp,
    /// an emote, a choice in a menu. State that affects movement or shots belongs into a
    /// [`MoveExtension`](bevy_unlag_core::MoveExtension) instead.
    ///
    /// * The server inserts `T` on the pawn. On its owner's client a [`PredictedValue<T>`] appears next to
    ///   it: change that with [`set_local`](PredictedValue::set_local) and the app's [`CurrentTick`]. `T`
    ///   follows it in [`PostUpdate`].
    /// * The client sends the change until the server has acknowledged it. The server accepts it unless a
    ///   system of the game in [`NetSystems::ValidateRequests`] calls [`ValueRequest::refuse`]; then the owner's
    ///   value is corrected once. Of several changes only the last is used. Without such a system clients may
    ///   choose any value that can be decoded.
    /// * The server may change `T` at any time. On all other clients `T` is interpolated in step with the
    ///   pawn, as with [`ReplicateSmoothed`](crate::ReplicateSmoothed).
    /// * The host of a listen server changes its own pawn's [`PredictedValue<T>`] in the same way.
    ///
    /// Worst case with a hostile client: once per server frame it sets `T` of its own pawn, and of no other,
    /// to a value that [`Wire::read`] accepts and no system refuses. Each time, refused or not, every client
    /// that sees the pawn receives one more update, at the server's snapshot interval. The server
    /// stores one [`ValueRequest`] per pawn and reads at most 256 changes per link and frame;
    /// [`IngressLimits`](lightyear_guard::IngressLimits) bounds everything else that arrives. A client that
    /// sends wrong ticks only locks itself out.
    ///
    /// Call it on both sides, after the suite's plugins and in the same order as other registrations. A
    /// change costs the owner's uplink four bytes plus the value, and again every 100 ms until it is
    /// acknowledged, counted as [`MessageClass::Moves`].
    fn replicate_predicted<T: InterpolatedComponent>(&mut self) -> &mut Self;
}

impl ReplicatePredicted for App {
    fn replicate_predicted<T: InterpolatedComponent>(&mut self) -> &mut Self {
        replicate::<T, ConfirmPrediction>(self);
        register::<Change<T>>(self, NetworkDirection::ClientToServer);
        self.configure_sets(
            PreUpdate,
            (NetSystems::DeliverRequests, NetSystems::ValidateRequests, NetSystems::ApplyRequests)
                .chain()
                .after(MessageSystems::Receive),
        )
        .add_systems(
            PreUpdate,
            (
                (deliver::<T>, deliver_host::<T>).chain().in_set(NetSystems::DeliverRequests),
                apply::<T>.in_set(NetSystems::ApplyRequests),
            ),
        )
        .add_systems(PostUpdate, (show::<T>, send::<T>.before(MessageSystems::Send)))
        .add_observer(|steered: On<Insert, ControlledBy>, mut commands: Commands| {
            // Another client owns the pawn now and counts its own changes.
            if let Ok(mut pawn) = commands.get_entity(steered.entity) {
                pawn.try_remove::<ValueRequest<T>>();
            }
        })
    }
}

/// Returns the last change once its tick is over: a value may change several times within a tick, and the
/// tick identifies the change.
fn finished<T: Copy + Send + Sync + 'static>(value: &PredictedValue<T>, now: Tick) -> Option<(T, Tick)> {
    value.pending().filter(|(_, tick)| now.is_newer_than(*tick))
}

/// Message with the client tick of a change and the changed value.
struct Change<T> {
    bytes: Vec<u8>,
    of: PhantomData<fn() -> T>,
}

impl<T: 'static> OpaqueMessage for Change<T> {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, of: PhantomData }
    }
}

impl<T: 'static> ClassifiedMessage for Change<T> {
    type Channel = MoveChannel;
    const CLASS: MessageClass = MessageClass::Moves;
}

/// Sends the owner's last change until it is acknowledged.
fn send<T: InterpolatedComponent>(
    (time, now): (Res<Time<Real>>, Res<CurrentTick>),
    pawns: Query<&PredictedValue<T>, With<LocalControl>>,
    mut links: Query<&mut MessageSender<Change<T>>, (With<Client>, With<Connected>)>,
    mut last: Local<Option<(Tick, Duration)>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let Some((value, tick)) = pawns.iter().find_map(|value| finished(value, now.0)) else { return };
    let again = last.is_none_or(|(sent, at)| sent != tick || time.elapsed() >= at + RESEND_INTERVAL);
    if let (true, Ok(mut link)) = (again, links.single_mut()) {
        bandwidth.send(&mut link, (tick, value).to_bytes());
        *last = Some((tick, time.elapsed()));
    }
}

/// Delivers the newest change of each client to the pawn that it owns by [`ControlledBy`].
fn deliver<T: InterpolatedComponent>(
    mut links: Query<(Entity, &mut MessageReceiver<Change<T>>), With<ClientOf>>,
    mut pawns: Query<(Entity, &ControlledBy, Option<&mut ValueRequest<T>>), With<T>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    for (link, mut receiver) in &mut links {
        let mut newest: Option<(T, Tick)> = None;
        for change in bandwidth.receive(&mut receiver).take(MAX_MAILBOX_MESSAGES) {
            let Ok((tick, value)) = <(Tick, T)>::from_bytes(&change.bytes) else { continue };
            if newest.is_none_or(|(_, newest)| tick.is_newer_than(newest)) {
                newest = Some((value, tick));
            }
        }
        let Some((value, tick)) = newest else { continue };
        let pawn = pawns.iter_mut().find(|(_, owner, _)| owner.owner == link);
        let Some((pawn, _, request)) = pawn else { continue };
        if let Some(mut request) = request {
            request.record_request(value, tick);
        } else {
            let mut request = ValueRequest::default();
            request.record_request(value, tick);
            commands.entity(pawn).insert(request);
        }
    }
}

/// Query of the host's own pawn.
type HostPawn<T> = (
    Entity,
    &'static NetRole,
    &'static T,
    Option<&'static PredictedValue<T>>,
    Option<&'static mut ValueRequest<T>>,
);

/// Delivers the changes of a listen server host.
fn deliver_host<T: Component + Copy>(
    tick: Res<CurrentTick>,
    mut pawns: Query<HostPawn<T>, With<LocalControl>>,
    mut commands: Commands,
) {
    for (pawn, role, value, predicted, request) in &mut pawns {
        if *role != NetRole::Authority {
            continue;
        }
        if predicted.is_none() {
            commands.entity(pawn).insert(PredictedValue::new(*value));
        }
        // Also without a request: through it the host receives the server's changes.
        let Some(mut request) = request else {
            commands.entity(pawn).insert(ValueRequest::<T>::default());
            continue;
        };
        if let Some((value, tick)) = predicted.and_then(|predicted| finished(predicted, tick.0)) {
            request.record_request(value, tick);
        }
    }
}

fn apply<T: InterpolatedComponent>(
    tick: Res<CurrentTick>,
    mut pawns: Query<(&mut T, &mut ValueRequest<T>, Option<&mut PredictedValue<T>>)>,
) {
    for (mut value, mut request, predicted) in &mut pawns {
        if request.received_tick != request.acked_tick {
            request.acked_tick = request.received_tick;
            if let Some(wanted) = request.requested.take() {
                value.set_if_neq(wanted);
            }
        }
        if let Some(mut predicted) = predicted
            && (predicted.is_pending() || predicted.server() != *value)
        {
            predicted.confirm(*value, request.acked_tick, tick.0);
        }
    }
}

/// Writes the predicted value into the component, on the owner's client.
fn show<T: InterpolatedComponent>(
    mut pawns: Query<(&NetRole, &PredictedValue<T>, &mut T), With<LocalControl>>,
) {
    for (role, predicted, mut value) in &mut pawns {
        if *role == NetRole::AutonomousProxy {
            value.set_if_neq(predicted.get());
        }
    }
}

/// Treats the server's values as acknowledgements and corrections.
struct ConfirmPrediction;

impl<T: Component + Copy> LocalValueHandler<T> for ConfirmPrediction {
    fn begin(pawn: &mut EntityCommands, came: Option<T>, here: Option<T>) {
        if let Some(value) = came {
            pawn.insert(value);
        }
        if let Some(value) = came.or(here) {
            pawn.insert(PredictedValue::new(value));
        }
    }

    fn update(pawn: &mut DeferredEntity, update: &TickedValue<T>) {
        if let Some(mut predicted) = pawn.get_mut::<PredictedValue<T>>() {
            predicted.confirm(update.value, update.acked_tick, update.tick);
        } else {
            let mut predicted = PredictedValue::new(update.value);
            predicted.confirm(update.value, update.acked_tick, update.tick);
            pawn.insert(predicted);
        }
        if !pawn.contains::<T>() {
            pawn.insert(update.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_and_late_requests_are_ignored() {
        let mut request = ValueRequest::default();
        request.record_request(1, Tick(u32::MAX));
        request.record_request(2, Tick(u32::MAX - 3));
        request.record_request(3, Tick(u32::MAX));
        assert_eq!(request.requested(), Some(1));
        request.refuse();
        request.record_request(1, Tick(u32::MAX));
        assert_eq!(request.requested(), None, "it was refused");
        request.record_request(4, Tick(2));
        assert_eq!((request.requested(), request.received_tick), (Some(4), Some(Tick(2))));
    }

    #[test]
    fn change_is_sent_after_its_tick_is_over() {
        let mut value = PredictedValue::new(0);
        value.set_local(1, Tick(7));
        assert_eq!(finished(&value, Tick(7)), None);
        value.set_local(2, Tick(7));
        assert_eq!(finished(&value, Tick(8)), Some((2, Tick(7))));
    }

    #[test]
    fn truncated_or_invalid_change_is_an_error() {
        let read = |bytes: &[u8]| <(Tick, Vec3)>::from_bytes(bytes);
        let change = (Tick(9), Vec3::ONE).to_bytes();
        assert_eq!(read(&change), Ok((Tick(9), Vec3::ONE)));
        for end in 0..change.len() {
            assert!(read(&change[..end]).is_err(), "{end} bytes");
        }
        assert!(read(&[255; 16]).is_err(), "NaN is refused");
    }
}
