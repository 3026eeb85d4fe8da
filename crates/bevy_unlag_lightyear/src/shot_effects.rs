//! Results of shots, between mailboxes and messages: verdicts, tracers and projectiles.
//!
//! * Verdicts go to the shooter.
//! * Tracers go to the clients that may see the shooter's pawn: the tracer of a hidden pawn would reveal it.
//! * Projectile launches and ends go to all clients, whoever fired: a projectile is an entity of its own that
//!   players see and dodge. A launch contains its start point, and identifies the shooter by id only.
//! * Late joiners receive the launches of all projectiles in flight.

use bevy::{ecs::message::Message, prelude::*};
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_core::{BitReader, Wire};
use bevy_unlag_rewind::MatchStart;
use bevy_unlag_weapons::{
    OutgoingShotMessages, ProjectileEnd, ProjectileLaunch, ProjectilesInFlight, ShotMessage, ShotVerdict,
    Tracer,
};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, MessageClass},
    budget::SnapshotSendQueue,
    client::ReceiveSystems,
    possession::FormerPlayer,
    protocol::{
        EffectChannel, OpaqueMessage, ProjectileEndMessage, ProjectileLaunchMessage, ServerEventChannel,
        TracerMessage, VerdictMessage, bytes,
    },
    server::SendSystems,
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
);

fn send(
    mut pawns: Query<(Entity, Option<&ControlledBy>, Option<&FormerPlayer>, &mut OutgoingShotMessages)>,
    mut links: Query<Link, With<ClientOf>>,
    (filters, flights): (Res<ComponentFilters>, Option<Res<ProjectilesInFlight>>),
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (pawn, owner, former, mut mailbox) in &mut pawns {
        let owner = owner.map(|owner| owner.owner).or(former.map(|former| former.0));
        for mailed in mailbox.0.drain(..) {
            match mailed {
                ShotMessage::Verdict(verdict) => {
                    if let Some(Ok((_, _, mut link, ..))) = owner.map(|owner| links.get_mut(owner)) {
                        let bytes = bytes(&verdict);
                        bandwidth.count(MessageClass::Verdicts, bytes.len(), 1);
                        link.send::<ServerEventChannel>(VerdictMessage(bytes));
                    }
                }
                ShotMessage::Tracer(tracer) => {
                    let bytes = bytes(&tracer);
                    for (entity, _, _, mut link, _, _, mut outlet, visible) in &mut links {
                        let seen = visible.is_none_or(|visible| filters.shows(visible, pawn));
                        // Snapshots take precedence over cosmetic effects.
                        if owner != Some(entity) && seen && outlet.spend_if_idle(bytes.len()) {
                            bandwidth.count(MessageClass::Tracers, bytes.len(), 1);
                            link.send::<EffectChannel>(TracerMessage(bytes.clone()));
                        }
                    }
                }
                ShotMessage::Launched(launch) => {
                    let bytes = bytes(&launch);
                    for (_, connected, _, _, mut link, ..) in &mut links {
                        // Late joiners receive the projectiles still in flight below.
                        if !connected.is_added() {
                            bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                            link.send::<ServerEventChannel>(ProjectileLaunchMessage(bytes.clone()));
                        }
                    }
                }
                ShotMessage::Ended(end) => {
                    let bytes = bytes(&end);
                    for (_, _, _, _, _, mut link, ..) in &mut links {
                        bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                        link.send::<ServerEventChannel>(ProjectileEndMessage(bytes.clone()));
                    }
                }
            }
        }
    }
    let Some(flights) = flights else { return };
    for (_, connected, _, _, mut link, ..) in &mut links {
        if connected.is_added() {
            for launch in flights.launches() {
                let bytes = bytes(&launch);
                bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                link.send::<ServerEventChannel>(ProjectileLaunchMessage(bytes));
            }
        }
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
                deliver::<VerdictMessage, ShotVerdict>(MessageClass::Verdicts, |_, _| true),
                deliver::<TracerMessage, Tracer>(MessageClass::Tracers, |_, _| true),
                deliver::<ProjectileLaunchMessage, ProjectileLaunch>(
                    MessageClass::Projectiles,
                    is_of_current_match,
                ),
                deliver::<ProjectileEndMessage, ProjectileEnd>(MessageClass::Projectiles, |_, _| true),
            )
                .chain()
                .in_set(ReceiveSystems::Shots),
        );
}

/// Returns a system that delivers the server's messages of one type. One system per type: a link has no
/// receiver of a type before its first message arrives.
fn deliver<R: OpaqueMessage, T: Message + Wire>(
    class: MessageClass,
    counts: fn(&T, MatchStart) -> bool,
) -> impl FnMut(
    Query<&'static mut MessageReceiver<R>, With<Client>>,
    MessageWriter<T>,
    ResMut<Bandwidth>,
    Res<MatchStart>,
) {
    move |mut links, mut heard, mut bandwidth, start| {
        for mut link in &mut links {
            let received = link.receive().inspect(|m| bandwidth.count(class, m.bytes().len(), 1));
            let read = received.filter_map(|m| T::read(&mut BitReader::new(m.bytes())).ok());
            heard.write_batch(read.filter(|one| counts(one, *start)));
        }
    }
}

/// Rejects launches of the previous match: they may arrive after the restart, and their end is never sent.
fn is_of_current_match(launch: &ProjectileLaunch, start: MatchStart) -> bool {
    !start.is_before(launch.time)
}
