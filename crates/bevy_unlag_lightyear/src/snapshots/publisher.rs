//! Publishing snapshots on the server: which pawns, to which clients, when.

use bevy::prelude::*;
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_core::{
    BitWriter, CurrentTick, NetId, PathKnotConfig, PoseSample, PoseSampler, ProxySmoothing, ProxyUpdate,
    SimulationRate, Tick,
};
use bevy_unlag_smoothing::{PublishedPath, SentSnapshots};
use lightyear::prelude::{server::ClientOf, *};

use super::{
    priority::{Candidate, SnapshotQueue, SnapshotWeight, weight},
    snapshot_message,
};
use crate::{
    bandwidth::Bandwidth, budget::SnapshotSendQueue, hidden_pawns::HiddenPawns, message_class::MessageClass,
    parking::Published, protocol::SnapshotMessage, spectators::Spectator, system_sets::SendSystems,
    visibility::ComponentFilters,
};

/// On a server's pawn: its player is about to leave it. The player's client gets its snapshots already, to show
/// it without a gap.
#[derive(Component)]
pub(crate) struct Departing;

/// Ticks between two snapshots of this pawn, on the server. Default, without the component: the plugin's
/// [`SimulationRate::snapshot_ticks`]. 0 counts as 1. Raising it saves
/// downlink bandwidth and delays the pawn by as much on other clients. Pawns with the same interval are sent
/// in the same ticks.
///
/// In the book: *Networking*, `book/src/reference/networking.md`.
#[doc(alias = "NetUpdateFrequency")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct UpdateInterval(pub u32);

/// Most updates of a client in a tick of which some are sent twice. In a crowd, repeats would cost a quarter of its
/// downlink.
const MAX_REPEATING: usize = 32;

/// A snapshot to send now.
struct DueSnapshot {
    id: NetId,
    entity: Entity,
    owner: Option<Entity>,
    update: ProxyUpdate,
    bits: BitWriter,
    /// Whether it is sent again in the next tick.
    repeats: bool,
    /// The same with the update before, for clients from which the pawn was hidden.
    revealing: Option<(ProxyUpdate, BitWriter)>,
    previous: Option<ProxyUpdate>,
}

impl DueSnapshot {
    /// Encodes the update for clients from which the pawn was hidden, unless that was done or there is none before.
    fn reveal(&mut self, tick: Tick, spare: &mut Vec<BitWriter>) {
        let Some(previous) = self.previous.take().filter(|_| self.update.resent().is_empty()) else { return };
        let update = self.update.resending(&previous);
        let mut bits = spare.pop().unwrap_or_default();
        bits.clear();
        update.write(tick, &mut bits);
        self.revealing = Some((update, bits));
    }

    /// Returns the update and its encoding for a client.
    fn sent(&self, is_revealed: bool) -> (&ProxyUpdate, &BitWriter) {
        let revealing = self.revealing.as_ref().filter(|_| is_revealed);
        revealing.map_or((&self.update, &self.bits), |(update, bits)| (update, bits))
    }
}

/// Buffers that are reused in every frame.
#[derive(Default)]
pub(crate) struct PublishScratch {
    /// Tick of the previous call.
    last_tick: Option<Tick>,
    due: Vec<DueSnapshot>,
    /// Snapshots of an earlier tick that are sent again now.
    repeated: Vec<DueSnapshot>,
    repeated_tick: Tick,
    spare: Vec<BitWriter>,
    candidates: Vec<Candidate>,
    /// Ids of all pawns, sorted.
    living: Vec<NetId>,
}

/// Whether an interval of `interval` ticks ends after `last` and at or before `now`.
fn is_due(last: Option<Tick>, now: Tick, interval: u32) -> bool {
    last.is_none_or(|last| now.0 / interval.max(1) != last.0 / interval.max(1))
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<PathKnotConfig>()
        .init_resource::<PoseSampler>()
        .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
            commands.entity(added.entity).insert(SnapshotQueue::default());
        })
        .add_systems(PostUpdate, publish.in_set(SendSystems::Snapshots));
}

fn publish(
    tick: Res<CurrentTick>,
    (rate, knots, sampler): (Res<SimulationRate>, Res<PathKnotConfig>, Res<PoseSampler>),
    (filters, weights): (Res<ComponentFilters>, Query<&SnapshotWeight>),
    mut pawns: Query<
        (
            Entity,
            &NetId,
            &mut PublishedPath,
            (Option<&ControlledBy>, Has<Departing>),
            Option<&UpdateInterval>,
            Option<&ProxySmoothing>,
        ),
        // Pawns that are not replicated have no snapshots either.
        Published,
    >,
    mut links: Query<
        (
            Entity,
            &mut MessageSender<SnapshotMessage>,
            &mut SnapshotQueue,
            &mut SnapshotSendQueue,
            &ClientVisibility,
            Option<&mut HiddenPawns>,
        ),
        (With<ClientOf>, With<Connected>, Without<Spectator>),
    >,
    mut logs: Query<(&ControlledBy, &mut SentSnapshots)>,
    mut bandwidth: ResMut<Bandwidth>,
    #[cfg(feature = "record")] mut recording: Option<ResMut<crate::record::MatchRecording>>,
    mut scratch: Local<PublishScratch>,
) {
    let PublishScratch { last_tick, due, repeated, repeated_tick, spare, candidates, living } = &mut *scratch;
    for due in due.drain(..) {
        spare.extend([due.bits].into_iter().chain(due.revealing.map(|(_, bits)| bits)));
    }
    for (entity, id, mut path, (owner, departing), own, mode) in &mut pawns {
        let interval = own.map_or(rate.snapshot_ticks, |own| own.0);
        if !is_due(*last_tick, tick.0, interval) && !path.is_overdue() {
            continue;
        }
        let previous = path.last_update().copied();
        let Some(update) = path.next_update(&knots, &sampler, mode) else { continue };
        let mut bits = spare.pop().unwrap_or_default();
        bits.clear();
        update.write(tick.0, &mut bits);
        let owner = owner.filter(|_| !departing).map(|owner| owner.owner);
        let repeats = path.is_unexpected();
        due.push(DueSnapshot { id: *id, entity, owner, update, bits, repeats, revealing: None, previous });
    }
    let is_new_tick = last_tick.replace(tick.0) != Some(tick.0);
    due.sort_unstable_by_key(|due| due.id);
    // A newer snapshot replaces the repetition.
    repeated
        .retain(|one| due.binary_search_by_key(&one.id, |due| due.id).is_err() && pawns.contains(one.entity));
    living.clear();
    living.extend(pawns.iter().map(|(_, id, ..)| *id));
    living.sort_unstable();

    for (link, mut sender, mut queue, mut send_queue, visible, mut hidden) in &mut links {
        if is_new_tick {
            let again = repeated.iter().filter(|one| queue.repeats.binary_search(&one.id).is_ok());
            // The client takes the message for the lost one.
            snapshot_message::write(*repeated_tick, again.map(|one| (one.id, &one.bits)), |bytes| {
                if send_queue.spend_if_idle(bytes.len()) {
                    bandwidth.send(&mut sender, bytes);
                }
            });
            queue.repeats.clear();
        }
        if due.is_empty() {
            // Nothing is deferred where nothing is left.
            send_queue.is_deferring &= !living.is_empty();
            continue;
        }
        candidates.clear();
        let mut hidden = hidden.as_mut().map(Mut::bypass_change_detection);
        let is_revealed = |pawn| hidden.as_ref().is_some_and(|hidden| hidden.is_revealed(pawn));
        due.iter_mut().filter(|due| is_revealed(due.entity)).for_each(|due| due.reveal(tick.0, spare));
        let seen = due.iter().enumerate().filter(|(_, due)| {
            // The owner predicts its pawn and receives acknowledgements instead.
            due.owner != Some(link)
                && filters.shows(visible, due.entity)
                && HiddenPawns::allow(hidden.as_deref(), due.entity)
        });
        candidates.extend(seen.map(|(i, due)| {
            let (_, bits) = due.sent(is_revealed(due.entity));
            Candidate::new(due.entity, i, bits.len_bits())
        }));
        let shown = candidates.len();
        queue.keep(|entity| pawns.contains(entity));
        let eye = || own_pose(link, pawns.iter().map(|(.., path, (owner, _), _, _)| (path, owner)));
        let mut eye_once = None;
        queue.choose(&mut send_queue, candidates, |one| {
            let game = weights.get(one.entity).copied().unwrap_or_default();
            let Some(own) = *eye_once.get_or_insert_with(eye) else { return game.scale(1.0) };
            let other = pawns.get(one.entity).ok().and_then(|(_, _, path, ..)| path.present());
            let look = own.rotation * Quat::from_rotation_x(own.pitch) * Vec3::NEG_Z;
            game.scale(other.map_or(1.0, |other| weight(other.position - own.position, look)))
        });
        let chosen = candidates.iter().map(|one| {
            let due = &due[one.index];
            (due.id, due.sent(is_revealed(due.entity)).1)
        });
        snapshot_message::write(tick.0, chosen, |bytes| {
            send_queue.spend(bytes.len());
            bandwidth.send(&mut sender, bytes);
        });

        #[cfg(feature = "record")]
        if let Some(recording) = &mut recording {
            let over_budget = candidates.len() < shown;
            recording.note_sent(link, (due.len(), over_budget), candidates.iter().map(|one| one.index));
        }
        for due in candidates.iter().map(|one| &due[one.index]) {
            let (update, _) = due.sent(is_revealed(due.entity));
            queue.sent.mark_update(due.id, update.iter().map(|snapshot| snapshot.tick), tick.0);
        }
        if shown <= MAX_REPEATING {
            let sent = candidates.iter().map(|one| &due[one.index]);
            queue.repeats.extend(sent.filter(|due| due.repeats).map(|due| due.id));
        }
        let others = due.iter().filter(|due| due.owner != Some(link)).count();
        if candidates.len() < shown {
            queue.sent.mark_over_budget(tick.0);
            bandwidth.defer(MessageClass::Snapshots, shown - candidates.len());
        }
        if shown < others {
            queue.sent.mark_hidden(tick.0);
        }
        if let Some(hidden) = &mut hidden {
            candidates.iter().for_each(|one| hidden.mark_sent(one.entity));
        }
        if shown == 0 && hidden.is_some_and(|hidden| hidden.iter().next().is_some()) {
            // Its screen goes on, and shots are validated by the newest message that it has received.
            let bytes = snapshot_message::without_updates(tick.0);
            send_queue.spend(bytes.len());
            bandwidth.send(&mut sender, bytes);
        }
        if queue.sent.len() > living.len() {
            queue.sent.keep(tick.0, |id| living.binary_search(&id).is_ok());
        }
    }
    #[cfg(feature = "record")]
    if let Some(recording) = recording.as_mut().filter(|_| !due.is_empty()) {
        recording.publish(due.iter().map(|due| (due.id, &due.update)));
    }
    if is_new_tick {
        spare.extend(repeated.drain(..).map(|one| one.bits));
        repeated.extend(due.extract_if(.., |one| one.repeats));
        *repeated_tick = tick.0;
    }
    // The link keeps the log, too: a pawn that spawns later belongs to a client with the same view.
    for (owner, mut log) in &mut logs {
        if let Ok((_, _, queue, ..)) = links.get(owner.owner) {
            log.clone_from(&queue.sent);
        }
    }
}

/// Returns the pose of a client's own pawn, if it has one.
fn own_pose<'a>(
    link: Entity,
    mut pawns: impl Iterator<Item = (&'a PublishedPath, Option<&'a ControlledBy>)>,
) -> Option<PoseSample> {
    let (own, _) = pawns.find(|(_, owner)| owner.is_some_and(|owner| owner.owner == link))?;
    own.present().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_intervals_are_due_in_the_same_ticks_at_any_frame_rate() {
        for step in [1, 2, 3, 7] {
            let mut last = None;
            let mut times = 0;
            for tick in (0..600).step_by(step) {
                times += u32::from(is_due(last, Tick(tick), 6));
                last = Some(Tick(tick));
            }
            let expected = (600 / step as u32).min(100);
            assert!(times.abs_diff(expected) <= 1, "{times} times with {step} ticks a frame");
        }
        assert!(!is_due(Some(Tick(7)), Tick(7), 1), "no tick has passed");
        assert!(is_due(Some(Tick(u32::MAX)), Tick(0), 3), "the tick wraps");
        assert!(is_due(Some(Tick(3)), Tick(4), 0), "0 counts as 1");
    }
}
