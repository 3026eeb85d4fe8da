//! Sends the results of shots: verdicts, tracers and projectiles.
//!
//! * Verdicts go to the shooter.
//! * Tracers go to the clients that may see the shooter's pawn: the tracer of a hidden pawn would reveal it.
//! * Projectile launches and ends go to all clients, whoever fired: a projectile is an entity of its own that
//!   players see and dodge. A launch contains its start point, and identifies the shooter by id only.
//! * Late joiners receive the launches of all projectiles in flight.

use bevy::prelude::*;
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_weapons::{Flights, Mailed, OutgoingVerdicts};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    Bandwidth, ComponentFilters, MessageClass,
    protocol::{
        EffectChannel, EndMessage, LaunchMessage, TracerMessage, VerdictChannel, VerdictMessage, bytes,
    },
    snapshots::Outlet,
};

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

pub(crate) fn send(
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
