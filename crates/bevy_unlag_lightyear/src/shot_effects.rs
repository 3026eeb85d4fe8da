//! Results of shots, between mailboxes and messages: verdicts, tracers and projectiles.
//!
//! * Verdicts go to the shooter.
//! * Tracers go to the clients that may see the shooter's pawn: the tracer of a hidden pawn would reveal it.
//! * Projectile launches and ends go to all clients, whoever fired: a projectile is an entity of its own that
//!   players see and dodge. A launch contains its start point, and identifies the shooter by id only.
//! * Late joiners receive the launches of all projectiles in flight.

mod tracer_message;

use bevy::{ecs::message::Message, prelude::*};
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_core::{BitWriter, Wire};
use bevy_unlag_rewind::MatchStart;
use bevy_unlag_weapons::{
    OutgoingShotMessages, ProjectileEnd, ProjectileLaunch, ProjectilesInFlight, ShotMessage, ShotVerdict,
    Tracer,
};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    budget::SnapshotSendQueue,
    hidden_pawns::HiddenPawns,
    message_class::MessageClass,
    possession::FormerPlayer,
    protocol::{
        ClassifiedMessage, ProjectileEndMessage, ProjectileLaunchMessage, TracerMessage, VerdictMessage,
    },
    spectators::Spectator,
    system_sets::{ReceiveSystems, SendSystems},
    visibility::ComponentFilters,
};

pub(crate) fn server_plugin(app: &mut App) {
    app.add_systems(PostUpdate, send.in_set(SendSystems::Shots));
}

type Link = (
    Entity,
    Ref<'static, Connected>,
    &'static mut MessageSender<VerdictMessage>,
    &'static mut MessageSender<TracerMessage>,
    &'static mut MessageSender<ProjectileLaunchMessage>,
    &'static mut MessageSender<ProjectileEndMessage>,
    &'static mut SnapshotSendQueue,
    Option<&'static ClientVisibility>,
    Option<&'static HiddenPawns>,
);

/// Tracer of a frame, with the pawn and the client that fired.
struct SentTracer {
    pawn: Entity,
    owner: Option<Entity>,
    bits: BitWriter,
}

fn send(
    mut pawns: Query<(Entity, Option<&ControlledBy>, Option<&FormerPlayer>, &mut OutgoingShotMessages)>,
    mut links: Query<Link, (With<ClientOf>, Without<Spectator>)>,
    (filters, flights): (Res<ComponentFilters>, Option<Res<ProjectilesInFlight>>),
    mut bandwidth: ResMut<Bandwidth>,
    #[cfg(feature = "record")] mut recording: Option<ResMut<crate::record::MatchRecording>>,
    mut tracers: Local<Vec<SentTracer>>,
) {
    tracers.clear();
    for (pawn, owner, former, mut mailbox) in &mut pawns {
        let owner = owner.map(|owner| owner.owner).or(former.map(|former| former.0));
        for mailed in mailbox.0.drain(..) {
            match mailed {
                ShotMessage::Verdict(verdict) => {
                    if let Some(Ok((_, _, mut link, .., mut queue, _, _))) =
                        owner.map(|owner| links.get_mut(owner))
                    {
                        let bytes = verdict.to_bytes();
                        queue.spend(bytes.len());
                        bandwidth.send(&mut link, bytes);
                    }
                }
                ShotMessage::Tracer(tracer) => {
                    let mut bits = BitWriter::default();
                    tracer.write(&mut bits);
                    tracers.push(SentTracer { pawn, owner, bits });
                }
                ShotMessage::Launched(launch) => {
                    let bytes = launch.to_bytes();
                    #[cfg(feature = "record")]
                    if let Some(recording) = &mut recording {
                        recording.note_bytes(bevy_unlag_record::Extra::PROJECTILE_LAUNCH, &bytes);
                    }
                    for (_, connected, _, _, mut link, _, mut queue, ..) in &mut links {
                        // Late joiners receive the projectiles still in flight below.
                        if !connected.is_added() {
                            queue.spend(bytes.len());
                            bandwidth.send(&mut link, bytes.clone());
                        }
                    }
                }
                ShotMessage::Ended(end) => {
                    let bytes = end.to_bytes();
                    #[cfg(feature = "record")]
                    if let Some(recording) = &mut recording {
                        recording.note_bytes(bevy_unlag_record::Extra::PROJECTILE_END, &bytes);
                    }
                    for (_, _, _, _, _, mut link, mut queue, ..) in &mut links {
                        queue.spend(bytes.len());
                        bandwidth.send(&mut link, bytes.clone());
                    }
                }
            }
        }
    }
    if !tracers.is_empty() {
        send_tracers(&tracers, &mut links, &filters, &mut bandwidth);
    }
    let Some(flights) = flights else { return };
    for (_, connected, _, _, mut link, ..) in &mut links {
        if connected.is_added() {
            flights.launches().for_each(|launch| bandwidth.send(&mut link, launch.to_bytes()));
        }
    }
}

/// Sends the tracers of a frame: one message to each client, because in a crowd everybody gets several in every tick.
fn send_tracers(
    tracers: &[SentTracer],
    links: &mut Query<Link, (With<ClientOf>, Without<Spectator>)>,
    filters: &ComponentFilters,
    bandwidth: &mut Bandwidth,
) {
    for (entity, _, _, mut link, _, _, mut queue, visible, hidden) in links {
        let mut deferred = 0;
        let sent = tracers.iter().filter(|tracer| {
            let seen = tracer.owner != Some(entity)
                && visible.is_none_or(|visible| filters.shows(visible, tracer.pawn))
                && HiddenPawns::allow(hidden, tracer.pawn);
            // Snapshots take precedence over cosmetic effects.
            let fits = seen && queue.spend_if_idle(tracer.bits.len_bits().div_ceil(8));
            deferred += usize::from(seen && !fits);
            fits
        });
        tracer_message::write(sent.map(|tracer| &tracer.bits), |bytes| bandwidth.send(&mut link, bytes));
        if deferred > 0 {
            bandwidth.defer(MessageClass::Tracers, deferred);
        }
    }
}

fn deliver_tracers(mut messages: ServerMessages<TracerMessage>, mut writer: MessageWriter<Tracer>) {
    for message in messages.take() {
        writer.write_batch(tracer_message::read(&message.0));
    }
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_message::<ShotVerdict>()
        .add_message::<Tracer>()
        .add_message::<ProjectileLaunch>()
        .add_message::<ProjectileEnd>()
        .init_resource::<MatchStart>()
        .add_systems(
            PreUpdate,
            (
                deliver::<VerdictMessage, ShotVerdict>(|_, _| true),
                deliver_tracers,
                deliver::<ProjectileLaunchMessage, ProjectileLaunch>(is_of_current_match),
                deliver::<ProjectileEndMessage, ProjectileEnd>(|_, _| true),
            )
                .chain()
                .in_set(ReceiveSystems::Shots),
        );
}

/// Returns a system that delivers the server's messages of one type. One system per type: a link has no
/// receiver of a type before its first message arrives.
fn deliver<R: ClassifiedMessage, T: Message + Wire>(
    counts: fn(&T, MatchStart) -> bool,
) -> impl FnMut(ServerMessages<R>, MessageWriter<T>, Res<MatchStart>) {
    move |mut messages, mut writer, start| {
        let read = messages.take().filter_map(|message| T::from_bytes(message.bytes()).ok());
        writer.write_batch(read.filter(|one| counts(one, *start)));
    }
}

/// Rejects launches of the previous match: they may arrive after the restart, and their end is never sent.
fn is_of_current_match(launch: &ProjectileLaunch, start: MatchStart) -> bool {
    !start.is_before(launch.time)
}
