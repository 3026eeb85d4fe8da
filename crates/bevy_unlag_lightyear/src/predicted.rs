//! A game's own components that their owner changes and the server confirms.

use core::{marker::PhantomData, time::Duration};

use bevy::{
    ecs::{component::Mutable, system::EntityCommands},
    prelude::*,
};
use bevy_replicon::shared::replication::deferred_entity::DeferredEntity;
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, Interpolate, LocalControl, NetRole, Tick, Wire, WireError,
};
use bevy_unlag_prediction::MAX_MAILED;
use bevy_unlag_weapons::PredictedValue;
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    Bandwidth, MessageClass,
    protocol::{MoveChannel, Raw, register},
    smoothed::{OwnPawn, Stamped, replicate},
};

/// How long a client waits for an answer before it asks once more.
const PATIENCE: Duration = Duration::from_millis(100);

/// Components that their owner changes at once.
pub trait ReplicatePredicted {
    /// Replicates the component `T` of pawns, and lets each pawn's owner change it: a lamp, an emote, a choice in a
    /// menu. What moves depend on, or shots, belongs into a
    /// [`MoveExtension`](bevy_unlag_core::MoveExtension) instead.
    ///
    /// * The server inserts `T` on the pawn. On its owner's client a [`PredictedValue<T>`] appears beside it: change
    ///   that with [`set_local`](PredictedValue::set_local) and the app's
    ///   [`CurrentTick`]. `T` itself follows it in [`PostUpdate`].
    /// * The change travels until the server has answered. There it is taken, unless one of the game's systems in
    ///   [`PredictedSystems::Judge`] says [`AskedValue::refuse`]: then the owner's value changes back, once. Of
    ///   several changes only the last counts. Without such a system clients choose freely among all values that can
    ///   be read.
    /// * The server may change `T` at any time. On all other screens `T` follows in step with how the pawn is drawn, as
    ///   with [`ReplicateSmoothed`](crate::ReplicateSmoothed).
    /// * The host of a listen server changes its own pawn's [`PredictedValue<T>`] in the same way.
    ///
    /// A hostile client can at most do this: once in a frame of the server it sets its own pawn's `T`, and no other
    /// pawn's, to a value that [`Wire::read`] lets through and nobody refuses. Each time, refused or not, whoever sees
    /// the pawn gets one update more, at the server plugin's `snapshot_interval`. The server keeps one [`AskedValue`]
    /// for each pawn and reads no more than 256 changes of a link in a frame; what else arrives is limited by
    /// [`IngressLimits`](crate::IngressLimits). Who names wrong ticks only locks itself out.
    ///
    /// Call it on both sides, after the suite's plugins and in the same order as other registrations. A change costs
    /// its owner four bytes and the value, and as much every 100 ms until the answer is there: counted as
    /// [`MessageClass::Moves`].
    fn replicate_predicted<T>(&mut self) -> &mut Self
    where
        T: Interpolate + Wire + PartialEq + Component<Mutability = Mutable>;
}

impl ReplicatePredicted for App {
    fn replicate_predicted<T>(&mut self) -> &mut Self
    where
        T: Interpolate + Wire + PartialEq + Component<Mutability = Mutable>,
    {
        replicate::<T, Confirms>(self);
        register::<Change<T>>(self, NetworkDirection::ClientToServer);
        self.configure_sets(
            PreUpdate,
            (PredictedSystems::Deliver, PredictedSystems::Judge, PredictedSystems::Settle)
                .chain()
                .after(MessageSystems::Receive),
        )
        .add_systems(
            PreUpdate,
            (
                (deliver::<T>, deliver_host::<T>).chain().in_set(PredictedSystems::Deliver),
                settle::<T>.in_set(PredictedSystems::Settle),
            ),
        )
        .add_systems(PostUpdate, (show::<T>, send::<T>.before(MessageSystems::Send)))
        .add_observer(|steered: On<Insert, ControlledBy>, mut commands: Commands| {
            // Another link, another client, which counts its own changes.
            if let Ok(mut pawn) = commands.get_entity(steered.entity) {
                pawn.try_remove::<AskedValue<T>>();
            }
        })
    }
}

/// When the server takes what owners have changed; in [`PreUpdate`], in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PredictedSystems {
    /// [`AskedValue`]s are filled.
    Deliver,
    /// For a game's systems that refuse some of them.
    Judge,
    /// What is left is taken.
    Settle,
}

/// On the server: what the owner of a pawn wants its `T` to be.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskedValue<T: Send + Sync + 'static> {
    asked: Option<T>,
    /// The newest of the client's ticks in which it changed something.
    heard: Option<Tick>,
    answered: Option<Tick>,
}

impl<T: Send + Sync + 'static> Default for AskedValue<T> {
    fn default() -> Self {
        Self { asked: None, heard: None, answered: None }
    }
}

impl<T: Copy + Send + Sync + 'static> AskedValue<T> {
    /// What it is to be; `None` when nothing is asked for. Any value that can be read may come.
    #[must_use]
    pub fn asked(&self) -> Option<T> {
        self.asked
    }

    /// It stays what it is, and the owner learns that.
    pub fn refuse(&mut self) {
        self.asked = None;
    }

    /// The last of the client's ticks that was answered.
    pub(crate) fn answered(&self) -> Option<Tick> {
        self.answered
    }

    /// What is no newer than what was heard before is a copy, or late.
    fn ask(&mut self, value: T, tick: Tick) {
        if self.heard.is_none_or(|heard| tick.is_newer_than(heard)) {
            (self.asked, self.heard) = (Some(value), Some(tick));
        }
    }
}

/// The last change, when its tick is over: what it is changed to in one and the same tick has one name.
fn finished<T: Copy + Send + Sync + 'static>(value: &PredictedValue<T>, now: Tick) -> Option<(T, Tick)> {
    value.pending().filter(|(_, tick)| now.is_newer_than(*tick))
}

/// The client's tick in which a value was changed, and the value.
struct Change<T> {
    bytes: Vec<u8>,
    of: PhantomData<fn() -> T>,
}

impl<T: 'static> Raw for Change<T> {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, of: PhantomData }
    }
}

impl<T: Wire + 'static> Change<T> {
    fn new(value: &T, tick: Tick) -> Self {
        let mut w = BitWriter::default();
        tick.write(&mut w);
        value.write(&mut w);
        Self::from_bytes(w.finish())
    }

    fn read(&self) -> Result<(T, Tick), WireError> {
        let mut r = BitReader::new(&self.bytes);
        let tick = Tick::read(&mut r)?;
        Ok((T::read(&mut r)?, tick))
    }
}

/// The owner's client sends the last change until it is answered.
fn send<T: Wire + Copy + Send + Sync + 'static>(
    (time, now): (Res<Time<Real>>, Res<CurrentTick>),
    pawns: Query<&PredictedValue<T>, With<LocalControl>>,
    mut links: Query<&mut MessageSender<Change<T>>, (With<Client>, With<Connected>)>,
    mut last: Local<Option<(Tick, Duration)>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let Some((value, tick)) = pawns.iter().find_map(|value| finished(value, now.0)) else { return };
    let again = last.is_none_or(|(sent, at)| sent != tick || time.elapsed() >= at + PATIENCE);
    if let (true, Ok(mut link)) = (again, links.single_mut()) {
        let change = Change::new(&value, tick);
        bandwidth.count(MessageClass::Moves, change.bytes.len(), 1);
        link.send::<MoveChannel>(change);
        *last = Some((tick, time.elapsed()));
    }
}

/// A client changes what [`ControlledBy`] gives it, and the newest change counts.
fn deliver<T: Component + Wire + Copy>(
    mut links: Query<(Entity, &mut MessageReceiver<Change<T>>), With<ClientOf>>,
    mut pawns: Query<(Entity, &ControlledBy, Option<&mut AskedValue<T>>), With<T>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    for (link, mut receiver) in &mut links {
        let mut newest: Option<(T, Tick)> = None;
        for change in receiver.receive().take(MAX_MAILED) {
            bandwidth.count(MessageClass::Moves, change.bytes.len(), 1);
            let Ok((value, tick)) = change.read() else { continue };
            if newest.is_none_or(|(_, newest)| tick.is_newer_than(newest)) {
                newest = Some((value, tick));
            }
        }
        let Some((value, tick)) = newest else { continue };
        let pawn = pawns.iter_mut().find(|(_, owner, _)| owner.owner == link);
        let Some((pawn, _, asked)) = pawn else { continue };
        if let Some(mut asked) = asked {
            asked.ask(value, tick);
        } else {
            let mut asked = AskedValue::default();
            asked.ask(value, tick);
            commands.entity(pawn).insert(asked);
        }
    }
}

/// A host's own pawn, and what there is of it.
type HostPawn<T> = (
    Entity,
    &'static NetRole,
    &'static T,
    Option<&'static PredictedValue<T>>,
    Option<&'static mut AskedValue<T>>,
);

/// The host asks itself.
fn deliver_host<T: Component + Copy>(
    tick: Res<CurrentTick>,
    mut pawns: Query<HostPawn<T>, With<LocalControl>>,
    mut commands: Commands,
) {
    for (pawn, role, value, predicted, asked) in &mut pawns {
        if *role != NetRole::Authority {
            continue;
        }
        if predicted.is_none() {
            commands.entity(pawn).insert(PredictedValue::new(*value));
        }
        // Also where nothing was asked for yet: by this the host hears of what the server changes.
        let Some(mut asked) = asked else {
            commands.entity(pawn).insert(AskedValue::<T>::default());
            continue;
        };
        if let Some((value, tick)) = predicted.and_then(|predicted| finished(predicted, tick.0)) {
            asked.ask(value, tick);
        }
    }
}

fn settle<T: Component<Mutability = Mutable> + Copy + PartialEq>(
    tick: Res<CurrentTick>,
    mut pawns: Query<(&mut T, &mut AskedValue<T>, Option<&mut PredictedValue<T>>)>,
) {
    for (mut value, mut asked, predicted) in &mut pawns {
        if asked.heard != asked.answered {
            asked.answered = asked.heard;
            if let Some(wanted) = asked.asked.take() {
                value.set_if_neq(wanted);
            }
        }
        if let Some(mut predicted) = predicted
            && (predicted.is_pending() || predicted.server() != *value)
        {
            predicted.confirm(*value, asked.answered, tick.0);
        }
    }
}

/// On the owner's client the component is what its player made it.
fn show<T: Component<Mutability = Mutable> + Copy + PartialEq>(
    mut pawns: Query<(&NetRole, &PredictedValue<T>, &mut T), With<LocalControl>>,
) {
    for (role, predicted, mut value) in &mut pawns {
        if *role == NetRole::AutonomousProxy {
            value.set_if_neq(predicted.get());
        }
    }
}

/// The server's values are answers.
struct Confirms;

impl<T: Component + Copy> OwnPawn<T> for Confirms {
    fn begin(pawn: &mut EntityCommands, came: Option<T>, here: Option<T>) {
        if let Some(value) = came {
            pawn.insert(value);
        }
        if let Some(value) = came.or(here) {
            pawn.insert(PredictedValue::new(value));
        }
    }

    fn update(pawn: &mut DeferredEntity, update: &Stamped<T>) {
        if let Some(mut predicted) = pawn.get_mut::<PredictedValue<T>>() {
            predicted.confirm(update.value, update.answered, update.tick);
        } else {
            let mut predicted = PredictedValue::new(update.value);
            predicted.confirm(update.value, update.answered, update.tick);
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
    fn copies_and_late_ones_change_nothing() {
        let mut asked = AskedValue::default();
        asked.ask(1, Tick(u32::MAX));
        asked.ask(2, Tick(u32::MAX - 3));
        asked.ask(3, Tick(u32::MAX));
        assert_eq!(asked.asked(), Some(1));
        asked.refuse();
        asked.ask(1, Tick(u32::MAX));
        assert_eq!(asked.asked(), None, "it was refused");
        asked.ask(4, Tick(2));
        assert_eq!((asked.asked(), asked.heard), (Some(4), Some(Tick(2))));
    }

    #[test]
    fn a_change_leaves_when_its_tick_is_over() {
        let mut value = PredictedValue::new(0);
        value.set_local(1, Tick(7));
        assert_eq!(finished(&value, Tick(7)), None);
        value.set_local(2, Tick(7));
        assert_eq!(finished(&value, Tick(8)), Some((2, Tick(7))));
    }

    #[test]
    fn any_bytes_are_a_change_or_none() {
        let change = Change::new(&Vec3::ONE, Tick(9));
        assert_eq!(change.read(), Ok((Vec3::ONE, Tick(9))));
        for end in 0..change.bytes.len() {
            let cut = Change::<Vec3>::from_bytes(change.bytes[..end].to_vec());
            assert!(cut.read().is_err(), "{end} bytes");
        }
        let nonsense = Change::<Vec3>::from_bytes(vec![255; 16]);
        assert!(nonsense.read().is_err(), "what is no number is no change");
    }
}
