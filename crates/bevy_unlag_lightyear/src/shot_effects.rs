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
use bevy_unlag_rewind::RoundStart;
use bevy_unlag_weapons::{
    Flights, Mailed, OutgoingVerdicts, ProjectileEnd, ProjectileLaunch, ShotVerdict, Tracer,
};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, MessageClass},
    budget::Outlet,
    client::ReceiveSystems,
    protocol::{
        EffectChannel, EndMessage, LaunchMessage, Raw, TracerMessage, VerdictChannel, VerdictMessage, bytes,
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
    &'static mut MessageSender<LaunchMessage>,
    &'static mut MessageSender<EndMessage>,
    &'static mut Outlet,
    Option<&'static ClientVisibility>,
);

fn send(
    mut pawns: Query<(Entity, Option<&ControlledBy>, &mut OutgoingVerdicts)>,
    mut links: Query<Link, With<ClientOf>>,
    (filters, flights): (Res<ComponentFilters>, Option<Res<Flights>>),
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (pawn, owner, mut mailbox) in &mut pawns {
        let owner = owner.map(|owner| owner.owner);
        for mailed in mailbox.0.drain(..) {
            match mailed {
                Mailed::Verdict(verdict) => {
                    if let Some(Ok((_, _, mut link, ..))) = owner.map(|owner| links.get_mut(owner)) {
                        let bytes = bytes(&verdict);
                        bandwidth.count(MessageClass::Verdicts, bytes.len(), 1);
                        link.send::<VerdictChannel>(VerdictMessage(bytes));
                    }
                }
                Mailed::Tracer(tracer) => {
                    let bytes = bytes(&tracer);
                    for (entity, _, _, mut link, _, _, mut outlet, visible) in &mut links {
                        let seen = visible.is_none_or(|visible| filters.shows(visible, pawn));
                        // Snapshots take precedence over cosmetic effects.
                        if owner != Some(entity) && seen && outlet.spare(bytes.len()) {
                            bandwidth.count(MessageClass::Tracers, bytes.len(), 1);
                            link.send::<EffectChannel>(TracerMessage(bytes.clone()));
                        }
                    }
                }
                Mailed::Launched(launch) => {
                    let bytes = bytes(&launch);
                    for (_, connected, _, _, mut link, ..) in &mut links {
                        // Late joiners receive the projectiles still in flight below.
                        if !connected.is_added() {
                            bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                            link.send::<VerdictChannel>(LaunchMessage(bytes.clone()));
                        }
                    }
                }
                Mailed::Ended(end) => {
                    let bytes = bytes(&end);
                    for (_, _, _, _, _, mut link, ..) in &mut links {
                        bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                        link.send::<VerdictChannel>(EndMessage(bytes.clone()));
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
                link.send::<VerdictChannel>(LaunchMessage(bytes));
            }
        }
    }
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_message::<ShotVerdict>()
        .add_message::<Tracer>()
        .add_message::<ProjectileLaunch>()
        .add_message::<ProjectileEnd>()
        .init_resource::<RoundStart>()
        .add_systems(
            PreUpdate,
            (
                deliver::<VerdictMessage, ShotVerdict>(MessageClass::Verdicts, |_, _| true),
                deliver::<TracerMessage, Tracer>(MessageClass::Tracers, |_, _| true),
                deliver::<LaunchMessage, ProjectileLaunch>(MessageClass::Projectiles, is_of_this_match),
                deliver::<EndMessage, ProjectileEnd>(MessageClass::Projectiles, |_, _| true),
            )
                .chain()
                .in_set(ReceiveSystems::Shots),
        );
}

/// Returns a system that delivers the server's messages of one type. One system per type: a link has no
/// receiver of a type before its first message arrives.
fn deliver<R: Raw, T: Message + Wire>(
    class: MessageClass,
    counts: fn(&T, RoundStart) -> bool,
) -> impl FnMut(
    Query<&'static mut MessageReceiver<R>, With<Client>>,
    MessageWriter<T>,
    ResMut<Bandwidth>,
    Res<RoundStart>,
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
fn is_of_this_match(launch: &ProjectileLaunch, start: RoundStart) -> bool {
    !start.is_before(launch.time)
}
